package recipes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// The client does not say whether a Conn was closed: requests on a closed Conn return
// zk.ErrConnectionClosed, as after a lost connection. But a closed Conn stays in
// zk.StateDisconnected for ever, and its requests return at once. An open Conn leaves that state at
// once for zk.StateConnecting, and holds requests back until it is connected again. An open Conn
// looks closed only if it is between two connections before and after each request of a series, and
// connects, authenticates and is cut off within a millisecond around each request. The pauses of
// backoff make the requests independent of the client's rhythm. Any reply, other error, other state
// or other session ends the series.
const (
	closedAfter = 6           // requests at least,
	closedFor   = time.Second // over that long at least
	atOnce      = time.Millisecond
)

// requests sends the requests of one operation, one after the other, and counts failures in a row.
// It belongs to one goroutine.
type requests struct {
	conn       Conn
	opts       options
	giveUp     context.CancelCauseFunc // ends the operation with the retry policy; may be nil
	backoff    backoff
	series     series
	cleanUpErr error     // the first clean-up that was refused; see tidy
	path       string    // of the recipe, for observers
	waiting    time.Time // since when it waits for other clients, if it is observed
}

// newRequests begins an operation of a recipe with these options.
func newRequests(conn Conn, opts options) *requests { return &requests{conn: conn, opts: opts} }

// again waits before the repetition of a request that failed with why. If the retry policy gives
// up, again ends the operation. A context that cannot end belongs to clean-up, which no policy
// bounds.
func (r *requests) again(ctx context.Context, why error) error {
	policy := r.opts.retry
	if ctx.Done() == nil {
		policy = nil
	}
	err := r.backoff.wait(ctx, policy, why)
	if err == nil {
		r.opts.tell(Event{Kind: EventRetry, Path: r.path, Err: why})
	}
	if r.giveUp != nil && errors.Is(err, ErrGaveUp) {
		r.giveUp(err)
	}
	return err
}

// series counts failures in a row that look like those of a closed Conn.
type series struct {
	failures int
	session  int64
	began    time.Time
}

// do sends one request. It returns the request's error, or one that wraps ErrConnClosed when the
// Conn turns out to be closed.
func (r *requests) do(request func() error) error {
	session, idle, began := r.conn.SessionID(), r.disconnected(), time.Now()
	err := request()
	if !transient(err) {
		r.answeredWith(err)
		r.backoff.reset()
	}
	if errors.Is(err, zk.ErrClosing) {
		return fmt.Errorf("%w: %w", ErrConnClosed, err)
	}
	dead := errors.Is(err, zk.ErrConnectionClosed) && time.Since(began) < atOnce &&
		idle && r.disconnected() && r.conn.SessionID() == session
	if !dead {
		r.series = series{}
		return err
	}
	if r.series.failures == 0 || r.series.session != session {
		r.series = series{session: session, began: began}
	}
	r.series.failures++
	if r.series.failures >= closedAfter && time.Since(r.series.began) >= closedFor {
		return fmt.Errorf("%w: %w", ErrConnClosed, err)
	}
	return err
}

func (r *requests) disconnected() bool { return r.conn.State() == zk.StateDisconnected }

// tidy removes nodes of an operation, and keeps the first error of a removal. It does not keep
// ErrConnClosed: with a closed Conn ephemeral nodes go anyway.
func (r *requests) tidy(remove func(r *requests) error) error {
	err := remove(r)
	if r.cleanUpErr == nil && !errors.Is(err, ErrConnClosed) {
		r.cleanUpErr = err
	}
	return err
}

// repeat sends a request until its answer is definite, and returns the answer. It is for requests
// that may safely be applied twice. It gives up when ctx is done or the Conn is closed. If ctx is
// done from the start, it sends nothing.
func (r *requests) repeat(ctx context.Context, request func() error) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := r.do(request)
		if !transient(err) {
			return err
		}
		if err := r.again(ctx, err); err != nil {
			return err
		}
	}
}
