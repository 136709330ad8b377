package foreign

import (
	"fmt"
	"strings"

	"github.com/zksim/zksim/linearizability/value"
)

// datum is a value of EDN or JSON.
type datum struct {
	// word is its text if it is no collection: a number, a string in quotes, :keyword, nil.
	word   string
	number int64 // if it is a whole number
	str    string
	isStr  bool
	list   []datum // of a vector, list or set; not nil if it is one
	fields []field // of a map; not nil if it is one
	line   int64
}

// field is an entry of a map. Its key has no colon and no quotes.
type field struct {
	key   string
	value datum
}

const nilWord = "nil"

func (v datum) isNil() bool { return v.word == nilWord || v.word == "" && !v.isCollection() }

func (v datum) isCollection() bool { return v.list != nil || v.fields != nil }

// get returns the value of a key, and the zero value without one.
func (v datum) get(key string) datum {
	for _, f := range v.fields {
		if f.key == key {
			return f.value
		}
	}
	return datum{}
}

// name is the value without the colon or quotes of a name.
func (v datum) name() string {
	if v.isStr {
		return v.str
	}
	return strings.TrimPrefix(v.word, ":")
}

// text is the value in one form: two values have the same text only if they are equal.
func (v datum) text() string {
	switch {
	case v.fields != nil:
		var parts []string
		for _, f := range v.fields {
			parts = append(parts, f.key+" "+f.value.text())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case v.list != nil:
		var parts []string
		for _, e := range v.list {
			parts = append(parts, e.text())
		}
		return "[" + strings.Join(parts, " ") + "]"
	case v.isNil():
		return ""
	}
	return v.word
}

// some is the text of a value that is not nil.
func (v datum) some(what string) (string, error) {
	if v.isNil() {
		return "", fmt.Errorf("value of %s: nil; expected a value", what)
	}
	return v.text(), nil
}

// noPair returns an error if the value of a call of read is a pair: then the history is about many
// registers, each with a key.
func (v datum) noPair() error {
	if len(v.list) == 2 {
		return fmt.Errorf("value of read: %s, a pair of a key and a value; "+
			"choose one key, by --key: each key is a register", v.text())
	}
	return nil
}

// oldNew is the input of a CAS of a register.
func (v datum) oldNew() (string, error) {
	if len(v.list) != 2 || v.list[1].isNil() {
		return "", fmt.Errorf("value of cas: %s; expected a list of an old and a new value",
			v.text())
	}
	if v.list[0].isNil() {
		return value.OldNew(nil, v.list[1].text()), nil
	}
	old := v.list[0].text()
	return value.OldNew(&old, v.list[1].text()), nil
}

// of returns the part of the value that is about a key, and whether it is about that key: the
// datum is a pair of key and value.
func (v datum) of(key string) (datum, bool) {
	if len(v.list) == 2 && v.list[0].text() == key {
		return v.list[1], true
	}
	return datum{}, false
}
