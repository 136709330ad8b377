package foreign

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxForm  = 1 << 20 // bytes
	maxDepth = 64
)

// ednReader reads the forms of EDN that histories have: nil, booleans, numbers, strings, keywords,
// symbols, characters, collections, tags (which are left out), comments and discards.
type ednReader struct {
	in   *bufio.Reader
	line int64
	size int // of the form, so far
	err  error
}

func newEDNReader(r io.Reader) *ednReader { return &ednReader{in: withoutMark(r), line: 1} }

// read returns the next byte, and 0 at the end or at an error.
func (r *ednReader) read() byte {
	c, err := r.in.ReadByte()
	if err != nil {
		r.err = err
		return 0
	}
	if c == '\n' {
		r.line++
	}
	if r.size++; r.size > maxForm {
		r.err = fmt.Errorf("the form is too long; expected at most %d bytes", maxForm)
		return 0
	}
	return c
}

// peek returns the next byte without reading it, and 0 at the end.
func (r *ednReader) peek() byte {
	c, err := r.in.Peek(1)
	if err != nil {
		return 0
	}
	return c[0]
}

// skip skips blanks, commas, comments and discarded forms.
func (r *ednReader) skip(depth int) {
	for r.err == nil {
		switch c := r.peek(); {
		case c != 0 && strings.IndexByte(" \t\r\n,", c) >= 0:
			r.read()
		case c == ';':
			for r.err == nil && r.read() != '\n' {
			}
		case c == '#' && r.discards():
			r.read()
			r.read()
			r.form(depth + 1)
		default:
			return
		}
	}
}

func (r *ednReader) discards() bool {
	c, err := r.in.Peek(2)
	return err == nil && c[1] == '_'
}

// form reads one form. At the end of the text err is io.EOF.
func (r *ednReader) form(depth int) datum {
	if depth > maxDepth && r.err == nil {
		r.err = fmt.Errorf("the form is nested deeper than %d", maxDepth)
	}
	if r.skip(depth); r.err != nil {
		return datum{}
	}
	v := datum{line: r.line}
	switch c := r.peek(); c {
	case 0:
		r.err = io.EOF
	case '[', '(':
		r.read()
		v.list = r.elements(closing(c), depth)
	case '{':
		r.read()
		v.fields = r.entries(depth)
	case '"':
		r.read()
		v.str, v.isStr = r.text(), true
		v.word = strconv.Quote(v.str)
	case '#':
		return r.tagged(depth)
	default:
		v.word = r.token()
		if n, err := strconv.ParseInt(strings.TrimSuffix(v.word, "N"), 10, 64); err == nil {
			v.number, v.word = n, strconv.FormatInt(n, 10)
		}
	}
	return v
}

func closing(c byte) byte {
	if c == '[' {
		return ']'
	}
	return ')'
}

// tagged reads a set, or the form behind a tag.
func (r *ednReader) tagged(depth int) datum {
	r.read()
	if r.peek() == '{' {
		r.read()
		return datum{list: r.elements('}', depth), line: r.line}
	}
	r.token()
	v := r.form(depth + 1)
	if errors.Is(r.err, io.EOF) {
		r.err = io.ErrUnexpectedEOF
	}
	return v
}

// elements reads the forms up to the end of a collection.
func (r *ednReader) elements(end byte, depth int) []datum {
	list := []datum{}
	for !r.ended(end, depth) {
		list = append(list, r.form(depth+1))
	}
	return list
}

// ended reads the end of a collection, if it is next. An error is an end, too.
func (r *ednReader) ended(end byte, depth int) bool {
	r.skip(depth)
	switch {
	case r.err == nil && r.peek() == 0:
		r.err = io.ErrUnexpectedEOF
	case errors.Is(r.err, io.EOF):
		r.err = io.ErrUnexpectedEOF
	case r.err == nil && r.peek() == end:
		r.read()
		return true
	}
	return r.err != nil
}

// entries reads the keys and values of a map.
func (r *ednReader) entries(depth int) []field {
	list := []field{}
	seen := map[string]bool{}
	for !r.ended('}', depth) {
		key := r.form(depth + 1)
		if r.err == nil && seen[key.text()] {
			r.err = fmt.Errorf("%s: the key is there twice", key.text())
		}
		seen[key.text()] = true
		if r.ended('}', depth) {
			if r.err == nil {
				r.err = fmt.Errorf("%s: the key has no value", key.text())
			}
			break
		}
		list = append(list, field{key.name(), r.form(depth + 1)})
	}
	return list
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '"': '"'}

// text reads a string behind its first quote.
func (r *ednReader) text() string {
	var b strings.Builder
	for {
		c := r.read()
		switch {
		case errors.Is(r.err, io.EOF):
			r.err = io.ErrUnexpectedEOF
			return ""
		case r.err != nil:
			return ""
		case c == '"':
			if !utf8.ValidString(b.String()) {
				r.err = errors.New("a string is not valid UTF-8")
			}
			return b.String()
		case c == '\\':
			r.escape(&b)
		default:
			b.WriteByte(c)
		}
	}
}

// escape reads an escape behind its backslash.
func (r *ednReader) escape(b *strings.Builder) {
	c := r.read()
	if meant, known := escapes[c]; known {
		b.WriteByte(meant)
		return
	}
	if c != 'u' {
		r.err = cmp.Or(r.err, fmt.Errorf("a string has the unknown escape \\%c", c))
		return
	}
	var digits [4]byte
	for i := range digits {
		digits[i] = r.read()
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		r.err = cmp.Or(r.err, fmt.Errorf("a string has the unknown escape \\u%s", digits[:]))
		return
	}
	b.WriteRune(rune(n))
}

// token reads a word up to a blank or a bracket.
func (r *ednReader) token() string {
	var b strings.Builder
	for {
		c := r.peek()
		if c == 0 || strings.IndexByte(" \t\r\n,;()[]{}\"", c) >= 0 && b.Len() > 0 {
			break
		}
		if b.WriteByte(r.read()); r.err != nil {
			break
		}
		if b.Len() == 1 && strings.IndexByte(")]}", c) >= 0 {
			r.err = fmt.Errorf("%q closes nothing", c)
			break
		}
	}
	if r.err == nil && !utf8.ValidString(b.String()) {
		r.err = errors.New("a word is not valid UTF-8")
	}
	return b.String()
}
