package serve

import (
	"reflect"
	"strings"
)

// A schema is a schema of OpenAPI.
type schema struct {
	Ref         string            `yaml:"$ref,omitempty"`
	Type        string            `yaml:"type,omitempty"`
	Format      string            `yaml:"format,omitempty"`
	Description string            `yaml:"description,omitempty"`
	Enum        []string          `yaml:"enum,omitempty,flow"`
	Nullable    bool              `yaml:"nullable,omitempty"`
	Items       *schema           `yaml:"items,omitempty"`
	Required    []string          `yaml:"required,omitempty,flow"`
	Properties  map[string]schema `yaml:"properties,omitempty"`
}

// schemas are the schemas of structs, by their names in the document.
type schemas map[string]schema

// of is the schema of a type. A struct is one of the schemas, and others refer to it.
func (known schemas) of(t reflect.Type) schema {
	switch t.Kind() {
	case reflect.Pointer:
		return known.of(t.Elem())
	case reflect.Slice:
		items := known.of(t.Elem())
		return schema{Type: "array", Items: &items}
	case reflect.Bool:
		return schema{Type: "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return schema{Type: "integer"}
	case reflect.String:
		if t == reflect.TypeFor[sessionName]() {
			return schema{Type: "string", Description: aboutSession}
		}
		return schema{Type: "string"}
	case reflect.Struct:
		name := strings.TrimSuffix(strings.TrimSuffix(t.Name(), "Entry"), "Body")
		name = strings.ToUpper(name[:1]) + name[1:]
		if strings.HasSuffix(t.Name(), "Body") {
			name += "Request"
		}
		if _, done := known[name]; !done {
			known[name] = known.object(t)
		}
		return schema{Ref: "#/components/schemas/" + name}
	}
	panic("no schema for " + t.String())
}

// object is the schema of a struct. Its fields have tags: json, about, enum and format.
func (known schemas) object(t reflect.Type) schema {
	o := schema{Type: "object", Properties: map[string]schema{}}
	for _, field := range reflect.VisibleFields(t) {
		key, optional := jsonKey(field)
		s := known.of(field.Type)
		s.Nullable = field.Type.Kind() == reflect.Pointer && !optional
		if about := field.Tag.Get("about"); about != "" {
			s.Description = about
		}
		if values := field.Tag.Get("enum"); values != "" {
			s.Enum = strings.Split(values, ",")
		}
		s.Format = field.Tag.Get("format")
		o.Properties[key] = s
		if !optional {
			o.Required = append(o.Required, key)
		}
	}
	return o
}
