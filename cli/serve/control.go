package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fakezk/tree"
)

// A control is the control endpoint of a server and its namespaces: HTTP with JSON. Its requests
// are in the table of endpoints.
type control struct {
	access     *access
	main       *namespace // the server of zksim serve
	namespaces *namespaces
	log        *slog.Logger
	mux        *http.ServeMux
	index      indexEntry
	openAPI    []byte
	listener   net.Listener
	http       *http.Server
	closing    atomic.Bool     // all requests are refused
	ended      context.Context // done when requests that wait have to end
	end        func()
	working    chan struct{} // room for the requests under way
	waiting    chan struct{} // room for those that wait, and for event streams
}

// Limits of the control endpoint.
const (
	maxControlBody  = 1 << 20
	maxWorking      = 16  // requests under way; more wait
	maxWaiting      = 100 // requests that wait for something, and event streams; more are refused
	headerTimeout   = 5 * time.Second
	requestTimeout  = time.Minute
	shutdownTimeout = time.Second
)

// listenControl opens the port of the control endpoint. An address that other machines can reach is
// an error, unless they may ask.
func listenControl(addr string, who *access, s *serving) (*control, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if !who.anywhere && !isLoopback(l.Addr()) {
		err := fmt.Errorf("%s: other machines can reach it; "+
			"expected an address such as 127.0.0.1:0, or --control-anywhere as well", addr)
		return nil, errors.Join(err, l.Close())
	}
	openAPI, err := openAPI()
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	c := &control{
		access: who, main: &namespace{Server: s.server, addrs: addressesOf(s.listeners)},
		namespaces: &s.namespaces, log: s.log, listener: l,
		index: index(), openAPI: openAPI,
		working: make(chan struct{}, maxWorking), waiting: make(chan struct{}, maxWaiting),
	}
	c.mux = c.routes()
	c.ended, c.end = context.WithCancel(context.Background())
	c.http = &http.Server{
		Handler:           c,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       requestTimeout,
		// The errors of net/http come from clients, so they are logged as debug messages.
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	return c, nil
}

func (c *control) addr() net.Addr { return c.listener.Addr() }

// serve answers until close.
func (c *control) serve() error {
	if err := c.http.Serve(c.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("control endpoint: %w", err)
	}
	return nil
}

// close waits up to a second for requests under way; later ones get no reply. It may be called
// twice.
func (c *control) close() error {
	c.closing.Store(true)
	c.end()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	if err := c.http.Shutdown(ctx); err != nil {
		return c.http.Close()
	}
	return nil
}

// ServeHTTP answers a request.
func (c *control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, tree.MaxBytes)
	err := c.admit(w, r)
	if err == nil {
		r = withoutRedirects(r)
		if c.finds(r) {
			c.mux.ServeHTTP(w, r)
			return
		}
		err = c.unknown(w, r)
	}
	c.answer(w, r, 0, nil, err)
}

// admit refuses all requests while the server stops, and always those that access refuses.
func (c *control) admit(w http.ResponseWriter, r *http.Request) error {
	if c.closing.Load() {
		return errStops
	}
	return c.access.admit(w, r)
}

// answer writes the reply to a request, or the error, and a line of the log.
func (c *control) answer(
	w http.ResponseWriter, r *http.Request, status int, value any, err error,
) {
	if err != nil {
		status, value = statusOf(err), errorEntry{err.Error()}
	}
	level := slog.LevelInfo
	if isGet(r.Method) {
		level = slog.LevelDebug
	}
	c.log.Log(r.Context(), level, "control", "method", r.Method, "path", r.URL.Path,
		"status", status)
	if err := reply(w, status, value); err != nil {
		c.log.Debug("control: reply not written", "error", err)
	}
}

// isGet reports whether a request only reads.
func isGet(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// statusError is an error with its HTTP status.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

var errStops = failure(http.StatusServiceUnavailable, "the server stops")

func failure(status int, format string, args ...any) error {
	return &statusError{status, fmt.Sprintf(format, args...)}
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

// rawReply is the text of a reply.
type rawReply struct {
	contentType string
	body        []byte
}

// errorEntry is the reply of a request with an error.
type errorEntry struct {
	Error string `json:"error"`
}

// reply writes a reply: a value as JSON, a rawReply, or a stream.
func reply(w http.ResponseWriter, status int, value any) error {
	switch value := value.(type) {
	case rawReply:
		return write(w, status, value)
	case *eventStream:
		return value.write(w)
	}
	body, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode reply: %w", err)
	}
	return write(w, status, rawReply{"application/json", append(body, '\n')})
}

func write(w http.ResponseWriter, status int, raw rawReply) error {
	w.Header().Set("Content-Type", raw.contentType)
	w.WriteHeader(status)
	_, err := w.Write(raw.body)
	return err
}
