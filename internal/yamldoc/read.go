// Package yamldoc reads a YAML document as values with their places, so that the errors of a reader
// can name line and column.
//
// It takes the part of YAML that JSON has, too, in block or flow style: one document of plain keys,
// text, numbers and lists. Anchors, aliases, tags and further documents are errors, and so a short
// document stays small in memory.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// MaxDepth is the greatest depth of nested lists and mappings.
const MaxDepth = 4

// Read reads a document that begins in a line of a file. An empty document is Nothing. Errors about
// the text are of type *Error. Keys may be given twice: see [Value.Unique].
func Read(text []byte, firstLine int) (Value, error) {
	r := reader{text: text, before: firstLine - 1}
	if err := r.checkBytes(); err != nil {
		return Value{}, err
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithPlugin(depthLimit))
	if err != nil {
		return Value{}, err
	}
	var doc, more yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return Value{Kind: Nothing, At: Place{firstLine, 1}}, nil
	case err != nil:
		return Value{}, r.wrong(err)
	}
	v, err := r.value(doc.Content[0], 0)
	if err != nil {
		return Value{}, err
	}
	switch err := loader.Load(&more); {
	case err == nil:
		return Value{}, r.place(&more).Wrong("found a second document; expected one")
	case !errors.Is(err, io.EOF):
		return Value{}, r.wrong(err)
	}
	return v, nil
}

// errDeep is the error of a document with more than MaxDepth levels.
var errDeep = fmt.Errorf("nested more than %d levels deep", MaxDepth)

// depthLimit ends the library's work on a document that nests deeper within brackets, or by
// indentation, than any document may.
var depthLimit = loaderlimits.New(loaderlimits.DepthFunc(
	func(depth int, _ *loaderlimits.DepthContext) error {
		if depth > MaxDepth {
			return errDeep
		}
		return nil
	}))

// A reader turns the nodes of the YAML library into values.
type reader struct {
	text   []byte
	before int // lines of the file before the text
}

func (r reader) place(n *yaml.Node) Place { return Place{r.before + n.Line, n.Column} }

// checkBytes refuses the bytes that no YAML has, as the library gives no place for them.
func (r reader) checkBytes() error {
	place := Place{r.before + 1, 1}
	for rest := r.text; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		switch {
		case c == utf8.RuneError && n == 1:
			return place.Wrong("found a byte that is not UTF-8")
		case c == '\ufeff': // the library may take one within a text for the start of a line
			return place.Wrong("found a byte order mark; " + `expected \ufeff, in double quotes`)
		case c == '\n':
			place = Place{place.Line + 1, 0}
		case c < ' ' && c != '\t' && c != '\r' || c == '\ufffe' || c == '\uffff':
			return place.Wrong("found the character %q, which YAML does not have", c)
		}
		place.Column++
		rest = rest[n:]
	}
	return nil
}

// wrong is an error of the library as an *Error. The library reports what is missing at the end of
// a text after its last line.
func (r reader) wrong(err error) error {
	var at *yaml.LoadError
	ok := errors.As(err, &at)
	if !ok || at.Mark.Line == 0 {
		return Place{r.before + 1, 1}.Wrong("%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	place, message := Place{r.before + at.Mark.Line, at.Mark.Column}, at.Message
	if at.Mark.Index >= utf8.RuneCount(bytes.TrimRight(r.text, space)) {
		place = r.end()
	}
	if at.ContextMsg != "" && message != errDeep.Error() {
		message += ", " + at.ContextMsg
	}
	return place.Wrong("%s", message)
}

const space = " \t\r\n"

// end is the place of the last character other than white space.
func (r reader) end() Place {
	text := bytes.TrimRight(r.text, space)
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	return Place{r.before + 1 + bytes.Count(text, []byte("\n")), max(1, utf8.RuneCount(line))}
}

func (r reader) value(n *yaml.Node, depth int) (Value, error) {
	v := Value{At: r.place(n)}
	if mark := markOf(n); mark != "" {
		return v, v.At.Wrong("found %s; expected plain keys, text and lists", mark)
	}
	if n.Kind != yaml.ScalarNode && depth == MaxDepth {
		return v, v.At.Wrong("%v", errDeep)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		v.Kind = List
		for _, element := range n.Content {
			e, err := r.value(element, depth+1)
			if err != nil {
				return v, err
			}
			v.List = append(v.List, e)
		}
	case yaml.MappingNode:
		return r.mapping(v, n, depth+1)
	default:
		v.Kind, v.Text = kindOf(n), n.Value
	}
	return v, nil
}

func (r reader) mapping(v Value, n *yaml.Node, depth int) (Value, error) {
	v.Kind = Mapping
	for i := 0; i < len(n.Content); i += 2 {
		key, err := r.value(n.Content[i], depth)
		if err != nil {
			return v, err
		}
		if key.Kind != Text {
			return v, key.At.Wrong("found a key that is %s; expected text, in quotes if it looks "+
				"like something else", key.Kind)
		}
		value, err := r.value(n.Content[i+1], depth)
		if err != nil {
			return v, err
		}
		v.Pairs = append(v.Pairs, Pair{key.Text, key.At, value})
	}
	return v, nil
}

// markOf is the name of what a document must not have, "" for none.
func markOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Anchor != "":
		return "an anchor"
	case n.Style&yaml.TaggedStyle != 0, n.Tag == "!":
		return "a tag"
	}
	return ""
}

// kindOf is the kind of a scalar. What is a date or a merge key to some readers is text.
func kindOf(n *yaml.Node) Kind {
	switch n.Tag {
	case "!!null":
		return Nothing
	case "!!int":
		return Number
	case "!!float":
		if strings.Trim(n.Value, "-+_0123456789") == "" { // more than 64 bits
			return Number
		}
		return Fraction
	case "!!bool":
		return Bool
	}
	return Text
}
