package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"
)

// controlServer is the control endpoint of a server: HTTP with JSON. GET / lists the requests. It
// has no authentication and so is for this machine: it refuses requests that a browser makes for
// another site, and requests with a Host other than localhost or a loopback address.
type controlServer struct {
	*serving
	listener net.Listener
	http     *http.Server
	sites    *http.CrossOriginProtection
	anywhere bool        // any Host is taken
	closing  atomic.Bool // all requests are refused
}

// An endpoint is a kind of request.
type endpoint struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Takes  string `json:"takes,omitempty"`
	Does   string `json:"does"`
	handle func(*controlServer, *http.Request) (any, error)
}

// endpoints are all kinds of requests. One of them lists them, so init sets them.
var endpoints []endpoint

func init() {
	endpoints = []endpoint{
		{"GET", "/", "", "this list", (*controlServer).getIndex},
		{"GET", "/tree", "", "the nodes", (*controlServer).getTree},
		{"GET", "/sessions", "", "the sessions", (*controlServer).getSessions},
		{"GET", "/watches", "", "the watches", (*controlServer).getWatches},
		{"GET", "/faults", "", "the faults and whether they fired", (*controlServer).getFaults},
		{
			"GET", "/dump", "?format=yaml or json", "the tree as a tree file",
			(*controlServer).getDump,
		},
		{
			"POST", "/load", "a tree file, ?format=yaml or json", "load it",
			(*controlServer).postLoad,
		},
		{"POST", "/expire", `{"session":"S1"}`, "end a session", (*controlServer).postExpire},
		{
			"POST", "/drop", `{"session":"S1"} or nothing for all`, "close connections",
			(*controlServer).postDrop,
		},
		{
			"POST", "/stall", `{"for":"2s","session":"S1"}, without session for all`,
			"hold connections", (*controlServer).postStall,
		},
		{
			"POST", "/fault", `{"line":"drop-reply op=create request=1"} or lines as in a plan`,
			"arm faults", (*controlServer).postFault,
		},
		{
			"POST", "/clear", "", "disarm all faults and end what they do",
			(*controlServer).postClear,
		},
		{"POST", "/reset", "", "make the server as new", (*controlServer).postReset},
	}
}

// Limits of the control endpoint.
const (
	maxControlBody  = 1 << 20
	headerTimeout   = 5 * time.Second
	requestTimeout  = time.Minute
	shutdownTimeout = time.Second
)

// listenControl opens the port of the control endpoint. An address that other machines can
// reach is an error unless anywhere is true.
func listenControl(addr string, anywhere bool, s *serving) (*controlServer, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if !anywhere && !isLoopback(l.Addr()) {
		err := fmt.Errorf("%s: other machines can reach it, and it asks for no password; "+
			"expected an address such as 127.0.0.1:0, or --control-anywhere as well", addr)
		return nil, errors.Join(err, l.Close())
	}
	c := &controlServer{
		serving: s, listener: l, sites: http.NewCrossOriginProtection(), anywhere: anywhere,
	}
	c.http = &http.Server{
		Handler:           http.HandlerFunc(c.answer),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       requestTimeout,
		// Errors of net/http are errors of clients.
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	return c, nil
}

func (c *controlServer) addr() net.Addr { return c.listener.Addr() }

// serve answers until close.
func (c *controlServer) serve() error {
	if err := c.http.Serve(c.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("control endpoint: %w", err)
	}
	return nil
}

// close waits up to a second for requests under way; later ones get no reply. It may be
// called twice.
func (c *controlServer) close() error {
	c.closing.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if err := c.http.Shutdown(ctx); err != nil {
		return c.http.Close()
	}
	return nil
}

// statusError is an error with its HTTP status.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

func failure(status int, format string, args ...any) error {
	return &statusError{status, fmt.Sprintf(format, args...)}
}

// rawReply is the text of a reply.
type rawReply struct {
	contentType string
	body        []byte
}

// answer handles a request and writes the reply.
func (c *controlServer) answer(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxTreeFile)
	value, err := c.dispatch(w, r)
	status := http.StatusOK
	if err != nil {
		status = statusOf(err)
		value = map[string]string{"error": err.Error()}
	}
	level := slog.LevelInfo
	if r.Method == http.MethodGet {
		level = slog.LevelDebug
	}
	c.log.Log(r.Context(), level, "control", "method", r.Method, "path", r.URL.Path,
		"status", status)
	if err := reply(w, status, value); err != nil {
		c.log.Debug("control: reply not written", "error", err)
	}
}

// admit refuses requests while the server stops, and those of other sites.
func (c *controlServer) admit(r *http.Request) error {
	if c.closing.Load() {
		return failure(http.StatusServiceUnavailable, "the server stops")
	}
	if !c.anywhere && !isThisMachine(r.Host) {
		return failure(http.StatusForbidden, "host %q: expected localhost or an address "+
			"such as 127.0.0.1, or a server with --control-anywhere", r.Host)
	}
	if err := c.sites.Check(r); err != nil {
		return failure(http.StatusForbidden, "%v", err)
	}
	return nil
}

// isThisMachine reports whether a Host header is localhost or a loopback address. If the name of a
// site was made to resolve to this machine, requests of its pages have that name as Host.
func isThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// dispatch finds the endpoint of a request and calls it.
func (c *controlServer) dispatch(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := c.admit(r); err != nil {
		return nil, err
	}
	var methods []string
	for _, e := range endpoints {
		if e.Path != r.URL.Path {
			continue
		}
		if e.Method == r.Method || e.Method == http.MethodGet && r.Method == http.MethodHead {
			return e.handle(c, r)
		}
		methods = append(methods, e.Method)
	}
	if methods == nil {
		return nil, failure(http.StatusNotFound, "no endpoint %s; GET / lists them", r.URL.Path)
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	return nil, failure(http.StatusMethodNotAllowed, "%s %s: expected %s",
		r.Method, r.URL.Path, strings.Join(methods, " or "))
}

// statusOf is the HTTP status of an error.
func statusOf(err error) int {
	var own *statusError
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &own):
		return own.status
	case errors.As(err, &tooLong):
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// reply writes a reply: a value as JSON, or a rawReply.
func reply(w http.ResponseWriter, status int, value any) error {
	raw, ok := value.(rawReply)
	if !ok {
		body, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return fmt.Errorf("encode reply: %w", err)
		}
		raw = rawReply{"application/json", append(body, '\n')}
	}
	w.Header().Set("Content-Type", raw.contentType)
	w.WriteHeader(status)
	_, err := w.Write(raw.body)
	return err
}
