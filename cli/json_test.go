package cli

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	checkcmd "github.com/zksim/zksim/cli/check"
	"github.com/zksim/zksim/cli/internal/report"
	"github.com/zksim/zksim/fakezk/conform"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/show"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
)

// jsonObjects are the objects of all reports, in the order of docs/json.md, by their names there.
var jsonObjects = []struct {
	name  string
	value any
}{
	{"Replay", show.Replayed{}}, {"Outcome", show.Outcome{}}, {"Verdict", show.Verdict{}},
	{"Sweep", report.Sweep{}}, {"Judged", hunt.Judged{}}, {"Violation", report.Violation{}},
	{"Proof", report.Proof{}}, {"Scope", hunt.Scope{}},
	{"Hunt", report.Hunt{}}, {"Goal", report.Goal{}}, {"Finding", report.Finding{}}, {"Hunts", report.Hunts{}},
	{"Gallery", report.Gallery{}}, {"Exhibit", report.Exhibit{}}, {"Absent", absentJSON{}},
	{"Check", checkcmd.Report{}},
	{"List", listing{}}, {"Workload", listedWorkload{}}, {"Strategy", listedStrategy{}},
	{"Fault", listedFault{}},
	{"Comparison", conform.Report{}}, {"Family", conform.FamilyReport{}},
	{"Difference", conform.Difference{}},
}

// TestJSONPageHasEveryKey of every report, with its type, and no other.
func TestJSONPageHasEveryKey(t *testing.T) {
	page := testrun.ReadFile(t, "../docs/json.md")
	for _, o := range jsonObjects {
		_, section, found := strings.Cut(page, "\n## "+o.name+"\n")
		if !found {
			t.Errorf("docs/json.md has no section %s", o.name)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		var got []string
		for _, row := range jsonRow.FindAllStringSubmatch(section, -1) {
			got = append(got, row[1]+" | "+row[2])
		}
		check.List(t, got, jsonKeys(reflect.TypeOf(o.value)), o.name)
	}
}

var jsonRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\| [^|]+ \\|$")

// jsonKeys are the keys of an object, with their types as the page has them.
func jsonKeys(object reflect.Type) []string {
	var keys []string
	for i := range object.NumField() {
		field := object.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous:
			keys = append(keys, jsonKeys(field.Type)...)
			continue
		case !field.IsExported():
			continue
		case name == "":
			name = field.Name
		}
		kind := jsonType(field.Type)
		if options == "omitempty" {
			kind += ", or absent"
		}
		keys = append(keys, name+" | "+kind)
	}
	return keys
}

// jsonType is a type in words.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.Slice:
		return "list of " + jsonType(t.Elem())
	case reflect.Map:
		return jsonType(t.Elem()) + "s by name"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Uint64, reflect.Float64:
		return "number"
	}
	for _, o := range jsonObjects {
		if reflect.TypeOf(o.value) == t {
			return fmt.Sprintf("[%s](#%s)", o.name, strings.ToLower(o.name))
		}
	}
	return t.String()
}
