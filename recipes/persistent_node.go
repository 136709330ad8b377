package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// ErrOccupied says that the node belongs to another session. That may be an earlier session of this
// process that has not expired yet.
var ErrOccupied = errors.New("the node belongs to another session")

// PersistentNode keeps an ephemeral node of a fixed name in existence until Close, through lost
// connections and ends of sessions. The node shows the presence of a member, a worker or an
// instance of a service. GroupMember and Registration are built on it.
//
// It guarantees:
//
//   - From the first Keep until Close the node is created again whenever it is missing: after the
//     end of a session, and after a deletion by another client. If another client changes its data,
//     the data of the last Set is restored.
//   - A node of another session is left alone: before each deletion and each change of data the
//     owner is read, and the request names the version that was read. When that node is gone, the
//     own node is created. So a restarted process takes its old name over when its old session has
//     expired.
//   - When Close has returned nil, no node is left and none comes back, except for the node of an
//     expired session that the server has not removed yet.
//
// When the connection is lost nothing happens: the node lives as long as the session. When the
// session ends the node is gone. It comes back as soon as the client has a new session. A done
// context ends only the wait of its own call.
//
// It cannot guarantee that the node is there at any given moment: between the expiry at the server
// and the next session it is missing. Two PersistentNodes of one path on one session mistake each
// other's node for their own. A request can name a node only by its path and version. So a request
// may hit the wrong node: if another client deletes the own node while the request is on its way,
// and a third client creates a node with the same version there, then the request deletes or
// changes that third node. A PersistentNode of the third client repairs that. If the connection is
// lost just after the owner was read, the request waits until the client is connected again,
// perhaps in a new session.
//
// Layout: the node itself, ephemeral. The options that matter are ACL, RecheckEvery, Retry (for the
// pauses) and Containers.
//
// Sources: Curator's PersistentNode; CURATOR-97, -154 and -258 (the node does not come back),
// CURATOR-164 (the node comes back after Close), Dubbo issue 5125 and KAFKA-1387 (a process
// mistakes the node of its old session for that of its new session, and loses it with the old
// session).
type PersistentNode struct {
	lifecycle
	loop  *task.Reconciler
	begin func() error
	own   *request.NamedEphemeral

	mu     sync.Mutex
	wanted content
	state  task.LatestValue[presence]
}

// content is the wanted data of a node; change is the number of Sets so far.
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
	l := newTasks(conn, "persistent node", path, opts)
	n := &PersistentNode{
		lifecycle: lifecycle{l}, loop: task.NewReconciler(l),
		own: &request.NamedEphemeral{Path: path},
	}
	n.wanted.data = bytes.Clone(data)
	n.begin = sync.OnceValue(n.loop.Start)
	n.loop.Step = n.step
	n.loop.Last = n.own.Remove
	return n
}

// Keep begins to keep the node, unless that has begun. It waits until the node is there in the
// present session with the data of the last Set. An error ends only the wait: the node is kept
// until Close. If ctx was done from the start, nothing has begun.
//
// If the server refuses the node, Keep returns the refusal at once. If ctx is done while another
// session has the node, the error wraps ErrOccupied. Both errors wrap ErrAmbiguous if this handle
// may have created the node. After any other error the node may be there.
func (n *PersistentNode) Keep(ctx context.Context) error {
	return task.Act(ctx, n.tasks, "keep", func(r *request.Sender) error {
		return n.awaitNode(r.Ctx, n.content().change)
	})
}

// Set changes the data of the node, and waits as Keep does until the server has the data. After an
// error the handle goes on trying to write the new data, unless ctx was done from the start.
func (n *PersistentNode) Set(ctx context.Context, data []byte) error {
	return task.Act(ctx, n.tasks, "set data of", func(r *request.Sender) error {
		n.mu.Lock()
		n.wanted = content{bytes.Clone(data), n.wanted.change + 1}
		change := n.wanted.change
		n.mu.Unlock()
		n.loop.MarkDue(n.tasks.Path)
		return n.awaitNode(r.Ctx, change)
	})
}

// Present reports whether the node was there at the last look, in the session that the client has
// now. It sends nothing.
func (n *PersistentNode) Present() bool {
	p, _ := n.state.Read()
	return p.session != 0 && p.session == n.tasks.Conn.SessionID()
}

// Err returns the error of the latest attempt to create or change the node: ErrOccupied or the
// server's refusal. It is nil if the latest attempt met no error. The attempts go on.
func (n *PersistentNode) Err() error {
	p, _ := n.state.Read()
	return n.tasks.Explain("keep", request.Ignore(p.err, request.ErrRestart))
}

