package cli

import "fmt"

// A fileValue is a value of a YAML or JSON file with its place. Both formats are read into it, so
// that one code reads the tree.
type fileValue struct {
	kind  valueKind
	text  string      // of text, a number or a boolean
	list  []fileValue // of a list
	pairs []filePair  // of a mapping, in the order of the file
	at    filePlace
}

// A valueKind is the kind of a value, with its name in errors.
type valueKind string

const (
	nothingValue valueKind = "nothing"
	textValue    valueKind = "text"
	numberValue  valueKind = "a number"
	boolValue    valueKind = "true or false"
	listValue    valueKind = "a list"
	mappingValue valueKind = "keys and values"
	otherValue   valueKind = "something else"
)

// A filePair is a key of a mapping with its value.
type filePair struct {
	key   string
	at    filePlace
	value fileValue
}

// A filePlace is a place in a file; both numbers are from 1.
type filePlace struct{ line, column int }

// A fileError is an error at a place of a file.
type fileError struct {
	at      filePlace
	message string
}

func (e *fileError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.at.line, e.at.column, e.message)
}

// wrong is an error at a place.
func (p filePlace) wrong(format string, args ...any) error {
	return &fileError{p, fmt.Sprintf(format, args...)}
}

// is returns an error unless the value is of a kind. The error names the value by the argument
// what.
func (v fileValue) is(kind valueKind, what string) error {
	if v.kind == kind {
		return nil
	}
	hint := ""
	if kind == textValue && (v.kind == numberValue || v.kind == boolValue) {
		hint = " in quotes"
	}
	return v.at.wrong("%s: found %s; expected %s%s", what, v.kind, kind, hint)
}

// checkKeys refuses a key that is given twice.
func (v fileValue) checkKeys() error {
	first := make(map[string]int, len(v.pairs))
	for _, p := range v.pairs {
		if line, twice := first[p.key]; twice {
			return p.at.wrong("key %q is given twice, first in line %d", p.key, line)
		}
		first[p.key] = p.at.line
	}
	return nil
}
