package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"
)

// controlServer is the control endpoint of a server: HTTP, JSON in and out.
// GET / lists what it does. There is no authentication, so it is for this
// machine: requests that a browser makes for another site are refused, and those
// for a host that is not this machine by a name that nobody else can give it.
type controlServer struct {
	*serving
	listener net.Listener
	http     *http.Server
	sites    *http.CrossOriginProtection
	anywhere bool        // any host may be asked for
	closing  atomic.Bool // requests are refused
}

// An endpoint is one thing that the control endpoint does.
type endpoint struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Takes  string `json:"takes,omitempty"`
	Does   string `json:"does"`
	handle func(*controlServer, *http.Request) (any, error)
}

// endpoints is filled by init, as what lists them is one of them.
var endpoints []endpoint

func init() {
	endpoints = []endpoint{
		{"GET", "/", "", "this list", (*controlServer).getIndex},
		{"GET", "/tree", "", "the nodes", (*controlServer).getTree},
		{"GET", "/sessions", "", "the sessions", (*controlServer).getSessions},
		{"GET", "/watches", "", "the watches", (*controlServer).getWatches},
		{"GET", "/faults", "", "the faults and whether they fired", (*controlServer).getFaults},
		{"GET", "/dump", "?format=yaml or json", "the tree as a tree file", (*controlServer).getDump},
		{"POST", "/load", "a tree file, ?format=yaml or json", "load it", (*controlServer).postLoad},
		{"POST", "/expire", `{"session":"S1"}`, "end a session", (*controlServer).postExpire},
		{"POST", "/drop", `{"session":"S1"} or nothing for all`, "close connections", (*controlServer).postDrop},
		{"POST", "/stall", `{"for":"2s","session":"S1"}, without session for all`, "hold connections", (*controlServer).postStall},
		{"POST", "/fault", `{"line":"drop-reply op=create request=1"} or lines as in a plan`, "arm faults", (*controlServer).postFault},
		{"POST", "/clear", "", "disarm all faults and end what they do", (*controlServer).postClear},
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

// listenControl opens the control endpoint's port, which only this machine may
// be able to reach unless anywhere is true.
func listenControl(addr string, anywhere bool, s *serving) (*controlServer, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if !anywhere && !isLoopback(l.Addr()) {
		err := fmt.Errorf("%s: other machines can reach it and it asks for no password; expected an address such as 127.0.0.1:0, or --control-anywhere as well", addr)
		return nil, errors.Join(err, l.Close())
	}
	c := &controlServer{serving: s, listener: l, sites: http.NewCrossOriginProtection(), anywhere: anywhere}
	c.http = &http.Server{
		Handler:           http.HandlerFunc(c.answer),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout, IdleTimeout: requestTimeout,
		ErrorLog: slogLogger(s.log),
	}
	return c, nil
}

// slogLogger lets net/http complain, at level debug: its complaints are about
// clients.
func slogLogger(to *slog.Logger) *log.Logger {
	return slog.NewLogLogger(to.Handler(), slog.LevelDebug)
}

func (c *controlServer) addr() net.Addr { return c.listener.Addr() }

// serve answers until close.
func (c *controlServer) serve() error {
	if err := c.http.Serve(c.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("control endpoint: %w", err)
	}
	return nil
}

// close gives requests under way a second to end; what they have not been
// answered by then, nobody is told. It may be called again.
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

// rawReply is a reply that is not JSON made from a value.
type rawReply struct {
	contentType string
	body        []byte
}

// answer finds the endpoint of a request, lets it act and writes the reply.
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
	c.log.Log(r.Context(), level, "control", "method", r.Method, "path", r.URL.Path, "status", status)
	if err := reply(w, status, value); err != nil {
		c.log.Debug("control: reply not written", "error", err)
	}
}

// admit refuses requests that must not act.
func (c *controlServer) admit(r *http.Request) error {
	if c.closing.Load() {
		return failure(http.StatusServiceUnavailable, "the server stops")
	}
	if !c.anywhere && !isThisMachine(r.Host) {
		return failure(http.StatusForbidden, "host %q: expected localhost or an address such as 127.0.0.1, or a server with --control-anywhere", r.Host)
	}
	if err := c.sites.Check(r); err != nil {
		return failure(http.StatusForbidden, "%v", err)
	}
	return nil
}

// isThisMachine says that a Host header names this machine in a way that no name
// server has a say in: a page of a site whose name was made to lead here has that
// site's name.
func isThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

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
	return nil, failure(http.StatusMethodNotAllowed, "%s %s: expected %s", r.Method, r.URL.Path, strings.Join(methods, " or "))
}

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
