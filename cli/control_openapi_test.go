package cli

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
	"go.yaml.in/yaml/v4"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
)

// mapping is a part of the document.
type mapping = map[string]any

// document is openapi.yaml, decoded.
func document(t *testing.T) mapping {
	t.Helper()
	var doc mapping
	check.OK(t, yaml.Unmarshal(openAPI, &doc))
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

// documented is an operation of the document.
type documented struct {
	method, path string
	op           mapping
	parameters   []mapping
}

// operations lists those of the document, in order.
func operations(t *testing.T, doc mapping) (list []documented) {
	t.Helper()
	paths := doc["paths"].(mapping)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := paths[path].(mapping)
		for _, method := range slices.Sorted(maps.Keys(item)) {
			if method == "parameters" {
				continue
			}
			d := documented{method: strings.ToUpper(method), path: path, op: item[method].(mapping)}
			shared, _ := item["parameters"].([]any)
			own, _ := d.op["parameters"].([]any)
			for _, p := range slices.Concat(shared, own) {
				d.parameters = append(d.parameters, at(doc, p).(mapping))
			}
			list = append(list, d)
		}
	}
	return list
}

// TestOpenAPIListsTheEndpoints, each with its parameters, and no other.
func TestOpenAPIListsTheEndpoints(t *testing.T) {
	var want, got []string
	for _, e := range slices.Concat(wholeEndpoints, endpoints) {
		query := slices.Sorted(slices.Values(e.query))
		path := strings.ReplaceAll(e.Path, "...}", "}")
		want = append(want, fmt.Sprint(e.Method, " ", path, " ", query))
	}
	for _, d := range operations(t, document(t)) {
		query := []string{}
		for _, p := range d.parameters {
			if p["in"] == "query" {
				query = append(query, p["name"].(string))
			}
		}
		slices.Sort(query)
		got = append(got, fmt.Sprint(d.method, " ", d.path, " ", query))
	}
	slices.Sort(want)
	slices.Sort(got)
	check.List(t, got, want)
}

// busyControl is a control endpoint whose server has nodes, a session with a watch, a fault, a
// history, and the namespaces a and n1.
func busyControl(t *testing.T) *controlServer {
	c := spaceHere(t, "")
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
		_, err = c.spaces.add(name)
		check.OK(t, err)
	}
	return c
}

// example is the request that the document has as an example. With every is each parameter given.
func (d documented) example(doc mapping, every bool) *http.Request {
	path, query := d.path, url.Values{}
	for _, p := range d.parameters {
		value := fmt.Sprint(p["example"])
		if p["in"] == "path" {
			path = strings.ReplaceAll(path, "{"+p["name"].(string)+"}", value)
		} else if every && p["example"] != nil {
			query.Set(p["name"].(string), value)
		}
	}
	body := ""
	content, _ := at(doc, d.op, "requestBody", "content").(mapping)
	for _, media := range content {
		switch value := media.(mapping)["example"].(type) {
		case string:
			body = value
		case mapping:
			text, _ := json.Marshal(value) // it was YAML
			body = string(text)
		}
	}
	r := httptest.NewRequest(d.method, "http://localhost"+path+"?"+query.Encode(),
		strings.NewReader(body))
	if path == "/events" {
		return gone(r)
	}
	return r
}

// TestOpenAPIExamplesAnswer: the example of each operation succeeds, with and without its
// parameters, and the answer is as its schema says.
func TestOpenAPIExamplesAnswer(t *testing.T) {
	doc := document(t)
	for _, d := range operations(t, doc) {
		for _, every := range []bool{false, true} {
			c, w := busyControl(t), httptest.NewRecorder()
			c.http.Handler.ServeHTTP(w, d.example(doc, every))
			where := d.method + " " + d.path
			content, ok := at(doc, d.op, "responses", fmt.Sprint(w.Code), "content").(mapping)
			if !ok || w.Code > 299 {
				t.Errorf("%s: status %d: %s", where, w.Code, w.Body)
				continue
			}
			kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
			if content[kind] == nil {
				t.Errorf("%s: the answer is %s; want one of %v", where, kind, content)
				continue
			}
			for _, value := range answers(t, kind, w.Body.Bytes()) {
				for _, problem := range violations(doc, at(doc, content[kind], "schema"), value) {
					t.Errorf("%s: %s", where, problem)
				}
			}
		}
	}
}

