package serve

import (
	"context"
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
	whole      chan struct{} // room for those about a whole tree
	waiting    chan struct{} // room for those that wait, and for event streams
	memory     *memory
}

// Limits of the control endpoint. No client stalls another one: a request has a place in a room
// while it works, never while its client sends the body or takes the reply.
const (
	maxWorking    = 16  // requests that work; more wait
	maxWhole      = 2   // requests that work on a whole tree or list, besides; more wait
	maxWaiting    = 100 // requests with the parameter wait, and event streams; more are refused
	maxNamespaces = 100

	maxControlBody = 1 << 20         // bytes of a body; a tree file has up to tree.MaxBytes
	maxHeld        = 64 << 20        // bytes of bodies and replies; then large ones are refused
	smallBytes     = 1 << 20         // of a body or reply that is refused at twice maxHeld only
	retryAfter     = "1"             // seconds until a refused client asks again
	giveBackAfter  = 5 * time.Second // from the end of something large until memory is given back

	headerTimeout   = 5 * time.Second  // to send the header of a request
	requestTimeout  = time.Minute      // to send the body, and as long again to take the reply
	pieceBytes      = 64 << 10         // of a reply, ...
	pieceTimeout    = 10 * time.Second // ... which a client must take in this time
	longestWait     = 10 * time.Minute // for the parameter wait
	heartbeat       = 15 * time.Second // between two signs of life of an event stream
	streamRecords   = 100              // records of an event stream that are in memory as text
	shutdownTimeout = time.Second      // for requests under way at the end
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
		working: make(chan struct{}, maxWorking), whole: make(chan struct{}, maxWhole),
		waiting: make(chan struct{}, maxWaiting), memory: newMemory(),
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
	c.finish(w, r, 0, nil, err)
}

// admit refuses all requests while the server stops, and always those that access refuses.
func (c *control) admit(w http.ResponseWriter, r *http.Request) error {
	if c.closing.Load() {
		return errStops
	}
	return c.access.admit(w, r)
}

// finish writes a line of the log, and the answer to a request or the error.
func (c *control) finish(
	w http.ResponseWriter, r *http.Request, status int, to answer, err error,
) {
	if err != nil {
		status, to = statusOf(err), refusal(err)
		if status == http.StatusServiceUnavailable && !errors.Is(err, errStops) {
			w.Header().Set("Retry-After", retryAfter)
		}
	}
	level := slog.LevelInfo
	if isGet(r.Method) {
		level = slog.LevelDebug
	}
	c.log.Log(r.Context(), level, "control", "method", r.Method, "path", r.URL.Path,
		"status", status)
	if err := to.send(w); err != nil {
		c.log.Debug("control: reply not written", "error", err)
	}
}

// isGet reports whether a request only reads.
func isGet(method string) bool { return method == http.MethodGet || method == http.MethodHead }
