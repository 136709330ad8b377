package recipes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// RevocableLock is a Lock that any client can ask the owner to release, by Revoke. The owner
// decides whether to release it.
//
// It guarantees: all that Lock does. If Revoke returns true, it has asked the client at the head of
// the queue, which owned the lock or was about to own it at some moment of the call. Revoked of
// that owner is closed as soon as its client learns of the Revoke, also if the Revoke came before
// Lock had returned or while the connection was down. Otherwise Revoked is closed only at the end
// of the hold.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock. A Revoke
// ends with the hold that it asked for. It does not reach later owners.
//
// It cannot guarantee that the owner reads Revoked, or still runs. Only the end of its session
// takes the lock away from it.
//
// Layout: that of Lock. Revoke sets the data of the owner's node to "__REVOKE__", as Curator does.
// All contenders for the path should be RevocableLocks: the owner of a Lock regards the change as a
// loss.
//
// Sources: Curator's Revoker and InterProcessMutex.makeRevocable, whose listener misses a request
// that comes before its watch is set.
type RevocableLock struct {
	handle
	inLine
	calls *task.Group // of Revoke

	asked      sync.Mutex
	revocation *revocation // of the latest hold
}

// revocation waits for a Revoke of a hold.
type revocation struct {
	hold    *hold.Hold
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
	l := &RevocableLock{calls: newTasks(conn, "owner of lock", path, opts)}
	l.core = hold.NewHandle(conn, path, l.calls.Opts, &revocableContender{l})
	l.inLine = inLine{l.core.Tasks, newLockLine(path, l.calls.Opts)}
	return l
}

// Revoked returns a channel that is closed when a client asks for the present hold, and at the
// latest when the hold has ended. To tell the two apart, read Lost: at the end of a hold it is
// closed before Revoked. Each hold has its own channel. Without a hold the channel is closed
// already.
func (l *RevocableLock) Revoked() <-chan struct{} {
	held := l.core.Current()
	l.asked.Lock()
	defer l.asked.Unlock()
	if held != nil && l.revocation.hold == held {
		return l.revocation.revoked
	}
	return hold.ClosedChannel()
}

// Revoke asks the present owner to give the lock up. The owner may be this handle itself. Revoke
// returns false if there is no owner, and does not wait for the release. If ctx is done, or the
// server refuses, while the outcome of a request is unknown, the error wraps ErrAmbiguous: the
// owner may have been asked. A second Revoke of the same hold has no further effect.
func (l *RevocableLock) Revoke(ctx context.Context) (bool, error) {
	return task.Call(ctx, l.calls, "ask", func(
		r *request.Sender, _ *task.Task[bool],
	) (bool, error) {
		doubtful := false
		asked, err := l.ask(r, &doubtful)
		return asked, request.AmbiguousIf(doubtful, err)
	})
}

// ask marks the node of the owner. If the owner has left meanwhile, it marks the node of the next
// owner. A mark of unknown outcome is gone together with the node.
func (l *RevocableLock) ask(r *request.Sender, doubtful *bool) (bool, error) {
	for {
		queue, err := hold.QueueIn(r, l.core.Tasks.Path, lockMarkers)
		if err != nil || len(queue) == 0 {
			return false, err
		}
		err = r.Repeat(func() error {
			owner := request.Join(l.core.Tasks.Path, queue[0].Name)
			_, err := r.Conn.Set(owner, []byte(revokeMark), -1)
			*doubtful = *doubtful || OutcomeOf(err) == Unknown
			return err
		})
		if !errors.Is(err, zk.ErrNoNode) {
			return err == nil, err
		}
	}
}

// Close is Close of the type Lock, and ends calls of Revoke, too. It gives the lock back without
// waiting for those calls.
func (l *RevocableLock) Close(ctx context.Context) error {
	l.calls.Cancel(ErrClosed)
	return errors.Join(l.core.Close(ctx), l.calls.Close(ctx))
}

// revocableContender is a contender with holds that notice a Revoke.
type revocableContender struct{ lock *RevocableLock }

func (c *revocableContender) Acquire(r *request.Sender, wait bool) (*hold.Hold, error) {
	return request.WithRestarts(r, func() (*hold.Hold, error) {
		held, err := c.lock.line.Acquire(r, wait)
		if held == nil {
			return nil, err
		}
		// A Revoke may have come before the watch was set.
		data, _, err := r.Get(held.Path)
		if errors.Is(err, zk.ErrNoNode) || err == nil && r.Conn.SessionID() != held.Session {
			err = request.ErrRestart
		}
		if err != nil {
			return nil, request.GiveBack(r, err, held.Release)
		}
		c.lock.listen(held, string(data) == revokeMark)
		return held, nil
	})
}

// listen begins to wait for a Revoke of the hold. From now on the watch of the hold fires for
// losses only.
func (l *RevocableLock) listen(held *hold.Hold, revoked bool) {
	e := &revocation{hold: held, revoked: make(chan struct{})}
	if revoked {
		e.close()
	}
	l.asked.Lock()
	l.revocation = e
	l.asked.Unlock()
	watch, loss := held.Watch, make(chan zk.Event, 1)
	held.Watch = loss
	l.core.Tasks.BeginCleanUp()
	go func() {
		defer l.core.Tasks.End()
		if ev, lost := e.await(l.core.Tasks, watch); lost {
			loss <- ev
		}
		<-held.Ended
		e.close()
	}()
}

// await watches the own node until the hold has ended or is lost. It closes revoked if the node is
// marked.
func (e *revocation) await(l *task.Group, watch <-chan zk.Event) (ev zk.Event, lost bool) {
	r := l.Sender(l.Ctx)
	r.Opts.Retry = request.WithoutEnd(r.Opts.Retry)
	for {
		select {
		case <-e.hold.Ended:
			return ev, false
		case ev = <-watch:
		}
		if ev.Err != nil || ev.Type == zk.EventNodeDeleted {
			return ev, true
		}
		// A hold that ends at this moment needs no read: an abandoned hold is given back at once.
		if request.Sleep(l.Ctx, time.Microsecond); e.hold.Over() {
			return ev, false
		}
		own, err := r.GetW(e.hold.Path)
		switch {
		case e.hold.Over():
			return ev, false
		case err != nil || own.Stat.EphemeralOwner != e.hold.Session:
			return ev, true
		case string(own.Data) == revokeMark:
			e.close()
		}
		watch = own.Watch
	}
}
