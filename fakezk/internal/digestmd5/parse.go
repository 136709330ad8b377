package digestmd5

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// directives are the values of a token by name. Only known names are in it.
type directives map[string]string

// known are the names of the directives that Java's server reads. The nonce count, which RFC 2831
// calls nc, is not one of them, since the server looks for it under the name nonce-count.
var known = []string{
	"username", "realm", "nonce", "cnonce", "nonce-count", "qop", "digest-uri", "response",
	"maxbuf", "charset", "cipher", "authzid", "auth-param",
}

const space = " \t\r\n"

// parse reads a token such as
//
//	username="ann",realm="r",nonce="abc",qop=auth
//
// White space and empty elements between directives are allowed. A known directive must not occur
// twice; unknown ones are ignored.
func parse(token string) (directives, error) {
	values := directives{}
	rest := token
	for {
		rest = strings.TrimLeft(rest, space+",")
		if rest == "" {
			return values, nil
		}
		var name, value string
		var err error
		if name, value, rest, err = nextDirective(rest); err != nil {
			return nil, err
		}
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		if i < 0 {
			continue
		}
		if _, twice := values[known[i]]; twice {
			return nil, fmt.Errorf("two directives %s", known[i])
		}
		values[known[i]] = value
	}
}

// nextDirective cuts off the directive at the beginning of text. A last name without "=" has an
// empty value.
func nextDirective(text string) (name, value, rest string, err error) {
	end := strings.IndexAny(text, "=,"+space)
	if end < 0 {
		return text, "", "", nil
	}
	name, rest = text[:end], strings.TrimLeft(text[end:], space)
	rest, ok := strings.CutPrefix(rest, "=")
	if !ok || name == "" {
		return "", "", "", fmt.Errorf("%q; expected name=value", text)
	}
	rest = strings.TrimLeft(rest, space)
	if rest == "" {
		return "", "", "", fmt.Errorf("directive %s has no value", name)
	}
	if rest[0] == '"' {
		value, rest, err = quoted(rest[1:])
		return name, value, rest, err
	}
	end = strings.IndexAny(rest, ","+space)
	if end < 0 {
		end = len(rest)
	}
	return name, rest[:end], rest[end:], nil
}

// quoted reads a quoted string behind its first quote.
func quoted(text string) (value, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '"':
			rest = text[i+1:]
			if rest != "" && !strings.ContainsRune(","+space, rune(rest[0])) {
				return "", "", fmt.Errorf("%q behind a quoted value; expected a comma", rest)
			}
			return b.String(), rest, nil
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("a quoted value without an end")
}
