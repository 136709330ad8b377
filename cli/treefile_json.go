package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readJSON reads one JSON value with the places of its parts.
func readJSON(data []byte) (fileValue, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	r := jsonReader{data: data, dec: dec}
	v, err := r.value(0)
	if err != nil {
		return fileValue{}, err
	}
	if at := r.next(); at < len(data) {
		return fileValue{}, r.place(at).wrong(
			"found more after the end of the JSON value; expected nothing")
	}
	return v, nil
}

// maxFileDepth is the greatest depth of nested lists and mappings; a tree file needs three.
const maxFileDepth = 4

// jsonReader reads JSON values with their places.
type jsonReader struct {
	data []byte
	dec  *json.Decoder
	// offset and lastPlace are those of the last call of place. The next call counts on from there.
	offset    int
	lastPlace filePlace
}

// next is the offset of the next token, after separators and white space.
func (r *jsonReader) next() int {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[at]) >= 0 {
		at++
	}
	return at
}

// place is the line and column of an offset not before that of the last call.
func (r *jsonReader) place(offset int) filePlace {
	if r.lastPlace.line == 0 {
		r.lastPlace = filePlace{1, 1}
	}
	for ; r.offset < offset && r.offset < len(r.data); r.offset++ {
		r.lastPlace.column++
		if r.data[r.offset] == '\n' {
			r.lastPlace = filePlace{r.lastPlace.line + 1, 1}
		}
	}
	return r.lastPlace
}

func (r *jsonReader) token() (json.Token, filePlace, error) {
	at := r.place(r.next())
	token, err := r.dec.Token()
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, at, r.place(int(syntax.Offset)-1).wrong("%v", syntax)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, at, r.place(len(r.data)).wrong("the JSON ends too early")
	case err != nil:
		return nil, at, at.wrong("%v", err)
	}
	return token, at, nil
}

func (r *jsonReader) value(depth int) (fileValue, error) {
	token, at, err := r.token()
	if err != nil {
		return fileValue{}, err
	}
	v := fileValue{at: at, text: fmt.Sprint(token)}
	switch token := token.(type) {
	case nil:
		v.kind = nothingValue
	case string:
		v.kind = textValue
	case bool:
		v.kind = boolValue
	case json.Number:
		v.kind = numberValue
	case json.Delim:
		if depth == maxFileDepth {
			return v, at.wrong("nested more than %d levels deep", maxFileDepth)
		}
		return r.inside(token, at, depth+1)
	}
	return v, nil
}

// inside reads the content after an opening bracket.
func (r *jsonReader) inside(open json.Delim, at filePlace, depth int) (fileValue, error) {
	v := fileValue{kind: listValue, at: at}
	if open == '{' {
		v.kind = mappingValue
	}
	for r.dec.More() {
		var p filePair
		var err error
		if v.kind == mappingValue {
			var key json.Token
			if key, p.at, err = r.token(); err != nil {
				return v, err
			}
			p.key = fmt.Sprint(key)
		}
		if p.value, err = r.value(depth); err != nil {
			return v, err
		}
		if v.kind == mappingValue {
			v.pairs = append(v.pairs, p)
		} else {
			v.list = append(v.list, p.value)
		}
	}
	_, _, err := r.token()
	return v, err
}