// Close deletes the node and no longer keeps it. It returns when the server has confirmed the
// deletion, or ctx is done; in the latter case the clean-up goes on. It leaves the Conn open.
func (n *PersistentNode) Close(ctx context.Context) error { return n.tasks.Close(ctx) }

// content returns the wanted data of the node.
func (n *PersistentNode) content() content {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wanted
}

// awaitNode starts the loop and waits until the node is there with the data of the given change or
// of a later one. If the wait ends earlier, an attempt may be under way, unless the latest attempt
// has posted an error.
func (n *PersistentNode) awaitNode(ctx context.Context, change int) error {
	if err := n.begin(); err != nil {
		return err
	}
	p, err := n.state.Await(ctx, func(p presence) (bool, error) {
		if errors.Is(p.err, ErrConnClosed) {
			return false, p.err // the loop has ended
		}
		if p.change < change || errors.Is(p.err, ErrOccupied) ||
			errors.Is(p.err, request.ErrRestart) {
			return false, nil
		}
		return p.session != 0 && p.session == n.tasks.Conn.SessionID(), p.err
	})
	known := errors.Is(err, p.err) // nil is no reason
	if err != nil && errors.Is(p.err, ErrOccupied) {
		err, known = fmt.Errorf("%w: %w", err, p.err), true
	}
	return request.AmbiguousIf(!known || p.doubtful, err)
}

// step brings the node into the wanted state, and posts the result.
func (n *PersistentNode) step(r *request.Sender, _ task.Due) error {
	want := n.content()
	session, err := n.maintain(r, want)
	occupied := errors.Is(err, ErrOccupied)
	if r.Ctx.Err() == nil {
		n.state.Post(presence{session, want.change, err, n.own.Doubtful && !occupied})
	}
	if occupied {
		return nil // its watch is set
	}
	return err
}

// maintain reads and repairs until the node is there, is watched and has the wanted data. It
// returns the session that owns the node. A server that lags behind may show a node that another
// client has deleted. So if a Set finds its data there already, maintain reads again after a
// write that changes nothing.
func (n *PersistentNode) maintain(r *request.Sender, want content) (int64, error) {
	data := want.data
	before, _ := n.state.Read()
	certain := before.change == want.change && before.err == nil
	for r.Ctx.Err() == nil {
		stored, stat, err := n.read(r)
		session := n.tasks.Conn.SessionID()
		switch {
		case errors.Is(err, zk.ErrNoNode):
			n.unblock()
			certain = true
			err = request.Ignore(n.own.Create(r, data), zk.ErrNodeExists)
		case err != nil:
		case stat.EphemeralOwner != session:
			return 0, fmt.Errorf("%w: %s is owned by 0x%x", ErrOccupied, n.tasks.Path,
				stat.EphemeralOwner)
		case bytes.Equal(stored, data) && certain:
			return session, nil
		case bytes.Equal(stored, data):
			certain, err = true, r.Confirm(n.tasks.Path)
		default:
			certain = true
			err = n.rewrite(r, data, stat.Version)
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, context.Cause(r.Ctx)
}

// unblock clears a posted ErrOccupied before the node is created: from then on the outcome may be
// unknown.
func (n *PersistentNode) unblock() {
	if p, _ := n.state.Read(); errors.Is(p.err, ErrOccupied) {
		n.state.Post(presence{err: request.ErrRestart})
	}
}

// read reads the node. It sets a watch on the node, present or missing, unless a watch is set
// already. It sends an existence check before the read, which no view on the same Conn does: two
// equal requests at the same moment could not be told apart, and a simulated run would not repeat.
func (n *PersistentNode) read(r *request.Sender) ([]byte, *zk.Stat, error) {
	if !n.loop.Watching(n.tasks.Path, task.WatchData) &&
		!n.loop.Watching(n.tasks.Path, task.WatchAbsence) {
		stat, watch, err := r.ExistsW(n.tasks.Path)
		switch {
		case err != nil:
			return nil, nil, err
		case stat == nil:
			n.loop.Add(n.tasks.Path, task.WatchAbsence, watch)
			return nil, nil, zk.ErrNoNode
		}
		n.loop.Add(n.tasks.Path, task.WatchData, watch)
	}
	return r.Get(n.tasks.Path)
}

// rewrite sets the data of the own node. The next read shows the outcome.
func (n *PersistentNode) rewrite(r *request.Sender, data []byte, version int32) error {
	err := r.Do(func() error {
		_, err := r.Conn.Set(n.tasks.Path, data, version)
		return err
	})
	switch {
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNoNode):
		return nil
	case request.Transient(err):
		return r.Again(err)
	}
	return err
}
