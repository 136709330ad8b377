package serve

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Parts of an OpenAPI document. Values that are zero are left out.
type (
	operation struct {
		Summary     string              `yaml:"summary"`
		OperationID string              `yaml:"operationId"`
		Security    []map[string]any    `yaml:"security,omitempty,flow"`
		Parameters  []apiParameter      `yaml:"parameters,omitempty"`
		RequestBody *apiBody            `yaml:"requestBody,omitempty"`
		Responses   map[string]*apiBody `yaml:"responses"`
	}
	apiParameter struct {
		Name        string `yaml:"name"`
		In          string `yaml:"in"`
		Required    bool   `yaml:"required,omitempty"`
		Description string `yaml:"description"`
		Schema      schema `yaml:"schema"`
		Example     any    `yaml:"example"`
	}
	// apiBody is the body of a request or of a response.
	apiBody struct {
		Description string              `yaml:"description,omitempty"`
		Required    bool                `yaml:"required,omitempty"`
		Content     map[string]apiMedia `yaml:"content"`
	}
	apiMedia struct {
		Schema  schema `yaml:"schema"`
		Example any    `yaml:"example,omitempty"`
	}
)

// openAPI is the table of endpoints as an OpenAPI document, in YAML.
func openAPI() ([]byte, error) {
	schemas, paths := schemas{}, map[string]map[string]operation{}
	for _, e := range endpoints {
		path := strings.NewReplacer("{$}", "", "...}", "}").Replace(e.path)
		if paths[path] == nil {
			paths[path] = map[string]operation{}
		}
		paths[path][strings.ToLower(e.method)] = e.operation(schemas)
	}
	return yaml.Dump(struct {
		OpenAPI    string                `yaml:"openapi"`
		Info       map[string]any        `yaml:"info"`
		Servers    []map[string]any      `yaml:"servers"`
		Security   []map[string][]string `yaml:"security"`
		Paths      any                   `yaml:"paths"`
		Components map[string]any        `yaml:"components"`
	}{
		OpenAPI: "3.0.3",
		Info: map[string]any{
			"title": "zksim serve, control endpoint", "version": "1",
			"description": "Makes an in-memory ZooKeeper lose replies, end sessions and show its tree.",
			"license": map[string]string{
				"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0",
			},
		},
		Servers: []map[string]any{
			{"url": "http://127.0.0.1:8080", "description": "the server of zksim serve"},
			{
				"url":         "http://127.0.0.1:8080/namespaces/{namespace}",
				"description": "the server of a namespace; without /, /ui, /openapi.yaml and /namespaces",
				"variables":   map[string]any{"namespace": map[string]string{"default": "n1"}},
			},
		},
		Security: []map[string][]string{{}, {"token": {}}},
		Paths:    paths,
		Components: map[string]any{
			"schemas": schemas,
			"securitySchemes": map[string]any{"token": map[string]string{
				"type": "http", "scheme": "bearer", "description": "with --control-token",
			}},
		},
	}, yaml.WithIndent(2))
}

var pathParameter = regexp.MustCompile(`{(\w+)(\.\.\.)?}`)

// operation is the endpoint as an operation.
func (e endpoint) operation(known schemas) operation {
	failed := apiMedia{Schema: known.of(reflect.TypeFor[errorEntry]())}
	op := operation{
		Summary:     strings.ToUpper(e.does[:1]) + e.does[1:],
		OperationID: e.handle.name,
		RequestBody: e.requestBody(known),
		Responses: map[string]*apiBody{
			strconv.Itoa(e.handle.status): {
				Description: "the answer", Content: e.handle.content(known),
			},
			"default": {
				Description: "an error; docs/control.md lists the statuses",
				Content:     map[string]apiMedia{"application/json": failed},
			},
		},
	}
	if e.path == pagePath {
		op.Security = []map[string]any{{}}
	}
	for _, match := range pathParameter.FindAllStringSubmatch(e.path, -1) {
		op.Parameters = append(op.Parameters,
			parameters["{"+match[1]+"}"].inAPI(match[1], "path"))
	}
	for _, name := range e.query {
		op.Parameters = append(op.Parameters, parameters[name].inAPI(name, "query"))
	}
	return op
}

func (p parameter) inAPI(name, in string) apiParameter {
	api := apiParameter{
		Name: name, In: in, Required: in == "path", Description: p.about,
		Schema: schema{Type: "string", Enum: p.enum}, Example: p.example,
	}
	if n, err := strconv.Atoi(p.example); err == nil {
		api.Schema.Type, api.Example = "integer", n
	}
	return api
}

// requestBody is nil for an endpoint without a body.
func (e endpoint) requestBody(known schemas) *apiBody {
	if e.body == nil && e.texts == nil {
		return nil
	}
	body := &apiBody{Required: e.needed, Content: map[string]apiMedia{}}
	for i, text := range e.texts {
		media := apiMedia{Schema: schema{Type: "string"}}
		if i == 0 {
			media.Example = e.example.body
		}
		body.Content[text] = media
	}
	if e.body != nil {
		media := apiMedia{Schema: known.of(reflect.TypeOf(e.body))}
		if e.texts == nil {
			_ = json.Unmarshal([]byte(e.example.body), &media.Example) // a test sees a wrong one
		}
		body.Content["application/json"] = media
	}
	return body
}

// content is an answer by media types.
func (h handler) content(known schemas) map[string]apiMedia {
	answer, content := schema{Type: "string"}, map[string]apiMedia{}
	if h.answer != nil {
		answer = known.of(h.answer)
	}
	for _, text := range h.texts {
		content[text] = apiMedia{Schema: answer}
	}
	return content
}
