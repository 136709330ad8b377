package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"go.yaml.in/yaml/v4"
)

// mapping is a part of the document.
type mapping = map[string]any

// document is the OpenAPI document, decoded.
func document(t *testing.T) mapping {
	t.Helper()
	text, err := openAPI()
	check.OK(t, err)
	var doc mapping
	check.OK(t, yaml.Unmarshal(text, &doc))
	return doc
}

// at is a part of the document, with references followed. It is nil if there is no such part.
func at(doc mapping, v any, keys ...string) any {
	for {
		o, _ := v.(mapping)
		if ref, ok := o["$ref"].(string); ok {
			v = at(doc, doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
			continue
		}
		if len(keys) == 0 {
			return v
		}
		v, keys = o[keys[0]], keys[1:]
	}
}

// busyControl is a control endpoint whose server has nodes, a session with a watch, a fault, a
// history, and the namespaces a and n1.
func busyControl(t *testing.T) *control {
	c := controlWithHistory(t, "")
	conn := c.main.Connect(t)
	for _, path := range []string{"/app/config", "/locks"} {
		check.OK(t, c.main.Put(path, []byte{0xff}))
	}
	_, err := conn.Create("/locks/a", []byte("x"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	check.OK(t, err)
	_, _, _, err = conn.ChildrenW("/locks")
	check.OK(t, err)
	check.OK(t, c.main.Inject(fault.Fault{Kind: fault.Cut, Op: "sync", Request: 1}))
	for _, name := range []string{"a", "n1"} {
		_, err = c.namespaces.add(name)
		check.OK(t, err)
	}
	return c
}

// address is a path of the endpoint with the examples of its parameters.
func (e endpoint) address() string {
	path := pathParameter.ReplaceAllStringFunc(e.path, func(name string) string {
		return parameters[strings.Replace(name, "...", "", 1)].example
	})
	return strings.TrimSuffix(path, "{$}")
}

// request is the request of the example. A client that has gone ends streams and waits at once.
func (e endpoint) request(query string) *http.Request {
	r := httptest.NewRequest(e.method, "http://localhost"+e.address()+"?"+query,
		strings.NewReader(e.example.body))
	if e.handle.stream || slices.Contains(e.query, "wait") {
		return canceled(r)
	}
	return r
}

// canceled is the same request of a client that has gone.
func canceled(r *http.Request) *http.Request {
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	return r.WithContext(ctx)
}

// TestExamplesAnswer: the example of each endpoint succeeds, without its parameters, with those of
// the example and with all, and the answer is as its schema says.
func TestExamplesAnswer(t *testing.T) {
	doc := document(t)
	for _, e := range endpoints {
		all := url.Values{}
		for _, name := range e.query {
			all.Set(name, parameters[name].example)
		}
		for _, query := range []string{"", e.example.query, all.Encode()} {
			c, w := busyControl(t), httptest.NewRecorder()
			c.ServeHTTP(w, e.request(query))
			where := fmt.Sprintf("%s %s?%s", e.method, e.path, query)
			check.Equal(t, w.Code, e.handle.status, where, w.Body)
			path := strings.NewReplacer("{$}", "", "...}", "}").Replace(e.path)
			content := at(doc, doc, "paths", path, strings.ToLower(e.method), "responses",
				fmt.Sprint(w.Code), "content").(mapping)
			kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
			if content[kind] == nil {
				t.Errorf("%s: the answer is %s; want one of %v", where, kind, content)
				continue
			}
			for _, value := range valuesIn(t, kind, w.Body.Bytes()) {
				for _, problem := range violations(doc, at(doc, content[kind], "schema"), value) {
					t.Errorf("%s: %s", where, problem)
				}
			}
		}
	}
}

// valuesIn are the values in an answer.
func valuesIn(t *testing.T, kind string, body []byte) (values []any) {
	t.Helper()
	var texts []string
	switch kind {
	case "application/json":
		texts = []string{string(body)}
	case "text/event-stream":
		for _, data := range regexp.MustCompile(`(?m)^data: (.*)$`).FindAllSubmatch(body, -1) {
			texts = append(texts, string(data[1]))
		}
	default:
		return []any{string(body)}
	}
	for _, text := range texts {
		var value any
		check.OK(t, json.Unmarshal([]byte(text), &value))
		values = append(values, value)
	}
	return values
}

// TestWrongRequestsAreRefused, of each endpoint, with the error of the document.
func TestWrongRequestsAreRefused(t *testing.T) {
	doc := document(t)
	names := map[string]bool{}
	for _, e := range endpoints {
		names[e.handle.name] = true
		w := httptest.NewRecorder()
		controlWithHistory(t, "").ServeHTTP(w, e.request("nonsense=1"))
		check.Equal(t, w.Code, http.StatusBadRequest, e.path)
		schema := mapping{"$ref": "#/components/schemas/Error"}
		for _, value := range valuesIn(t, "application/json", w.Body.Bytes()) {
			check.Equal(t, len(violations(doc, schema, value)), 0, e.path, value)
		}
	}
	check.Equal(t, len(names), len(endpoints), "handlers, whose names are those of operations")
	if !names["getIndex"] {
		t.Error("no getIndex")
	}
}

// violations lists how a value differs from a schema. Fields that the schema does not have are
// differences, too.
func violations(doc mapping, schema, value any) (list []string) {
	s, _ := at(doc, schema).(mapping)
	if value == nil && s["nullable"] == true {
		return nil
	}
	wrong := func() []string { return []string{fmt.Sprintf("%v is no %v", value, s)} }
	switch v := value.(type) {
	case mapping:
		properties, ok := s["properties"].(mapping)
		if s["type"] != "object" {
			return wrong()
		}
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, has := v[name.(string)]; !has {
				list = append(list, fmt.Sprintf("%v has no %v", v, name))
			}
		}
		for name, part := range v {
			if properties[name] == nil && ok {
				list = append(list, fmt.Sprintf("field %s is not documented", name))
			} else if ok {
				list = append(list, violations(doc, properties[name], part)...)
			}
		}
		return list
	case []any:
		if s["type"] != "array" {
			return wrong()
		}
		for _, part := range v {
			list = append(list, violations(doc, s["items"], part)...)
		}
		return list
	}
	if values, ok := s["enum"].([]any); ok && !slices.Contains(values, value) {
		return wrong()
	}
	want := map[string]any{"string": "", "boolean": false, "integer": 0.0}[fmt.Sprint(s["type"])]
	if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", value) {
		return wrong()
	}
	return nil
}

// TestViolationsAreFound: the tests above can fail.
func TestViolationsAreFound(t *testing.T) {
	doc := document(t)
	schema := mapping{"$ref": "#/components/schemas/Fault"}
	good := mapping{"number": 1.0, "line": "cut request=1", "matched": 0.0, "fired": true}
	check.Equal(t, len(violations(doc, schema, good)), 0)
	for name, bad := range map[string]any{
		"fired": "yes", "line": nil, "number": mapping{}, "matched": []any{}, "more": 1.0,
	} {
		value := maps.Clone(good)
		value[name] = bad
		if len(violations(doc, schema, value)) == 0 {
			t.Errorf("%v is accepted", value)
		}
		delete(value, name)
		if name != "more" && len(violations(doc, schema, value)) == 0 {
			t.Errorf("%v is accepted", value)
		}
	}
	kind := mapping{"$ref": "#/components/schemas/Kind"}
	check.Equal(t, len(violations(doc, kind, "reply")), 1)
}

// rows matches a table of endpoints: a block of lines, each of which begins with a method and a
// path.
var rows = regexp.MustCompile("(?m)(^(//\t|\\| `)(GET|PUT|POST|DELETE) +/.*\n(//\t {5}.*\n)*)+")

// code matches the parts of a text that are code.
var code = regexp.MustCompile(`\{.*?\}|\w*\?\w+=\w+|\w+=\w+|/\w+`)

// TestTablesListTheEndpoints: docs/control.md and the comment of this package have the table.
func TestTablesListTheEndpoints(t *testing.T) {
	var page, comment strings.Builder
	for _, e := range endpoints {
		path := strings.NewReplacer("{$}", "", "{path...}", "PATH", "{number}", "NUMBER",
			"{name}", "NAME").Replace(e.path)
		takes := code.ReplaceAllString(e.takes, "`$0`")
		fmt.Fprintf(&page, "| `%s %s` | %s | %s | `%s` |\n", e.method, path, e.does, takes, e.curl())
		fmt.Fprintf(&comment, "//\t%-6s %-18s %s\n", e.method, path, e.does)
		if e.takes != "" {
			fmt.Fprintf(&comment, "//\t%26s%s\n", "", e.takes)
		}
	}
	hasTable(t, "../../docs/control.md", page.String())
	hasTable(t, "doc.go", comment.String())
}

// hasTable fails unless the one table of endpoints in a file is as given. With -update it writes
// it.
func hasTable(t *testing.T, file, table string) {
	t.Helper()
	text := testrun.ReadFile(t, file)
	found := rows.FindAllString(text, -1)
	if len(found) != 1 {
		t.Fatalf("%s has %d tables of endpoints", file, len(found))
	}
	if testrun.Update() {
		testrun.WriteFile(t, file, strings.Replace(text, found[0], table, 1))
		return
	}
	check.Diff(t, found[0], table, "%s; go test ./cli/serve -update writes the table", file)
}

// curl is a line for a shell with the example, where $C is the address of the endpoint.
func (e endpoint) curl() string {
	words := []string{"curl"}
	address, body := "$C"+e.address(), e.example.body
	if e.example.query != "" {
		address = fmt.Sprintf(`"%s?%s"`, address, e.example.query)
	}
	if e.handle.stream {
		words = append(words, "-N")
	}
	if e.method != "GET" && (e.method != "POST" || body == "") {
		words = append(words, "-X", e.method)
	}
	if body != "" {
		words = append(words, "-d", "'"+body+"'")
	}
	return strings.Join(append(words, address), " ")
}
