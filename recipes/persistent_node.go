package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"
)

// ErrOccupied says that a node which is to be kept exists and belongs to another session, perhaps
// an earlier one of this process that has not expired yet.
var ErrOccupied = errors.New("the node belongs to another session")

// PersistentNode keeps an ephemeral node of a fixed name in existence for as long as this process
// wants it, through lost connections and ends of sessions: the presence of a member, a worker, an
// instance of a service. GroupMember and Registration are made of it.
//
// It guarantees:
//
//   - From the first Keep until Close the node is made again whenever it is missing: after the end
//     of the session, and when another client deletes it. It has the data of the last Set, also
//     after another client has changed it.
//   - A node of another session is left alone: before each deletion and each change of data the
//     owner is read, and the request names the version that was read. When that node is gone, the
//     own one is made: a process that is restarted under its old name takes the name over when its
//     old session has expired.
//   - When Close has returned nil, nothing of it is left or comes back, except for the node of an
//     expired session that the server has not removed yet.
//
// When the connection is lost nothing happens: the node lives as long as the session. When the
// session ends the node is gone, and comes back as soon as the client has a new one. A done context
// ends only the waiting for the server.
//
// It cannot guarantee that the node is there at any given moment, as between the expiry at the
// server and the next session it is not. Two PersistentNodes of one path on one session mistake
// each other's node for their own. And a request can name a node only by its path and version: if
// the own node is deleted by another client while a request is on its way, and a third makes its
// own node with the same version before it arrives, then that node is deleted or gets other data. A
// PersistentNode in its place repairs that. If the connection was lost just after the owner was
// read, a request is on its way until the client is connected again, perhaps in a new session.
//
// Layout: the node itself, ephemeral. The options that matter are ACL, RecheckEvery, Retry (for the
// pauses) and Containers.
//
// Sources: Curator's PersistentNode; CURATOR-97, -154 and -258 (the node does not come back),
// CURATOR-164 (it comes back after it was unregistered), Dubbo issue 5125 and KAFKA-1387 (the
// process mistakes the node of its own old session for the new one, and loses it with that
// session).
type PersistentNode struct {
	*lifecycle
	loop  *reconciler
	begin func() error
	own   *fixed

	mu     sync.Mutex
	wanted content
	state  posted[presence]
}

// content is the wanted data of a node; change counts the Sets.
type content struct {
	data   []byte
	change int
}

// presence is the result of the latest look.
type presence struct {
	session  int64 // of the own node; 0: it is not there
	change   int   // the Set that its data comes from
	err      error // the reason why it is not there
	doubtful bool  // it may exist nevertheless, or have other data
}

// NewPersistentNode makes a handle for a node at path with data. It sends nothing; Keep does.
func NewPersistentNode(conn Conn, path string, data []byte, opts ...Option) *PersistentNode {
	l := newLifecycle(conn, "persistent node", path, opts)
	n := &PersistentNode{lifecycle: l, loop: newReconciler(l), own: &fixed{path: path}}
	n.wanted.data = bytes.Clone(data)
	n.begin = sync.OnceValue(n.loop.start)
	n.loop.step = n.step
	n.loop.last = n.own.remove
	return n
}

// Keep begins to keep the node, unless that has begun, and waits until it is there, in the present
// session and with the data last Set. An error ends only the waiting: the node is kept all the
// same, until Close; but if ctx was done from the start, nothing has begun.
//
// If the server refuses the node, the refusal is returned at once; if another session has the node
// and ctx is done, the error wraps ErrOccupied. Neither wraps ErrAmbiguous if it is known that this
// process has not made the node so far. After any other error it may be there.
func (n *PersistentNode) Keep(ctx context.Context) error {
	return act(ctx, n.lifecycle, "keep", func(ctx context.Context, _ *requests) error {
		return n.arrival(ctx, n.content().change)
	})
}

// Set changes the data of the node, and waits as Keep does until the server has it. After an error
// the new data is wanted all the same, unless ctx was done from the start.
func (n *PersistentNode) Set(ctx context.Context, data []byte) error {
	return act(ctx, n.lifecycle, "set data of", func(ctx context.Context, _ *requests) error {
		n.mu.Lock()
		n.wanted = content{bytes.Clone(data), n.wanted.change + 1}
		change := n.wanted.change
		n.mu.Unlock()
		n.loop.nudge(n.path)
		return n.arrival(ctx, change)
	})
}

// Present reports whether the node was there at the last look, in the session that the client has
// now. It sends nothing.
func (n *PersistentNode) Present() bool {
	p, _ := n.state.read()
	return p.session != 0 && p.session == n.conn.SessionID()
}

