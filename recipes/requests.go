package recipes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// The client does not say whether a Conn was closed: its requests return
// zk.ErrConnectionClosed then, too. But the loop of the client that reconnects
// ends with Close, in zk.StateDisconnected for ever, and every request is
// answered at once. An open Conn leaves that state at once for
// zk.StateConnecting, and holds requests back until it is connected again. To
// look the same it would have to be seen just between two connections before
// and after each of the requests of a series, and to connect, authenticate and
// be cut off within a millisecond around each. The pauses of backoff, which
// the client knows nothing of, make the looks independent of its rhythm. Any
// reply, other error, other state or other session ends the series.
const (
	closedAfter = 6           // requests at least,
	closedFor   = time.Second // over that long at least
	atOnce      = time.Millisecond
)

// requests sends the requests of one operation, one after the other, and keeps
// count of failures between them. It belongs to one goroutine.
type requests struct {
	conn    Conn
	backoff backoff
	series  series
	trouble error // the first clean-up that was refused; see tidy
}

// series is a row of failures that look like a closed Conn.
type series struct {
	failures int
	session  int64
	began    time.Time
}

// do sends one request. It returns the request's error, or one that wraps
// ErrConnClosed when the Conn turns out to be closed.
func (r *requests) do(request func() error) error {
	session, idle, began := r.conn.SessionID(), r.disconnected(), time.Now()
	err := request()
	if !transient(err) {
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

// tidy removes what an operation has made, and keeps the error by which the
// server refuses that. With a closed Conn ephemeral nodes go anyway.
func (r *requests) tidy(remove func(r *requests) error) error {
	err := remove(r)
	if r.trouble == nil && !errors.Is(err, ErrConnClosed) {
		r.trouble = err
	}
	return err
}

// repeat sends a request until its answer is definite and returns that. It is
// for requests that may safely be applied twice. It gives up when ctx is done,
// without a request if it was from the start, or the Conn is closed.
func (r *requests) repeat(ctx context.Context, request func() error) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := r.do(request)
		if !transient(err) {
			return err
		}
		if err := r.backoff.wait(ctx); err != nil {
			return err
		}
	}
}

// children lists the names of path's children, in no order.
func (r *requests) children(ctx context.Context, path string) ([]string, error) {
	var names []string
	err := r.repeat(ctx, func() (err error) {
		names, _, err = r.conn.Children(path)
		return err
	})
	return names, err
}

// childrenW lists the names of path's children and watches for changes.
func (r *requests) childrenW(ctx context.Context, path string) ([]string, <-chan zk.Event, error) {
	var names []string
	var watch <-chan zk.Event
	err := r.repeat(ctx, func() (err error) {
		names, _, watch, err = r.conn.ChildrenW(path)
		return err
	})
	return names, watch, err
}

// get reads the node at path.
func (r *requests) get(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	var data []byte
	var stat *zk.Stat
	err := r.repeat(ctx, func() (err error) {
		data, stat, err = r.conn.Get(path)
		return err
	})
	return data, stat, err
}

// node is a node as read together with a watch on it.
type node struct {
	data  []byte
	stat  *zk.Stat
	watch <-chan zk.Event
}

// getW reads the node at path and watches it. Unlike an existence watch it
// leaves nothing behind in the client when the node is missing.
func (r *requests) getW(ctx context.Context, path string) (node, error) {
	var n node
	err := r.repeat(ctx, func() (err error) {
		n.data, n.stat, n.watch, err = r.conn.GetW(path)
		return err
	})
	return n, err
}

// sync makes the next read see everything that was committed before it. A
// server that the client has just reconnected to may lag behind.
func (r *requests) sync(ctx context.Context, path string) error {
	return r.repeat(ctx, func() error {
		_, err := r.conn.Sync(path)
		return err
	})
}

// remove deletes the node at path, whatever its version, and gives up only
// when the server refuses or the Conn is closed. It is for names that are
// never used again, so that a late delete cannot hit somebody else.
func (r *requests) remove(path string) error {
	err := r.repeat(context.Background(), func() error { return r.conn.Delete(path, -1) })
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return fmt.Errorf("delete %s: %w", path, err)
	}
	return nil
}

// multi sends ops as one transaction, once. Of a refused transaction it
// returns the position of the operation that failed, otherwise -1.
func (r *requests) multi(ops ...interface{}) (failed int, err error) {
	err = r.do(func() (err error) {
		failed, err = r.transaction(ops)
		return err
	})
	return failed, err
}

// repeatMulti is multi until the answer is definite, for as long as that takes.
func (r *requests) repeatMulti(ops ...interface{}) (failed int, err error) {
	err = r.repeat(context.Background(), func() (err error) {
		failed, err = r.transaction(ops)
		return err
	})
	return failed, err
}

func (r *requests) transaction(ops []interface{}) (failed int, err error) {
	results, err := r.conn.Multi(ops...)
	if err == nil {
		return -1, nil
	}
	for i, result := range results {
		if result.Error != nil {
			return i, err
		}
	}
	return -1, err
}
