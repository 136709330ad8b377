package yamldoc

import "fmt"

// A Value is a value of a document with its place.
type Value struct {
	Kind  Kind
	Text  string  // of text, a number or a boolean
	List  []Value // of a list
	Pairs []Pair  // of a mapping, in the order of the document
	At    Place
}

// A Kind is the kind of a value, by its name in errors.
type Kind string

// The kinds of values.
const (
	Nothing  Kind = "nothing"
	Text     Kind = "text"
	Number   Kind = "a number"
	Fraction Kind = "a fraction"
	Bool     Kind = "true or false"
	List     Kind = "a list"
	Mapping  Kind = "keys and values"
)

// A Pair is a key of a mapping with its value.
type Pair struct {
	Key   string
	At    Place
	Value Value
}

// A Place is a place in a document; both numbers are from 1.
type Place struct{ Line, Column int }

// An Error is an error at a place of a document.
type Error struct {
	At      Place
	Message string
}

// Error is the place and the message, as 3:5: message.
func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.At.Line, e.At.Column, e.Message)
}

// Wrong is an *Error at a place.
func (p Place) Wrong(format string, args ...any) error {
	return &Error{p, fmt.Sprintf(format, args...)}
}

// Is returns an error unless the value is of a kind. The error names the value by the argument
// what.
func (v Value) Is(kind Kind, what string) error {
	if v.Kind == kind {
		return nil
	}
	hint := ""
	if kind == Text && (v.Kind == Number || v.Kind == Fraction || v.Kind == Bool) {
		hint = " in quotes"
	}
	return v.At.Wrong("%s: found %s; expected %s%s", what, v.Kind, kind, hint)
}

// Unique returns an error if a key of a mapping is given twice. The error names the second place.
func (v Value) Unique() error {
	first := make(map[string]int, len(v.Pairs))
	for _, p := range v.Pairs {
		if line, twice := first[p.Key]; twice {
			return p.At.Wrong("key %q is given twice, first in line %d", p.Key, line)
		}
		first[p.Key] = p.At.Line
	}
	return nil
}
