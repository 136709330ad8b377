package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"

	"github.com/zksim/zksim/fakezk/tree"
)

// readBody reads the whole body of a request, before the request has a place in any room. The
// deadlines of the server end then: the work may last.
func (o route) readBody(w http.ResponseWriter, r *http.Request, held *share) ([]byte, error) {
	body, err := readAll(
		sharedReader{http.MaxBytesReader(nil, r.Body, o.longestBody()), held},
	)
	switch {
	case errors.Is(err, errFull):
		return nil, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, failure(http.StatusRequestTimeout, "the body has not come within %s",
			requestTimeout)
	case err != nil:
		return nil, fmt.Errorf("read body: %w", err)
	}
	endDeadlines(w)
	return body, nil
}

// readAll is io.ReadAll, which copies what it has whenever it needs more room. For many long bodies
// that takes the processors from all others; this copies once, at the end.
func readAll(r io.Reader) ([]byte, error) {
	var parts [][]byte
	part := make([]byte, 0, 4<<10)
	for {
		n, err := r.Read(part[len(part):cap(part)])
		part = part[:len(part)+n]
		switch {
		case errors.Is(err, io.EOF):
			return bytes.Join(append(parts, part), nil), nil
		case err != nil:
			return nil, err
		case len(part) == cap(part):
			parts = append(parts, part)
			part = make([]byte, 0, min(2*cap(part), 1<<20))
		}
	}
}

// longestBody is the greatest length of a body.
func (e endpoint) longestBody() int64 {
	if e.whole && e.texts != nil {
		return tree.MaxBytes
	}
	return maxControlBody
}

// decode reads a JSON object into a pointer to a struct; no body at all is an empty object.
func (r *request) decode(into any) error {
	if len(bytes.TrimSpace(r.body)) == 0 {
		return nil
	}
	return decodeObject(r.body, into)
}

// decodeObject reads a JSON object more strictly than package json: keys have the right case and
// are given once, no value is null, and nothing follows the object.
func decodeObject(body []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	switch open, err := dec.Token(); {
	case err != nil:
		return bodyError(err)
	case open != json.Delim('{'):
		return fmt.Errorf("body: found %s; expected a JSON object", bytes.TrimSpace(body))
	}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return bodyError(err)
		}
		key := fmt.Sprint(token)
		if seen[key] {
			return fmt.Errorf("body: %q is given twice", key)
		}
		seen[key] = true
		if err := decodeField(dec, key, reflect.ValueOf(into).Elem()); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return bodyError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("body: found more after the JSON object; expected nothing")
	}
	return nil
}

// decodeField reads the value of a key into the field that has its name.
func decodeField(dec *json.Decoder, key string, into reflect.Value) error {
	field := reflect.Value{}
	for i := range into.NumField() {
		if name, _ := jsonKey(into.Type().Field(i)); name == key {
			field = into.Field(i)
		}
	}
	if !field.IsValid() {
		return fmt.Errorf("body: unknown field %q", key)
	}
	var value json.RawMessage
	if err := dec.Decode(&value); err != nil {
		return bodyError(err)
	}
	if string(value) == "null" {
		return fmt.Errorf("body: %q is null; expected a value, or no %q at all", key, key)
	}
	var wrong *json.UnmarshalTypeError
	err := json.Unmarshal(value, field.Addr().Interface())
	if errors.As(err, &wrong) {
		return fmt.Errorf("body: %s: found %s; expected text", key, value)
	}
	if err != nil {
		return fmt.Errorf("body: %s: %w", key, err)
	}
	return nil
}

// jsonKey is the key of a field in JSON, and whether it may be left out.
func jsonKey(field reflect.StructField) (key string, optional bool) {
	key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return key, options == "omitempty"
}

// bodyError is an error of package json about a body, without the name of the package.
func bodyError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("body: the JSON ends too early")
	}
	return fmt.Errorf("body: %s", strings.TrimPrefix(err.Error(), "json: "))
}
