package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// fields are the fields of one line. Its methods take a field and note the first error in err. A
// field that is missing is an error, unless optional was called for it.
type fields struct {
	values map[string]json.RawMessage
	order  []string
	taken  map[string]bool
	spare  map[string]bool // fields that may be missing
	err    error
}

// parseFields reads an object. No field may be there twice.
func parseFields(line []byte) (*fields, error) {
	f := &fields{values: map[string]json.RawMessage{}, taken: map[string]bool{},
		spare: map[string]bool{}}
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, notJSON(err, line)
	}
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return nil, notJSON(err, line)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, notJSON(err, line))
		}
		if f.has(name) {
			return nil, fmt.Errorf("%s: the field is there twice", name)
		}
		f.values[name], f.order = value, append(f.order, name)
	}
	if _, err := d.Token(); err != nil {
		return nil, notJSON(err, line)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one object on the line")
	}
	return f, nil
}

// notJSON is the error of a line that is no object.
func notJSON(err error, line []byte) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return errors.New("the line is cut off: if the program was ended while it wrote, " +
			"delete the line to judge the rest")
	case err != nil:
		return err
	}
	return fmt.Errorf("%.20q; expected a JSON object", line)
}

// fromLog returns the line that is the attribute of a line of a log, if it has one.
func fromLog(f *fields) (inner *fields, logged bool, err error) {
	value, has := f.values[attribute]
	if !has || !bytes.HasPrefix(value, []byte("{")) {
		return nil, false, nil
	}
	inner, err = parseFields(value)
	if err != nil {
		return nil, true, fmt.Errorf("%s: %w", attribute, err)
	}
	return inner, true, nil
}

func (f *fields) has(name string) bool { return f.values[name] != nil }

// optional says that a field may be missing.
func (f *fields) optional(name string) *fields {
	f.spare[name] = true
	return f
}

// take reads a field into a value of JSON. kind describes the expected value.
func (f *fields) take(name, kind string, into any) bool {
	f.taken[name] = true
	value, has := f.values[name]
	switch {
	case f.err != nil || !has && f.spare[name]:
		return false
	case !has:
		f.err = fmt.Errorf("%s: the field is missing", name)
		return false
	case string(value) == "null" || json.Unmarshal(value, into) != nil:
		f.err = fmt.Errorf("%s: %s; expected %s", name, short(value), kind)
		return false
	}
	return true
}

// short is a value for an error.
func short(value json.RawMessage) string {
	const most = 40
	if len(value) > most {
		return strings.ToValidUTF8(string(value[:most]), "") + "..."
	}
	return string(value)
}

// text takes a string, or an object with its bytes in base64.
func (f *fields) text(name string) string {
	const expected = `a string, or {"base64":"..."}`
	value := f.values[name]
	if !bytes.HasPrefix(value, []byte("{")) {
		var s string
		f.take(name, expected, &s)
		return s
	}
	inner, err := parseFields(value)
	if err != nil {
		f.fail(name, err)
		return ""
	}
	var encoded string
	inner.take("base64", "a string", &encoded)
	f.taken[name] = true
	f.fail(name, inner.unread())
	data, err := base64.StdEncoding.DecodeString(encoded)
	f.fail(name, err)
	return string(data)
}

// fail notes an error of a field.
func (f *fields) fail(name string, err error) {
	if f.err == nil && err != nil {
		f.err = fmt.Errorf("%s: %w", name, err)
	}
}

// name takes a string that is not empty.
func (f *fields) name(name string) string {
	s := f.text(name)
	if s == "" {
		f.fail(name, errors.New(`""; expected a name`))
	}
	return s
}

// number takes a whole number that is not negative.
func (f *fields) number(name string) (n int64) {
	const expected = "a whole number, 0 or more"
	if f.take(name, expected, &n) && n < 0 {
		f.fail(name, fmt.Errorf("%d; expected %s", n, expected))
	}
	return n
}

// flag takes true or false.
func (f *fields) flag(name string) (b bool) {
	f.take(name, "true or false", &b)
	return b
}

// session takes the id of a session.
func (f *fields) session(name string) int64 {
	var s string
	if !f.take(name, `a string such as "0x1000a3f5e2b0001"`, &s) {
		return 0
	}
	id, err := parseSession(s)
	f.fail(name, err)
	return int64(id)
}

// time takes a time of the clock.
func (f *fields) time(name string) (t time.Time) {
	f.take(name, `a time such as "2026-01-31T12:00:00.5Z"`, &t)
	return t
}

// oneOf takes a fixed word, and returns its meaning.
func oneOf[T any](f *fields, name string, words []word[T]) (means T) {
	got := f.text(name)
	var names []string
	for _, w := range words {
		if w.name == got {
			return w.means
		}
		names = append(names, w.name)
	}
	f.fail(name, fmt.Errorf("%q; expected %s", got, strings.Join(names, ", ")))
	return means
}

// unread is the first error, or an error that names a field that was not taken.
func (f *fields) unread() error {
	if f.err != nil {
		return f.err
	}
	for _, name := range f.order {
		if !f.taken[name] {
			return fmt.Errorf("%.40s: unknown field", name)
		}
	}
	return nil
}
