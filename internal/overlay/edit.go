package overlay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// apply returns the text of a Go file after the edit.
func (e edit) apply(text []byte) ([]byte, error) {
	begin, end, err := e.place(text)
	if err != nil {
		return nil, err
	}
	var edited []byte
	switch e.find {
	case "{":
		edited = insert(text, begin, e.with)
	case "}":
		edited = insert(text, end, e.with)
	default:
		want := cmp.Or(e.times, 1)
		if n := bytes.Count(text[begin:end], []byte(e.find)); n != want {
			return nil, fmt.Errorf("%s has %q %d times, not %d", cmp.Or(e.in, "the file"),
				strings.TrimSpace(e.find), n, want)
		}
		middle := bytes.ReplaceAll(text[begin:end], []byte(e.find), []byte(e.with))
		edited = bytes.Join([][]byte{text[:begin], middle, text[end:]}, nil)
	}
	// The file may be newer than the parser.
	if err := parses(edited); err != nil && parses(text) == nil {
		return nil, fmt.Errorf("after the edit of %s: %w", cmp.Or(e.in, "the file"), err)
	}
	return edited, nil
}

func insert(text []byte, at int, what string) []byte {
	return bytes.Join([][]byte{text[:at], []byte(what), text[at:]}, nil)
}

func parses(text []byte) error {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	return err
}

// place returns the beginning and the end of what stands between the braces of the edit's function
// or type, or of the whole file. The file is formatted by gofmt.
func (e edit) place(text []byte) (begin, end int, err error) {
	if e.in == "" {
		return 0, len(text), nil
	}
	found := heading(e.in).FindAllIndex(text, -1)
	if len(found) != 1 {
		return 0, 0, fmt.Errorf("the file has %s %d times, not once", e.in, len(found))
	}
	begin = found[0][1]
	length := bytes.Index(text[begin:], []byte("\n}\n"))
	if length < 0 {
		return 0, 0, errors.New(e.in + " has no end")
	}
	return begin, begin + length + 1, nil
}

// heading matches the lines before the body of a function or type.
func heading(name string) *regexp.Regexp {
	if t, ok := strings.CutPrefix(name, "type "); ok {
		return regexp.MustCompile(`(?m)^type ` + regexp.QuoteMeta(t) + ` struct \{\n`)
	}
	receiver := ""
	if t, method, ok := strings.Cut(name, ")."); ok {
		receiver, name = `\(\w+ `+regexp.QuoteMeta(strings.TrimPrefix(t, "("))+`\) `, method
	}
	return regexp.MustCompile(`(?m)^func ` + receiver + name + `\([^\n]*\{\n`)
}
