package cli

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// An endpoint is a kind of request.
type endpoint struct {
	Method string `json:"method"`
	Path   string `json:"path"` // its last part may be {name}, or {name...} for the whole rest
	Takes  string `json:"takes,omitempty"`
	Does   string `json:"does"`
	handle func(*controlRequest) (any, error)
	query  []string // the parameters it takes
}

// controlRequest is a request to one server.
type controlRequest struct {
	*http.Request
	control *controlServer
	*space
	path string          // without the namespace
	arg  string          // the value of {name}, or of {name...} with a / before it
	ctx  context.Context // done when the request must not wait any longer
}

// The endpoints in the order of the list. Those of a server also exist under /namespaces/NAME; the
// whole endpoints exist once. An endpoint lists them all, so init sets them.
var endpoints, wholeEndpoints []endpoint

// historyQuery are the parameters of the history.
var historyQuery = []string{"after", "kind", "session", "op", "path"}

func init() {
	endpoints = slices.Concat(lookEndpoints, nodeEndpoints, actEndpoints, faultEndpoints,
		historyEndpoints)
	wholeEndpoints = append([]endpoint{
		{Method: "GET", Path: "/", Does: "this list", handle: getIndex},
		{
			Method: "GET", Path: "/ui", Does: "a live page, for a browser", handle: getUI,
		},
		{
			Method: "GET", Path: "/openapi.yaml", Does: "the requests for programs, OpenAPI 3",
			handle: getOpenAPI,
		},
	}, spaceEndpoints...)
}

// match returns the value of the parameter in an endpoint's path.
func (e endpoint) match(path string) (arg string, ok bool) {
	fixed, name, has := strings.Cut(e.Path, "/{")
	if !has {
		return "", path == e.Path
	}
	rest, ok := strings.CutPrefix(path, fixed+"/")
	if strings.HasSuffix(name, "...}") {
		return "/" + rest, ok
	}
	return rest, ok && rest != "" && !strings.Contains(rest, "/")
}

// isGet reports whether a request only reads.
func isGet(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// find finds the endpoint of a request and the server that it is for.
func (c *controlServer) find(w http.ResponseWriter, r *http.Request) (
	endpoint, *controlRequest, error,
) {
	req := &controlRequest{Request: r, control: c, space: c.main, path: r.URL.Path}
	list := slices.Concat(wholeEndpoints, endpoints)
	if name, rest, ok := inNamespace(r.URL.Path); ok {
		if req.space = c.spaces.find(name); req.space == nil {
			return endpoint{}, nil, noSpace(name)
		}
		req.path, list = rest, endpoints
	}
	var methods []string
	for _, e := range list {
		arg, ok := e.match(req.path)
		if !ok {
			continue
		}
		if e.Method == r.Method || e.Method == http.MethodGet && isGet(r.Method) {
			req.arg = arg
			return e, req, checkQuery(r, e.query)
		}
		methods = append(methods, e.Method)
	}
	if methods == nil {
		return endpoint{}, nil, failure(http.StatusNotFound, "no endpoint %s; GET / lists them",
			r.URL.Path)
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	return endpoint{}, nil, failure(http.StatusMethodNotAllowed, "%s %s: expected %s",
		r.Method, r.URL.Path, strings.Join(methods, " or "))
}

// inNamespace splits a path such as /namespaces/NAME/tree.
func inNamespace(path string) (name, rest string, ok bool) {
	path, ok = strings.CutPrefix(path, "/namespaces/")
	name, rest, found := strings.Cut(path, "/")
	return name, "/" + rest, ok && found
}

// checkQuery refuses parameters that an endpoint does not take, or that are given twice.
func checkQuery(r *http.Request, known []string) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.Contains(known, name) && known == nil:
			return fmt.Errorf("parameter %q: %s %s takes none", name, r.Method, r.URL.Path)
		case !slices.Contains(known, name):
			return fmt.Errorf("parameter %q: expected %s", name, strings.Join(known, ", "))
		case len(values[name]) > 1:
			return fmt.Errorf("parameter %q is given twice", name)
		}
	}
	return nil
}

func getIndex(*controlRequest) (any, error) {
	return map[string]any{
		"zksim":         "control endpoint of an in-memory ZooKeeper",
		"endpoints":     slices.Concat(wholeEndpoints, endpoints),
		"in namespaces": "/namespaces/NAME before a path is the same for the server of a namespace",
	}, nil
}
