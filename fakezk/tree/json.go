package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/zksim/zksim/internal/yamldoc"
)

// readJSON reads one JSON value with the places of its parts. A reader of YAML would not do: it
// refuses \ud83d\ude00, takes text without quotes, and keeps the whole file in memory as nodes.
func readJSON(data []byte) (yamldoc.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	r := jsonReader{data: data, dec: dec, last: yamldoc.Place{Line: 1, Column: 1}}
	v, err := r.value(0)
	if err != nil {
		return v, err
	}
	if at := r.next(); at < len(data) {
		return v, r.place(at).Wrong("found more after the end of the JSON value; expected nothing")
	}
	return v, nil
}

// maxDepth is that of the exports of zk-shell: a tree, a node, acls, an entry, its id.
const maxDepth = yamldoc.MaxDepth + 1

// jsonReader reads JSON values with their places.
type jsonReader struct {
	data []byte
	dec  *json.Decoder
	// offset and last are those of the last call of place. The next call counts on from there.
	offset int
	last   yamldoc.Place
}

// next is the offset of the next token, after separators and white space.
func (r *jsonReader) next() int {
	rest := r.data[r.dec.InputOffset():]
	return len(r.data) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
}

// place is the line and column of an offset not before that of the last call.
func (r *jsonReader) place(offset int) yamldoc.Place {
	for ; r.offset < offset && r.offset < len(r.data); r.offset++ {
		r.last.Column++
		if r.data[r.offset] == '\n' {
			r.last = yamldoc.Place{Line: r.last.Line + 1, Column: 1}
		}
	}
	return r.last
}

func (r *jsonReader) token() (json.Token, yamldoc.Place, error) {
	at := r.place(r.next())
	token, err := r.dec.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, at, r.place(int(syntax.Offset)-1).Wrong("%v", syntax)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, at, r.place(len(r.data)).Wrong("the JSON ends too early")
	case err != nil:
		return nil, at, at.Wrong("%v", err)
	}
	return token, at, nil
}

func (r *jsonReader) value(depth int) (yamldoc.Value, error) {
	token, at, err := r.token()
	v := yamldoc.Value{At: at, Text: fmt.Sprint(token)}
	if err != nil {
		return v, err
	}
	switch token := token.(type) {
	case nil:
		v.Kind = yamldoc.Nothing
	case string:
		v.Kind = yamldoc.Text
	case bool:
		v.Kind = yamldoc.Bool
	case json.Number:
		v.Kind = yamldoc.Number
	case json.Delim:
		if depth == maxDepth {
			return v, at.Wrong("nested more than %d levels deep", maxDepth)
		}
		return r.inside(token, at, depth+1)
	}
	return v, nil
}

// inside reads the content after an opening bracket.
func (r *jsonReader) inside(open json.Delim, at yamldoc.Place, depth int) (yamldoc.Value, error) {
	v := yamldoc.Value{Kind: yamldoc.List, At: at}
	if open == '{' {
		v.Kind = yamldoc.Mapping
	}
	began := r.dec.InputOffset()
	for r.dec.More() {
		v.Pairs = r.grown(v.Pairs, began)
		var p yamldoc.Pair
		var err error
		if v.Kind == yamldoc.Mapping {
			var key json.Token
			if key, p.At, err = r.token(); err != nil {
				return v, err
			}
			p.Key = fmt.Sprint(key)
		}
		if p.Value, err = r.value(depth); err != nil {
			return v, err
		}
		if v.Kind == yamldoc.Mapping {
			v.Pairs = append(v.Pairs, p)
		} else {
			v.List = append(v.List, p.Value)
		}
	}
	_, _, err := r.token()
	return v, err
}

// grown has room for one more pair of the mapping that began at an offset. A long list gets room
// for all that may follow: to copy hundreds of megabytes stops the whole process.
func (r *jsonReader) grown(pairs []yamldoc.Pair, began int64) []yamldoc.Pair {
	const long = 1 << 16
	if len(pairs) < long || len(pairs) < cap(pairs) {
		return pairs
	}
	now := r.dec.InputOffset()
	more := 1 + int(int64(len(pairs))*(int64(len(r.data))-now)/(now-began))
	// Not slices.Grow: under the race detector it copies the new room, too.
	return append(make([]yamldoc.Pair, 0, len(pairs)+more), pairs...)
}
