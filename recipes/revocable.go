package recipes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// RevocableLock is a Lock with requests to release it: any client can ask the owner by Revoke. The
// owner decides whether it does.
//
// It guarantees: all that Lock does. Revoke that returns true has asked the client that owned the
// lock, or was about to, at some moment of the call. Revoked of an owner that was asked is closed
// as soon as its client learns of that, also if it was asked before Lock had returned or while its
// connection was down. It is closed for no other reason, except the end of the hold.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock. A question
// ends with the hold that it was put to: it asks no later owner.
//
// It cannot guarantee that an owner listens, or still runs. Only the end of its session takes the
// lock from it.
//
// Layout: that of Lock. Revoke sets the data of the owner's node to "__REVOKE__", as Curator does.
// All contenders for the path should be RevocableLocks: the owner of a Lock regards the change as a
// loss.
//
// Sources: Curator's Revoker and InterProcessMutex.makeRevocable; its listener misses a question
// that comes before its watch.
type RevocableLock struct {
	*handle
	inLine
	calls *lifecycle // of Revoke

	asked      sync.Mutex
	revocation *revocation // of the latest hold
}

// revocation waits for a Revoke of a hold.
type revocation struct {
	hold    *hold
	once    sync.Once
	revoked chan struct{}
}

// close closes revoked, once.
func (e *revocation) close() { e.once.Do(func() { close(e.revoked) }) }

// revokeMark is the data of an owner's node after a Revoke.
const revokeMark = "__REVOKE__"

// NewRevocableLock makes a handle for the lock at path, which is created when needed and must be
// used for this lock only. It sends nothing. The options that matter are the same as for NewLock.
func NewRevocableLock(conn Conn, path string, opts ...Option) *RevocableLock {
	l := &RevocableLock{calls: newLifecycle(conn, "owner of lock", path, opts)}
	l.handle = newHandle(conn, path, opts, &listening{l})
	l.inLine = inLine{l.lifecycle, newLockLine(path, opts)}
	return l
}

// Revoked returns a channel that is closed when the owner is asked to give the present hold up, and
// at the latest when the hold has ended; then Lost is closed before it, which tells the two apart.
// Each hold has its own channel. Without a hold the channel is closed already.
func (l *RevocableLock) Revoked() <-chan struct{} {
	held := l.current()
	l.asked.Lock()
	defer l.asked.Unlock()
	if held != nil && l.revocation.hold == held {
		return l.revocation.revoked
	}
	return closedChannel()
}

// Revoke asks the present owner, which may be this handle itself, to give the lock up. It returns
// false if there is none, and does not wait. If ctx is done, or the server refuses, while the
// outcome of a request is unknown, the error wraps ErrAmbiguous: the owner may have been asked.
// Asking twice is the same as asking once.
func (l *RevocableLock) Revoke(ctx context.Context) (bool, error) {
	return call(ctx, l.calls, "ask", func(
		ctx context.Context, r *requests, _ *task[bool],
	) (bool, error) {
		doubtful := false
		asked, err := l.ask(ctx, r, &doubtful)
		return asked, doubtOf(doubtful, err)
	})
}

// ask marks the node of the owner, and that of the next one if the owner has left meanwhile. If an
// owner has left that may have been asked by a request of unknown outcome, the question is gone
// with its node.
func (l *RevocableLock) ask(ctx context.Context, r *requests, doubtful *bool) (bool, error) {
	for {
		queue, err := r.queueIn(ctx, l.path, lockMarkers)
		if err != nil || len(queue) == 0 {
			return false, err
		}
		err = r.repeat(ctx, func() error {
			_, err := r.conn.Set(join(l.path, queue[0].name), []byte(revokeMark), -1)
			*doubtful = *doubtful || OutcomeOf(err) == Unknown
			return err
		})
		if !errors.Is(err, zk.ErrNoNode) {
			return err == nil, err
		}
	}
}

// Close is as Close of the type Lock; it ends calls of Revoke, too. The lock is given back without
// waiting for them.
func (l *RevocableLock) Close(ctx context.Context) error {
	l.calls.kill(ErrClosed)
	return errors.Join(l.handle.Close(ctx), l.calls.Close(ctx))
}

// listening is a contender with holds that notice a Revoke.
type listening struct{ lock *RevocableLock }

func (c *listening) acquire(ctx context.Context, r *requests, wait bool) (*hold, error) {
	return withRestarts(ctx, func() (*hold, error) {
		held, err := c.lock.line.acquire(ctx, r, wait)
		if held == nil {
			return nil, err
		}
		// It may have been asked before it was watched.
		data, _, err := r.get(ctx, held.path)
		if errors.Is(err, zk.ErrNoNode) || err == nil && r.conn.SessionID() != held.session {
			err = errRestart
		}
		if err != nil {
			return nil, giveBack(r, err, held.release)
		}
		c.lock.listen(held, string(data) == revokeMark)
		return held, nil
	})
}

// listen begins to wait for a Revoke of the hold. The watch of the hold fires from now on for
// losses alone.
func (l *RevocableLock) listen(held *hold, revoked bool) {
	e := &revocation{hold: held, revoked: make(chan struct{})}
	if revoked {
		e.close()
	}
	l.asked.Lock()
	l.revocation = e
	l.asked.Unlock()
	watch, loss := held.watch, make(chan zk.Event, 1)
	held.watch = loss
	l.beginCleanUp()
	go func() {
		defer l.end()
		if ev, lost := e.await(l.lifecycle, watch); lost {
			loss <- ev
		}
		<-held.ended
		e.close()
	}()
}

// await watches the own node until the hold has ended, or lost is true.
func (e *revocation) await(l *lifecycle, watch <-chan zk.Event) (ev zk.Event, lost bool) {
	r := l.requests()
	r.opts.retry = withoutEnd(r.opts.retry)
	for {
		select {
		case <-e.hold.ended:
			return ev, false
		case ev = <-watch:
		}
		if ev.Err != nil || ev.Type == zk.EventNodeDeleted {
			return ev, true
		}
		// A hold that ends at this very moment needs no look: a caller that has left gives it back
		// at once.
		if sleep(l.life, time.Microsecond); e.hold.over() {
			return ev, false
		}
		own, err := r.getW(l.life, e.hold.path)
		switch {
		case e.hold.over():
			return ev, false
		case err != nil || own.stat.EphemeralOwner != e.hold.session:
			return ev, true
		case string(own.data) == revokeMark:
			e.close()
		}
		watch = own.watch
	}
}