// Err returns the error of the latest attempt to keep the node with its data: ErrOccupied or the
// server's refusal. It is nil if the node exists, or no obstacle is known. The attempts go on.
func (n *PersistentNode) Err() error {
	p, _ := n.state.read()
	return n.explain("keep", ignore(p.err, errRestart))
}

// Close ends the keeping and deletes the node. It returns when the server has confirmed that, or
// ctx is done; in the latter case the clean-up goes on. It leaves the Conn open.
func (n *PersistentNode) Close(ctx context.Context) error { return n.lifecycle.Close(ctx) }

// content returns the wanted data of the node.
func (n *PersistentNode) content() content {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wanted
}

// arrival begins the keeping and waits until the node is there, with the data of a change or a
// later one. When the waiting ends before that, an attempt may be under way, unless the latest one
// has posted an error.
func (n *PersistentNode) arrival(ctx context.Context, change int) error {
	if err := n.begin(); err != nil {
		return err
	}
	p, err := n.state.await(ctx, func(p presence) (bool, error) {
		if errors.Is(p.err, ErrConnClosed) {
			return false, p.err // the loop has ended, whatever is wanted since
		}
		if p.change < change || errors.Is(p.err, ErrOccupied) || errors.Is(p.err, errRestart) {
			return false, nil
		}
		return p.session != 0 && p.session == n.conn.SessionID(), p.err
	})
	known := errors.Is(err, p.err) // nil is no reason
	if err != nil && errors.Is(p.err, ErrOccupied) {
		err, known = fmt.Errorf("%w: %w", err, p.err), true
	}
	return doubtOf(!known || p.doubtful, err)
}

// step makes the node as it should be, and posts the result.
func (n *PersistentNode) step(ctx context.Context, r *requests, _ due) error {
	want := n.content()
	session, err := n.maintain(ctx, r, want)
	occupied := errors.Is(err, ErrOccupied)
	if ctx.Err() == nil {
		n.state.post(presence{session, want.change, err, n.own.doubtful && !occupied})
	}
	if occupied {
		return nil // its watch is set
	}
	return err
}

// maintain looks, and repairs, until the node is there, watched, and as wanted. It returns the
// session that owns it. A server that is behind may show a node that another client has deleted:
// therefore a Set that finds its data there already asks for a sync before it says so.
func (n *PersistentNode) maintain(ctx context.Context, r *requests, want content) (int64, error) {
	data := want.data
	before, _ := n.state.read()
	certain := before.change == want.change && before.err == nil
	for ctx.Err() == nil {
		stored, stat, err := n.read(ctx, r)
		session := n.conn.SessionID()
		switch {
		case errors.Is(err, zk.ErrNoNode):
			n.unblock()
			certain = true
			err = ignore(n.own.create(ctx, r, data), zk.ErrNodeExists)
		case err != nil:
		case stat.EphemeralOwner != session:
			return 0, fmt.Errorf("%w: %s is owned by 0x%x", ErrOccupied, n.path,
				stat.EphemeralOwner)
		case bytes.Equal(stored, data) && certain:
			return session, nil
		case bytes.Equal(stored, data):
			certain, err = true, r.sync(ctx, n.path)
		default:
			certain = true
			err = n.rewrite(ctx, r, data, stat.Version)
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, context.Cause(ctx)
}

// unblock clears ErrOccupied before a request that leaves the outcome open for a while.
func (n *PersistentNode) unblock() {
	if p, _ := n.state.read(); errors.Is(p.err, ErrOccupied) {
		n.state.post(presence{err: errRestart})
	}
}

// read reads the node, and sets a watch on it, whether it is there or not, unless one is set. It
// checks existence before it reads. No view on the same Conn does so: two equal requests at the
// same moment could not be told apart, and a simulated run would not repeat.
func (n *PersistentNode) read(ctx context.Context, r *requests) ([]byte, *zk.Stat, error) {
	if !n.loop.watching(n.path, watchData) && !n.loop.watching(n.path, watchAbsence) {
		stat, watch, err := r.existsW(ctx, n.path)
		switch {
		case err != nil:
			return nil, nil, err
		case stat == nil:
			n.loop.add(n.path, watchAbsence, watch)
			return nil, nil, zk.ErrNoNode
		}
		n.loop.add(n.path, watchData, watch)
	}
	return r.get(ctx, n.path)
}

// rewrite sets the data of the own node. The next look finds out the outcome.
func (n *PersistentNode) rewrite(
	ctx context.Context, r *requests, data []byte, version int32,
) error {
	_, err := r.setOnce(n.path, data, version)
	switch {
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode):
		return nil
	case transient(err):
		return r.again(ctx, err)
	}
	return err
}
