package conform

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A token is a word of a line: VALUE, KEY=VALUE, "quoted" or KEY="quoted".
type token struct {
	key, value string
	quoted     bool
}

var keyPrefix = regexp.MustCompile(`^[a-z]+=`)

// tokenize splits a line at blanks outside of quotes. Quotes are those of Go.
func tokenize(line string) ([]token, error) {
	var tokens []token
	for rest := strings.TrimLeft(line, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		var t token
		if key := keyPrefix.FindString(rest); key != "" {
			t.key, rest = strings.TrimSuffix(key, "="), rest[len(key):]
		}
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("%s: unfinished or wrong quotes", rest)
			}
			if t.value, err = strconv.Unquote(quoted); err != nil {
				return nil, fmt.Errorf("%s: %w", quoted, err)
			}
			t.quoted, rest = true, rest[len(quoted):]
		} else {
			t.value, rest, _ = strings.Cut(rest, " ")
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// quote returns the notation of a value, the inverse of tokenize.
func quote(value string) string {
	if value == "" || value == "null" || value == "none" || keyPrefix.MatchString(value) {
		return strconv.Quote(value)
	}
	for _, r := range value {
		if r <= ' ' || r > '~' || r == '"' || r == '\\' || r == ';' || r == '{' || r == '}' {
			return strconv.Quote(value)
		}
	}
	return value
}

// arguments holds the tokens of one request that are not yet taken. err is the first error.
type arguments struct {
	verb  string
	given []token
	err   error
}

func (a *arguments) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("%s: %s", a.verb, fmt.Sprintf(format, args...))
	}
}

// first removes the first element of a list for which ok is true, and returns it.
func first[T any](list *[]T, ok func(T) bool) (taken T, found bool) {
	i := slices.IndexFunc(*list, ok)
	if i < 0 {
		return taken, false
	}
	taken = (*list)[i]
	*list = slices.Concat((*list)[:i], (*list)[i+1:])
	return taken, true
}

// next takes the first argument without a key. name is for the error if there is none.
func (a *arguments) next(name string) token {
	t, ok := first(&a.given, func(t token) bool { return t.key == "" })
	if !ok {
		a.fail("no %s", name)
	}
	return t
}

// take takes the argument with a key.
func (a *arguments) take(key string) (token, bool) {
	return first(&a.given, func(t token) bool { return t.key == key })
}

// word takes an argument that is just this word. It returns false without one.
func (a *arguments) word(word string) bool {
	_, ok := first(&a.given, func(t token) bool { return t == token{value: word} })
	return ok
}

func (a *arguments) text(key, otherwise string) string {
	if t, ok := a.take(key); ok {
		return t.value
	}
	return otherwise
}

func (a *arguments) int64(key string, otherwise int64) int64 {
	t, ok := a.take(key)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(t.value, 0, 64)
	if err != nil {
		a.fail("%s=%s: want a number", key, t.value)
	}
	return n
}

func (a *arguments) int32(key string, otherwise int32) int32 {
	n := a.int64(key, int64(otherwise))
	if int64(int32(n)) != n {
		a.fail("%s=%d: want a number of 32 bits", key, n)
	}
	return int32(n)
}

// done returns the first error, or one for an argument that is left.
func (a *arguments) done() error {
	if a.err == nil && len(a.given) > 0 {
		t := a.given[0]
		if t.key != "" {
			t.key += "="
		}
		a.fail("unexpected %s%s", t.key, quote(t.value))
	}
	return a.err
}
