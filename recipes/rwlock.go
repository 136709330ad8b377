package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
)

// RWLock is a fair read-write lock: many readers or one writer. One RWLock is one owner for all
// goroutines. Use one RWLock for each contender. The read lock and the write lock are re-entrant:
// each is given back by the last of as many unlocks.
//
// It guarantees:
//
//   - Exclusion at the server: a writer owns the lock alone, and may read, too. As with Lock, the
//     own node is read once more before a lock is granted, and must belong to the present session.
//   - Fairness: no contender overtakes a waiter with which it cannot share the lock. Readers do not
//     overtake a waiting writer, so neither readers nor writers starve.
//   - Downgrade: while the write lock is held RLock does not wait, and after Unlock the read lock
//     stays held. No other writer gets the lock in between, not even one that waits already.
//   - No upgrade: Lock returns ErrUpgrade while the read lock is held. Otherwise two readers could
//     wait for each other for ever.
//   - A release wakes the next writer, or the next readers together.
//   - Token and RToken grow: the token of a writer is greater than all tokens before it, and the
//     token of a reader is greater than those of all writers before it. A writer that becomes a
//     reader keeps its token.
//   - Nothing is left behind, as with Lock.
//
// When a connection is lost, a session ends or a context is done it behaves like Lock, and it has
// the limits of Lock. After a loss Lock and RLock return ErrLost until each level of the lost hold
// is unlocked. Only one goroutine may wait through one RWLock at a time; another gets ErrHeld.
//
// Layout: <path>/_c_<guid>-read-<sequence> and -write-<sequence>, ephemeral; path itself is
// persistent. A reader waits for the youngest writer before it, a writer for the node before it.
// The read node of a writer has the number of its write node, and so keeps the place when the write
// node goes. One transaction checks the write node and creates the read node. Other children are
// ignored.
//
// Sources: ZooKeeper guide, "Recipes and Solutions: Shared Locks"; Curator's
// InterProcessReadWriteLock, whose downgrade let a waiting writer in.
type RWLock struct {
	readWrite
	inLine // as others see it
}

// NewRWLock makes a handle for the read-write lock at path, which is created when needed and must
// be used for this lock only. It sends nothing. The options that matter are ACL, Data,
// SessionTimeout, RecheckEvery, Retry and Containers.
func NewRWLock(conn Conn, path string, opts ...Option) *RWLock {
	queue := hold.Turnstile{
		Dir: path, Markers: []string{hold.ReadMarker, hold.WriteMarker},
		Opts: request.NewOptions(opts),
	}
	readers, writers := queue, queue
	readers.Kind, readers.Ahead = hold.ReadMarker, lastWriter
	writers.Kind, writers.Ahead = hold.WriteMarker, hold.Predecessor
	write := hold.NewHandle(conn, path, queue.Opts, &writers)
	queue.Ahead = eitherRule
	return &RWLock{
		readWrite{hold.NewReadWrite(write, hold.NewHandle(
			conn, path, queue.Opts, &reader{queue: &readers, write: write},
		))},
		inLine{write.Tasks, &queue},
	}
}

// Participants returns the owners of the lock, readers or one writer, and the waiters, in the order
// of their nodes. An owner that writes and reads has two nodes. The queue is listed at some moment
// during the call; members that leave before their node is read are left out. An owner may not know
// yet that it owns the lock, or that it has lost it. Participants waits for the connection.
func (l *RWLock) Participants(ctx context.Context) (owners, waiters []Member, err error) {
	return l.inLine.Participants(ctx)
}

// eitherRule applies lastWriter to read nodes, and predecessor to write nodes. An owner that writes
// and reads has two nodes of the same number, which do not wait for each other.
func eitherRule(queue []request.Numbered, own int) string {
	first := own
	for first > 0 && queue[first-1].Seq == queue[own].Seq {
		first--
	}
	if queue[own].Marker == hold.ReadMarker {
		return lastWriter(queue, first)
	}
	return hold.Predecessor(queue, first)
}

// lastWriter is the rule of readers: each node waits for the youngest writer ahead.
func lastWriter(queue []request.Numbered, own int) string {
	for i := own - 1; i >= 0; i-- {
		if queue[i].Marker == hold.WriteMarker {
			return queue[i].Name
		}
	}
	return ""
}

// reader competes for the read lock: in the queue, or beside the write lock of the same owner.
type reader struct {
	queue *hold.Turnstile
	write *hold.Handle
}

func (c *reader) Acquire(r *request.Sender, wait bool) (*hold.Hold, error) {
	w := c.write.Current()
	switch {
	case w == nil:
		return c.queue.Acquire(r, wait)
	case w.Over():
		return nil, ErrLost
	}
	return c.lockUnderWrite(r, w)
}

// lockUnderWrite acquires the read lock at the place of the owner's write lock w.
func (c *reader) lockUnderWrite(r *request.Sender, w *hold.Hold) (*hold.Hold, error) {
	guid, err := request.NewGUID()
	if err != nil {
		return nil, err
	}
	seq, ok := Sequence(w.Path, hold.WriteMarker)
	if !ok {
		return nil, fmt.Errorf("no sequence number in %s", w.Path)
	}
	name := fmt.Sprintf("%s%s-%s%010d", request.ProtectedPrefix, guid, hold.ReadMarker, seq)
	own := &dependentNode{path: request.Join(c.queue.Dir, name), of: w}
	held, err := own.create(r, c.queue.Opts.Data)
	if held != nil {
		return held, nil
	}
	if errors.Is(err, request.ErrRestart) {
		err = ErrLost
	}
	return nil, request.GiveBack(r, err, own.remove)
}

