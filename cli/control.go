package cli

import (
	"context"
	"crypto/subtle"
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

	"github.com/zksim/zksim/fakezk/tree"
)

// controlServer is the control endpoint of a server and its namespaces: HTTP with JSON. GET / lists
// the requests. It is for this machine: it refuses requests that a browser makes for another site,
// and requests with a Host other than localhost or a loopback address.
type controlServer struct {
	*serving
	main     *space
	listener net.Listener
	http     *http.Server
	sites    *http.CrossOriginProtection
	anywhere bool            // any Host is accepted
	token    string          // that requests must bear, "" for none
	closing  atomic.Bool     // all requests are refused
	ended    context.Context // done when requests that wait have to end
	end      func()
	working  chan struct{} // room for the requests under way
	waiting  chan struct{} // room for those that wait, and for event streams
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
// an error unless anywhere is true.
func listenControl(addr string, anywhere bool, token string, s *serving) (*controlServer, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	if !anywhere && !isLoopback(l.Addr()) {
		err := fmt.Errorf("%s: other machines can reach it; "+
			"expected an address such as 127.0.0.1:0, or --control-anywhere as well", addr)
		return nil, errors.Join(err, l.Close())
	}
	c := &controlServer{
		serving: s, listener: l, sites: http.NewCrossOriginProtection(), anywhere: anywhere,
		token: token, main: &space{Server: s.server},
		working: make(chan struct{}, maxWorking), waiting: make(chan struct{}, maxWaiting),
	}
	c.ended, c.end = context.WithCancel(context.Background())
	if s.listeners != nil {
		c.main.addrs = addressesOf(s.listeners)
	}
	c.http = &http.Server{
		Handler:           http.HandlerFunc(c.answer),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       requestTimeout,
		// The errors of net/http come from clients, so they are logged as debug messages.
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

// close waits up to a second for requests under way; later ones get no reply. It may be called
// twice.
func (c *controlServer) close() error {
	c.closing.Store(true)
	c.end()
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

var errStops = failure(http.StatusServiceUnavailable, "the server stops")

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
	r.Body = http.MaxBytesReader(w, r.Body, tree.MaxBytes)
	value, leave, err := c.dispatch(w, r)
	defer leave()
	status := http.StatusOK
	if err != nil {
		status = statusOf(err)
		value = map[string]string{"error": err.Error()}
	} else if made, ok := value.(created); ok {
		status, value = http.StatusCreated, made.any
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

// admit refuses requests while the server stops, those of other sites, and those without the token.
// The page needs no token: it has no data, and a browser sends no token when it opens the page.
func (c *controlServer) admit(w http.ResponseWriter, r *http.Request) error {
	if c.closing.Load() {
		return errStops
	}
	if !c.anywhere && !isThisMachine(r.Host) {
		return failure(http.StatusForbidden, "host %q: expected localhost or an address "+
			"such as 127.0.0.1, or a server with --control-anywhere", r.Host)
	}
	if err := c.sites.Check(r); err != nil {
		return failure(http.StatusForbidden, "%v", err)
	}
	if c.token != "" && r.URL.Path != "/ui" && !hasToken(r, c.token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return failure(http.StatusUnauthorized,
			"expected the header Authorization: Bearer and the token of --control-token")
	}
	return nil
}

// hasToken reports whether a request has the token.
func hasToken(r *http.Request, token string) bool {
	kind, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(kind, "Bearer") &&
		subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// isThisMachine reports whether a Host header is localhost or a loopback address. If a site makes
// its name resolve to this machine, the requests of its pages have that name as Host.
func isThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// dispatch finds the endpoint of a request and calls it. leave is called after the reply.
func (c *controlServer) dispatch(
	w http.ResponseWriter, r *http.Request,
) (value any, leave func(), err error) {
	leave = func() {}
	if err := c.admit(w, r); err != nil {
		return nil, leave, err
	}
	e, req, err := c.find(w, r)
	if err != nil {
		return nil, leave, err
	}
	release, err := req.enter(w, e)
	if err != nil {
		return nil, leave, err
	}
	value, err = e.handle(req)
	if _, streams := value.(*eventStream); !streams {
		setDeadlines(w, time.Now().Add(requestTimeout))
	}
	return value, release, err
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

// created is the reply of a request that has made something new.
type created struct{ any }

func write(w http.ResponseWriter, status int, raw rawReply) error {
	w.Header().Set("Content-Type", raw.contentType)
	w.WriteHeader(status)
	_, err := w.Write(raw.body)
	return err
}
