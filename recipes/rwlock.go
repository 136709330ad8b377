package recipes

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
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
	*readWrite
	line *turnstile // as others see it
}

// The markers of the two kinds of nodes.
const (
	readMarker  = "read-"
	writeMarker = "write-"
)

// NewRWLock makes a handle for the read-write lock at path, which is created when needed and must
// be used for this lock only. It sends nothing. The options that matter are ACL, Data,
// SessionTimeout, RecheckEvery, Retry and Containers.
func NewRWLock(conn Conn, path string, opts ...Option) *RWLock {
	queue := turnstile{
		dir: path, markers: []string{readMarker, writeMarker}, opts: newOptions(opts),
	}
	readers, writers := queue, queue
	readers.kind, readers.ahead = readMarker, lastWriter
	writers.kind, writers.ahead = writeMarker, predecessor
	write := newHandle(conn, path, opts, &writers)
	queue.ahead = eitherRule
	return &RWLock{
		newReadWrite(write, newHandle(conn, path, opts, &reader{queue: &readers, write: write})),
		&queue,
	}
}

// Participants returns the owners of the lock, readers or one writer, and the waiters, in the order
// of their nodes. An owner that writes and reads has two nodes. The queue is listed at some moment
// during the call; members that leave before their node is read are left out. An owner may not know
// yet that it owns the lock, or that it has lost it. Participants waits for the connection.
func (l *RWLock) Participants(ctx context.Context) (owners, waiters []Member, err error) {
	return l.write.participants(ctx, l.line.participants)
}

// eitherRule applies lastWriter to read nodes, and predecessor to write nodes. An owner that writes
// and reads has two nodes of the same number, which do not wait for each other.
func eitherRule(queue []numbered, own int) string {
	first := own
	for first > 0 && queue[first-1].seq == queue[own].seq {
		first--
	}
	if queue[own].marker == readMarker {
		return lastWriter(queue, first)
	}
	return predecessor(queue, first)
}

// lastWriter is the rule of readers: each node waits for the youngest writer ahead.
func lastWriter(queue []numbered, own int) string {
	for i := own - 1; i >= 0; i-- {
		if queue[i].marker == writeMarker {
			return queue[i].name
		}
	}
	return ""
}

// reader competes for the read lock: in the queue, or beside the write lock of the same owner.
type reader struct {
	queue *turnstile
	write *handle
}

func (c *reader) acquire(ctx context.Context, r *requests, wait bool) (*hold, error) {
	w := c.write.current()
	switch {
	case w == nil:
		return c.queue.acquire(ctx, r, wait)
	case w.over():
		return nil, ErrLost
	}
	return c.lockUnderWrite(ctx, r, w)
}

// lockUnderWrite acquires the read lock at the place of the owner's write lock w.
func (c *reader) lockUnderWrite(ctx context.Context, r *requests, w *hold) (*hold, error) {
	guid, err := newGUID()
	if err != nil {
		return nil, err
	}
	seq, ok := Sequence(w.path, writeMarker)
	if !ok {
		return nil, fmt.Errorf("no sequence number in %s", w.path)
	}
	name := fmt.Sprintf("%s%s-%s%010d", protectedPrefix, guid, readMarker, seq)
	own := &dependentNode{path: join(c.queue.dir, name), of: w}
	held, err := own.create(ctx, r, c.queue.opts.data)
	if held != nil {
		return held, nil
	}
	if errors.Is(err, errRestart) {
		err = ErrLost
	}
	return nil, giveBack(r, err, own.remove)
}

// dependentNode is an ephemeral node that is created only while the node of another hold exists.
// Its name is used once.
type dependentNode struct {
	path string
	of   *hold
	made bool // it may be on the server
}

// create makes the node and returns its hold. That hold continues the other one and has its token.
// The request may be repeated: a repetition finds the node if the first request was applied.
func (c *dependentNode) create(ctx context.Context, r *requests, data []byte) (*hold, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		failed, err := r.multi(
			&zk.CheckVersionRequest{Path: c.of.path, Version: -1},
			&zk.CreateRequest{Path: c.path, Data: data, Acl: r.opts.acl, Flags: zk.FlagEphemeral},
		)
		c.made = c.made || OutcomeOf(err) != NotApplied
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists) && failed == 1:
			return c.confirm(ctx, r)
		case errors.Is(err, zk.ErrNoNode):
			return nil, errRestart
		case transient(err):
			err = r.again(ctx, err)
		}
		if err != nil {
			return nil, err
		}
	}
}

// confirm reads the node, which must belong to the session of the other hold.
func (c *dependentNode) confirm(ctx context.Context, r *requests) (*hold, error) {
	held, err := confirm(ctx, r, c.path, c.remove)
	switch {
	case err != nil:
		return nil, err
	case held.session != c.of.session:
		return nil, errRestart
	}
	held.token = c.of.token
	return held, nil
}

func (c *dependentNode) remove(r *requests) error {
	if !c.made {
		return nil
	}
	return r.remove(c.path)
}