// dependentNode is an ephemeral node that is created only while the node of another hold exists.
// Its name is used once.
type dependentNode struct {
	path string
	of   *hold.Hold
	made bool // it may be on the server
}

// create makes the node and returns its hold. That hold continues the other one and has its token.
// The request may be repeated: a repetition finds the node if the first request was applied.
func (c *dependentNode) create(r *request.Sender, data []byte) (*hold.Hold, error) {
	for {
		if err := r.Over(); err != nil {
			return nil, err
		}
		failed, err := r.Multi(
			&zk.CheckVersionRequest{Path: c.of.Path, Version: -1},
			&zk.CreateRequest{Path: c.path, Data: data, Acl: r.Opts.ACL, Flags: zk.FlagEphemeral},
		)
		c.made = c.made || OutcomeOf(err) != NotApplied
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists) && failed == 1:
			return c.confirm(r)
		case errors.Is(err, zk.ErrNoNode):
			return nil, request.ErrRestart
		case request.Transient(err):
			err = r.Again(err)
		}
		if err != nil {
			return nil, err
		}
	}
}

// confirm reads the node, which must belong to the session of the other hold.
func (c *dependentNode) confirm(r *request.Sender) (*hold.Hold, error) {
	held, err := hold.Confirm(r, c.path, c.remove)
	switch {
	case err != nil:
		return nil, err
	case held.Session != c.of.Session:
		return nil, request.ErrRestart
	}
	held.Token = c.of.Token
	return held, nil
}

func (c *dependentNode) remove(r *request.Sender) error {
	if !c.made {
		return nil
	}
	return r.Remove(c.path)
}

// ErrUpgrade is returned by Lock of a read-write lock while the same handle holds the read lock.
// Unlock it first, and repeat your reads.
var ErrUpgrade = hold.ErrUpgrade

// readWrite is embedded by RWLock.
type readWrite struct{ core *hold.ReadWrite }

// Lock waits until the write lock is owned, ctx is done, or the server refuses. It is Lock of the
// type Lock, but re-entrant: while the write lock is held it returns at once and sends no request.
// It returns ErrUpgrade if the read lock is held and the write lock is not, ErrLost if the hold was
// lost, and ErrHeld if another goroutine is acquiring a lock through this handle.
func (l *readWrite) Lock(ctx context.Context) error { return l.core.Lock(ctx) }

// TryLock is Lock without the wait for other owners: it returns false if there are other owners. It
// does wait for the connection.
func (l *readWrite) TryLock(ctx context.Context) (bool, error) { return l.core.TryLock(ctx) }

// Unlock leaves one level of the write lock. Leaving the last level gives the write lock back, as
// Unlock of the type Lock does. A read lock stays held. The calls of Unlock and RUnlock may come in
// any order.
func (l *readWrite) Unlock(ctx context.Context) error { return l.core.Write.Unlock(ctx) }

// RLock is Lock for the read lock. While this handle holds the write lock, RLock does not wait for
// other owners.
func (l *readWrite) RLock(ctx context.Context) error { return l.core.RLock(ctx) }

// TryRLock is TryLock for the read lock.
func (l *readWrite) TryRLock(ctx context.Context) (bool, error) { return l.core.TryRLock(ctx) }

// RUnlock is Unlock for the read lock.
func (l *readWrite) RUnlock(ctx context.Context) error { return l.core.Read.Unlock(ctx) }

// Do is Do of the type Lock for the write lock.
func (l *readWrite) Do(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.core.Do(ctx, work)
}

// RDo is Do for the read lock.
func (l *readWrite) RDo(
	ctx context.Context, work func(ctx context.Context, token int64) error,
) error {
	return l.core.RDo(ctx, work)
}

// Lost returns a channel that is closed when the hold of the write lock has ended, like Lost of the
// type Lock.
func (l *readWrite) Lost() <-chan struct{} { return l.core.Write.Lost() }

// RLost is Lost for the read lock.
func (l *readWrite) RLost() <-chan struct{} { return l.core.Read.Lost() }

// Token returns the fencing token of the write lock, or 0 if it is not held.
func (l *readWrite) Token() int64 { return l.core.Write.Token() }

// RToken returns the fencing token of the read lock, or 0 if it is not held. The resource should
// refuse it after a greater token of a writer.
func (l *readWrite) RToken() int64 { return l.core.Read.Token() }

// Path returns the path of the node of the write lock, or "" if it is not held.
func (l *readWrite) Path() string { return l.core.Write.Path() }

// RPath returns the path of the node of the read lock, or "" if it is not held.
func (l *readWrite) RPath() string { return l.core.Read.Path() }

// String returns the states of both locks, for logs.
func (l *readWrite) String() string { return l.core.String() }

// Close ends an acquisition under way, gives both locks back with all their levels, and waits as
// Close of the type Lock does. Later calls that would acquire something return ErrClosed. It leaves
// the Conn open.
func (l *readWrite) Close(ctx context.Context) error { return l.core.Close(ctx) }
