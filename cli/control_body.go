package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// readBody reads at most limit bytes.
func readBody(r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	return body, nil
}

// looksLikeJSON reports whether a body begins like a JSON object.
func looksLikeJSON(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("{"))
}

// jsonFields are the keys that a JSON object may have, and pointers for their values.
type jsonFields map[string]any

// decodeBody reads a JSON object; no body at all is an empty object.
func decodeBody(r *http.Request, fields jsonFields) error {
	body, err := readBody(r, maxControlBody)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	return decodeObject(body, fields)
}

// decodeObject reads a JSON object more strictly than package json: keys have the right case and
// are given once, no value is null, and nothing follows the object.
func decodeObject(body []byte, fields jsonFields) error {
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
		if err := decodeField(dec, key, fields); err != nil {
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

// decodeField reads the value of a key.
func decodeField(dec *json.Decoder, key string, fields jsonFields) error {
	into, known := fields[key]
	if !known {
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
	err := json.Unmarshal(value, into)
	if errors.As(err, &wrong) {
		return fmt.Errorf("body: %s: found %s; expected text", key, value)
	}
	if err != nil {
		return fmt.Errorf("body: %s: %w", key, err)
	}
	return nil
}

// bodyError is an error of package json about a body.
func bodyError(err error) error { return fmt.Errorf("body: %w", bareError(err)) }

// bareError is an error of package json without the name of the package.
func bareError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