// answers are the values in an answer.
func answers(t *testing.T, kind string, body []byte) (values []any) {
	t.Helper()
	var texts []string
	switch kind {
	case "application/json":
		texts = []string{string(body)}
	case "text/event-stream":
		for _, data := range regexp.MustCompile(`(?m)^data: (.*)$`).FindAllSubmatch(body, -1) {
			texts = append(texts, string(data[1]))
		}
		if len(texts) == 0 {
			t.Error("no events")
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

// TestOpenAPIErrorsAreDocumented: a wrong request of each operation has the error of the document.
func TestOpenAPIErrorsAreDocumented(t *testing.T) {
	doc := document(t)
	c := spaceHere(t, "")
	for _, d := range operations(t, doc) {
		r := d.example(doc, false)
		r.URL.RawQuery = "nonsense=1"
		w := httptest.NewRecorder()
		c.http.Handler.ServeHTTP(w, r)
		check.Equal(t, w.Code, http.StatusBadRequest, d.path)
		schema := at(doc, d.op, "responses", "default", "content", "application/json", "schema")
		if schema == nil {
			t.Errorf("%s %s: no error", d.method, d.path)
		}
		for _, value := range answers(t, "application/json", w.Body.Bytes()) {
			for _, problem := range violations(doc, schema, value) {
				t.Errorf("%s %s: %s", d.method, d.path, problem)
			}
		}
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

var (
	rowOfPage  = regexp.MustCompile("(?m)^\\| `([A-Z]+) (/[^` ]*)` \\|.*\\| `(curl [^`]*)` \\|$")
	wordOfCurl = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s"']+`)
)

// TestCurlLinesOfThePageWork: docs/control.md has one for each endpoint, and each succeeds.
func TestCurlLinesOfThePageWork(t *testing.T) {
	shown := map[string]bool{}
	for _, row := range rowOfPage.FindAllStringSubmatch(readPage(t, "../docs/control.md"), -1) {
		shown[row[1]+" "+row[2]] = true
		r := curl(t, row[3])
		if r.Method != row[1] {
			t.Errorf("%s: it is a %s; want %s", row[3], r.Method, row[1])
		}
		c, w := busyControl(t), httptest.NewRecorder()
		c.http.Handler.ServeHTTP(w, r)
		if w.Code > 299 {
			t.Errorf("%s: status %d: %s", row[3], w.Code, w.Body)
		}
	}
	spelled := strings.NewReplacer("{path...}", "PATH", "{number}", "NUMBER", "{name}", "NAME")
	for _, e := range slices.Concat(wholeEndpoints, endpoints) {
		if call := e.Method + " " + spelled.Replace(e.Path); !shown[call] {
			t.Errorf("docs/control.md has no row with a curl line for %s", call)
		}
	}
}

// curl is the request of a command line.
func curl(t *testing.T, line string) *http.Request {
	t.Helper()
	method, address, body := "GET", "", ""
	words := wordOfCurl.FindAllString(line, -1)[1:]
	for i := 0; i < len(words); i++ {
		switch word := words[i]; word {
		case "-X":
			method = words[i+1]
			i++
		case "-d", "--data-binary":
			i++
			if body = strings.Trim(words[i], `"'`); body == "@tree.yaml" {
				body = "/loaded: hello"
			}
			if method == "GET" {
				method = "POST"
			}
		case "-N":
		default:
			address = strings.ReplaceAll(strings.Trim(word, `"`), "$C", "http://localhost")
		}
	}
	r := httptest.NewRequest(method, address, strings.NewReader(body))
	if strings.Contains(address, "/events") || strings.Contains(address, "wait=") {
		return gone(r)
	}
	return r
}

// gone is a request whose client has gone: streams and waits end at once.
func gone(r *http.Request) *http.Request {
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	return r.WithContext(ctx)
}
