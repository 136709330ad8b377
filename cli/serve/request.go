package serve

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// A request is a request to one server.
type request struct {
	*http.Request
	control *control
	*namespace
	body []byte
	ctx  context.Context // done when the request must not wait any longer
}

// A handler makes the answer to a request.
type handler struct {
	make   func(*request) (any, error)
	name   string       // of make
	answer reflect.Type // of a JSON answer, or of each event of a stream; nil for text
	texts  []string     // the media types of the answer
	status int          // without an error
	stream bool
}

// answers is a handler with an answer in JSON.
func answers[T any](answer func(*request) (T, error)) handler {
	name := runtime.FuncForPC(reflect.ValueOf(answer).Pointer()).Name()
	return handler{
		make:   func(r *request) (any, error) { return answer(r) },
		name:   name[strings.LastIndexByte(name, '.')+1:],
		answer: reflect.TypeFor[T](), texts: []string{"application/json"}, status: http.StatusOK,
	}
}

// creates is a handler with an answer in JSON about something new.
func creates[T any](answer func(*request) (T, error)) handler {
	h := answers(answer)
	h.status = http.StatusCreated
	return h
}

// lists is a handler with a list in JSON.
func lists[T any](answer func(*request) (iter.Seq[T], error)) handler {
	h := answers(answer)
	h.answer = reflect.TypeFor[[]T]()
	h.make = func(r *request) (any, error) {
		entries, err := answer(r)
		return list[T](entries), err
	}
	return h
}

// writes is a handler with an answer in text, of one of some media types.
func writes(answer func(*request) (rawReply, error), texts ...string) handler {
	h := answers(answer)
	h.answer, h.texts = nil, texts
	return h
}

// streams is a handler whose answer is a stream of records.
func streams(answer func(*request) (*eventStream, error)) handler {
	h := answers(answer)
	h.answer, h.texts, h.stream = reflect.TypeFor[recordEntry](), []string{"text/event-stream"}, true
	return h
}

// routes is the mux of the endpoints.
func (c *control) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, e := range endpoints {
		mux.Handle(e.method+" "+e.path, route{c, e})
		if !e.once {
			mux.Handle(e.method+" /namespaces/{namespace}"+e.path, route{c, e})
		}
	}
	return mux
}

// A route leads to an endpoint.
type route struct {
	control *control
	endpoint
}

// ServeHTTP answers a request of the endpoint.
func (o route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to, err := o.call(w, r)
	o.control.finish(w, r, o.handle.status, to, err)
}

// call makes the answer to a request. The request has a place in a room from the end of its body to
// the end of the work.
func (o route) call(w http.ResponseWriter, r *http.Request) (answer, error) {
	req := &request{Request: r, control: o.control, namespace: o.control.main}
	if name := r.PathValue("namespace"); name != "" {
		if req.namespace = o.control.namespaces.find(name); req.namespace == nil {
			return nil, noNamespace(name)
		}
	}
	if err := checkQuery(r, o.query); err != nil {
		return nil, err
	}
	wait, err := o.wait(r)
	if err != nil {
		return nil, err
	}
	held := o.control.memory.share()
	defer held.release()
	if req.body, err = o.readBody(w, r, held); err != nil {
		return nil, err
	}
	leave, err := req.enter(o.room(wait), wait)
	if err != nil {
		return nil, err
	}
	if o.handle.stream {
		return req.stream(o.handle, leave)
	}
	defer leave()
	return req.reply(o.handle)
}

// reply does the work, and encodes what comes of it.
func (r *request) reply(h handler) (answer, error) {
	value, err := h.make(r)
	if err != nil {
		return nil, err
	}
	made := &reply{status: h.status, share: r.control.memory.share()}
	if err := made.encode(value); err != nil {
		made.share.release()
		return nil, err
	}
	return made, nil
}

// finds reports whether a request is one of an endpoint. The mux answers others with redirects, or
// with text.
func (c *control) finds(r *http.Request) bool {
	h, _ := c.mux.Handler(r)
	_, ours := h.(route)
	return ours
}

// unknown is the error of a request of no endpoint.
func (c *control) unknown(w http.ResponseWriter, r *http.Request) error {
	if rest, ok := strings.CutPrefix(r.URL.Path, "/namespaces/"); ok {
		name, _, inside := strings.Cut(rest, "/")
		if inside && c.namespaces.find(name) == nil {
			return noNamespace(name)
		}
	}
	var methods []string
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		other := r.WithContext(r.Context())
		if other.Method = method; c.finds(other) {
			methods = append(methods, method)
		}
	}
	if methods == nil {
		return failure(http.StatusNotFound, "no endpoint %s; GET / lists them", r.URL.Path)
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	return failure(http.StatusMethodNotAllowed, "%s %s: expected %s", r.Method, r.URL.Path,
		strings.Join(methods, " or "))
}

// uncleanPath escapes the parts of a path for which a mux redirects: the path of a node may have
// them, and then the server says what is wrong with it.
var uncleanPath = strings.NewReplacer("//", "/%2F", "/.", "/%2E")

// withoutRedirects is the same request in a form that the mux takes as it is.
func withoutRedirects(r *http.Request) *http.Request {
	same, address := r.WithContext(r.Context()), *r.URL
	address.RawPath = uncleanPath.Replace(r.URL.EscapedPath())
	same.URL = &address
	return same
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
