package saved

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/internal/yamldoc"
)

// A form is a scenario file: its keys in their order. Values that may be left out are optional.
// The tags are those of package json, for a note.
type form struct {
	Workload       string   `json:"workload"`
	Implementation string   `json:"implementation"`
	Clients        int      `json:"clients"`
	Rounds         int      `json:"rounds"`
	Goroutines     int      `json:"goroutines,omitempty"`
	Servers        int      `json:"servers,omitempty"`
	Careless       bool     `json:"careless,omitempty"`
	Seed           uint64   `json:"seed"`
	Schedule       string   `json:"schedule,omitempty"`
	Plan           []string `json:"plan"`
	Expect         string   `json:"expect"`
	Property       string   `json:"property,omitempty"`
	Trace          string   `json:"trace,omitempty"`
	Test           string   `json:"test,omitempty"`
	Package        string   `json:"package,omitempty"`
	Tags           string   `json:"tags,omitempty"`
}

// formKeys are the keys of a form, in the order of its fields. optional are those that a file does
// not have if their value is zero.
var formKeys, optional = func() (keys []string, optional map[string]bool) {
	optional = map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[form]()) {
		key, omit, _ := strings.Cut(field.Tag.Get("json"), ",")
		keys, optional[key] = append(keys, key), omit != ""
	}
	return keys, optional
}()

// yaml is the form as a file.
func (f form) yaml() []byte {
	var b bytes.Buffer
	for i, key := range formKeys {
		switch field := reflect.ValueOf(f).Field(i); {
		case optional[key] && field.IsZero():
		case field.Kind() == reflect.String:
			fmt.Fprintf(&b, "%s: %s\n", key, word(field.String()))
		case field.Kind() != reflect.Slice:
			fmt.Fprintf(&b, "%s: %v\n", key, field)
		case len(f.Plan) == 0:
			b.WriteString("plan: []\n")
		default:
			b.WriteString("plan:\n")
			for _, fault := range f.Plan {
				fmt.Fprintf(&b, "  - %s\n", word(fault))
			}
		}
	}
	return b.Bytes()
}

// word is a text as a value.
func word(text string) string {
	if yamldoc.Plain(text) && !strings.ContainsAny(text, `#\`) && !strings.Contains(text, "- ") {
		return text
	}
	return strconv.Quote(text)
}

// read reads the keys of a file into a form, whose type decides the kinds of the values. It
// returns the values by their keys.
func (f *form) read(doc yamldoc.Value) (map[string]yamldoc.Value, error) {
	if err := doc.Unique(); err != nil {
		return nil, err
	}
	values := map[string]yamldoc.Value{}
	for _, p := range doc.Pairs {
		i := slices.Index(formKeys, p.Key)
		if i < 0 {
			return nil, p.At.Wrong("unknown field %q; expected one of %s", p.Key,
				strings.Join(formKeys, ", "))
		}
		if err := set(reflect.ValueOf(f).Elem().Field(i), p.Key, p.Value); err != nil {
			return nil, err
		}
		values[p.Key] = p.Value
	}
	return values, nil
}

// set gives a field the value of its key.
func set(field reflect.Value, key string, v yamldoc.Value) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(v.Text)
		return v.Is(yamldoc.Text, key)
	case reflect.Bool:
		field.SetBool(strings.EqualFold(v.Text, "true"))
		return v.Is(yamldoc.Bool, key)
	case reflect.Slice:
		return setFaults(field, key, v)
	}
	if v.Kind != yamldoc.Number {
		return v.At.Wrong("%s: found %s; expected a whole number", key, v.Kind)
	}
	if !plainNumber.MatchString(v.Text) {
		return v.At.Wrong("%s: found %s; expected plain decimal digits", key, v.Text)
	}
	return setNumber(field, key, v)
}

func setNumber(field reflect.Value, key string, v yamldoc.Value) error {
	if field.CanUint() {
		n, err := strconv.ParseUint(v.Text, 10, 64)
		if err != nil {
			return v.At.Wrong("%s: found %s; expected 0 to %d", key, v.Text, uint64(math.MaxUint64))
		}
		field.SetUint(n)
		return nil
	}
	n, err := strconv.ParseInt(v.Text, 10, 32)
	if err != nil {
		return v.At.Wrong("%s: found %s; expected at most %d", key, v.Text, math.MaxInt32)
	}
	field.SetInt(n)
	return nil
}

// plainNumber excludes 010, which is eight to some readers of YAML, 0x1F and 1_000.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func setFaults(field reflect.Value, key string, v yamldoc.Value) error {
	if v.Kind != yamldoc.List {
		return v.At.Wrong("%s: found %s; expected a list of faults", key, v.Kind)
	}
	faults := []string{}
	for _, fault := range v.List {
		if fault.Kind != yamldoc.Text {
			return fault.At.Wrong("%s: found %s; expected faults as text", key, fault.Kind)
		}
		faults = append(faults, fault.Text)
	}
	field.Set(reflect.ValueOf(faults))
	return nil
}
