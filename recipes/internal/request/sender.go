// Package request sends the requests of one operation of a recipe, and finds out their outcomes: it
// repeats them by a policy, tells a lost reply from a refusal, and a session from the next one.
// Nodes with one owner (Protected, NamedEphemeral), changes that are made once (OnceOnlyChange) and
// single watches (NodeWatch) are built on that.
package request

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"
)

// The client does not say whether a Conn was closed: requests on a closed Conn return
// zk.ErrConnectionClosed, as after a lost connection. But a closed Conn stays in
// zk.StateDisconnected for ever, and its requests return at once. An open Conn leaves that state at
// once for zk.StateConnecting, and holds requests back until it is connected again. An open Conn
// looks closed only if it is between two connections before and after each request of a series, and
// connects, authenticates and is cut off within a millisecond around each request. The pauses of a
// Backoff make the requests independent of the client's rhythm. Any reply, other error, other state
// or other session ends the series.
const (
	closedAfter = 6           // requests at least,
	closedFor   = time.Second // over that long at least
	atOnce      = time.Millisecond
)

// Sender sends the requests of one operation, one after the other, and counts failures in a row. It
// belongs to one goroutine.
type Sender struct {
	Ctx context.Context // ends the operation
	*row
}

// row is what the Sender of an operation and that of its clean-up share.
type row struct {
	Conn       Conn
	Opts       Options
	GiveUp     context.CancelCauseFunc // ends the operation with the retry policy; may be nil
	CleanUpErr error                   // the first clean-up that was refused; see Tidy

	backoff Backoff
	series  series
	path    string    // of the recipe, for observers
	waiting time.Time // since when it waits for other clients, if it is observed
}

// NewSender begins a row of requests of the recipe at path. Rows that fail together are not
// repeated together: each repetition is delayed by up to a millisecond, which depends on the kind
// of recipe and the start of the row. A clean-up is delayed by another half a millisecond. The
// delays spread the load on a server, and keep equal requests of one client from racing for the
// same answer.
func NewSender(ctx context.Context, conn Conn, opts Options, kind, path string) *Sender {
	r := &Sender{ctx, &row{Conn: conn, Opts: opts, path: path}}
	r.backoff.extra = extraDelay(kind, time.Now())
	return r
}

// Unbounded returns the Sender for clean-up, which no context and no policy ends.
func (r *Sender) Unbounded() *Sender { return &Sender{context.Background(), r.row} }

// Over returns the cause if the operation is to end, otherwise nil.
func (r *Sender) Over() error { return context.Cause(r.Ctx) }

// rowsApart bounds the extra delay of a row.
const rowsApart = time.Millisecond

// extraDelay returns the extra delay of a row. It uses no random number and no counter, so that it
// does not depend on the order of goroutines.
func extraDelay(kind string, begun time.Time) time.Duration {
	text := strconv.AppendInt([]byte(kind), begun.UnixNano(), 10)
	return time.Duration(crc32.ChecksumIEEE(text)) % rowsApart
}

// Again waits before the repetition of a request that failed with why. If the retry policy gives
// up, Again ends the operation. A context that cannot end belongs to clean-up, which no policy
// bounds.
func (r *Sender) Again(why error) error {
	policy := r.Opts.Retry
	if r.Ctx.Done() == nil {
		policy = nil
	}
	err := r.backoff.Wait(r.Ctx, policy, why)
	if err == nil {
		r.Opts.Tell(Event{Kind: EventRetry, Path: r.path, Err: why})
	}
	if r.GiveUp != nil && errors.Is(err, ErrGaveUp) {
		r.GiveUp(err)
	}
	return err
}

// series counts failures in a row that look like those of a closed Conn.
type series struct {
	failures int
	session  int64
	began    time.Time
}

// Do sends one request. It returns the request's error, or one that wraps ErrConnClosed when the
// Conn turns out to be closed.
func (r *Sender) Do(request func() error) error {
	session, idle, began := r.Conn.SessionID(), r.disconnected(), time.Now()
	err := request()
	if !Transient(err) {
		r.answeredWith(err)
		r.backoff.Reset()
	}
	if errors.Is(err, zk.ErrClosing) {
		return fmt.Errorf("%w: %w", ErrConnClosed, err)
	}
	dead := errors.Is(err, zk.ErrConnectionClosed) && time.Since(began) < atOnce &&
		idle && r.disconnected() && r.Conn.SessionID() == session
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

func (r *Sender) disconnected() bool { return r.Conn.State() == zk.StateDisconnected }

// Tidy removes nodes of an operation, and keeps the first error of a removal. It does not keep
// ErrConnClosed: with a closed Conn ephemeral nodes go anyway.
func (r *Sender) Tidy(remove func(r *Sender) error) error {
	err := remove(r)
	if r.CleanUpErr == nil && !errors.Is(err, ErrConnClosed) {
		r.CleanUpErr = err
	}
	return err
}

// Repeat sends a request until its answer is definite, and returns the answer. It is for requests
// that may safely be applied twice. It gives up when the operation is over or the Conn is closed.
// If the operation is over from the start, it sends nothing.
func (r *Sender) Repeat(request func() error) error {
	for {
		if err := r.Over(); err != nil {
			return err
		}
		err := r.Do(request)
		if !Transient(err) {
			return err
		}
		if err := r.Again(err); err != nil {
			return err
		}
	}
}
