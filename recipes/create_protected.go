package recipes

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// NodeKind is a kind of node that CreateProtected makes.
type NodeKind int

const (
	// EphemeralSequential is <dir>/_c_<guid>-<name><sequence>, which goes with the session.
	EphemeralSequential NodeKind = iota
	// PersistentSequential is <dir>/_c_<guid>-<name><sequence>, which stays.
	PersistentSequential
	// Ephemeral is <dir>/<name>, exactly, which goes with the session. Use a name once per session:
	// any node of that name in the session of the Conn counts as the new node.
	Ephemeral
)

// Node is a node that CreateProtected has created and read back.
type Node struct {
	Path string
	// Stat is the stat of the node. Czxid is a fencing token: it is greater for every later node.
	// EphemeralOwner is the session of the node.
	Stat zk.Stat
}

// CreateProtected creates a node below dir, missing parents included, and finds it again when the
// reply is lost. name is the name, or for sequential nodes the part before the number, such as
// "lock-".
//
// It guarantees: nil means that exactly one node was made, and that an ephemeral one belongs to the
// session that the Conn had when the node was read back. After an error the node does not exist, or
// is removed in the background as soon as the server answers. An error that wraps ErrConnClosed is
// the exception: an ephemeral node then goes with the session, but a persistent one can stay, and
// its error wraps ErrAmbiguous, too. zk.ErrNodeExists means that another session has an Ephemeral
// node of that name; it can be an ended session of this process that the server has not expired
// yet. ErrNumbersUsedUp means that dir has no unique sequence number left.
//
// When the connection is lost it waits and tries again; when the session ends it begins again in
// the new one. A done context ends it. It cannot guarantee that an ephemeral node is still there
// when it returns, as its session can end at any time. Delete the node with GuaranteedDelete. The
// options that matter are ACL, Retry and Containers.
//
// Sources: Curator's "protection"; CURATOR-45, 79, 498 and 604.
func CreateProtected(
	ctx context.Context, conn Conn, dir, name string, data []byte, kind NodeKind, opts ...Option,
) (Node, error) {
	l := newTasks(conn, "node", request.Join(dir, name), opts)
	data = bytes.Clone(data)
	return task.Call(
		ctx, l, "create", func(
			ctx context.Context, r *request.Sender, t *task.Task[Node],
		) (Node, error) {
			return request.WithRestarts(ctx, func() (Node, error) {
				own, err := newCreation(dir, name, kind)
				if err != nil {
					return Node{}, err
				}
				return own.run(ctx, r, t, data)
			})
		})
}

// creation is one attempt to create a node.
type creation struct {
	create func(ctx context.Context, r *request.Sender, data []byte) error
	path   func() string
	remove func(r *request.Sender) error
	owned  bool // the node belongs to a session
}

// newCreation returns an attempt for a node of the kind.
func newCreation(dir, name string, kind NodeKind) (creation, error) {
	switch kind {
	case Ephemeral:
		f := &request.NamedEphemeral{Path: request.Join(dir, name)}
		return creation{f.Create, func() string { return f.Path }, f.Remove, true}, nil
	case EphemeralSequential, PersistentSequential:
		p, err := request.NewProtected(dir, name)
		if err != nil {
			return creation{}, err
		}
		p.Persistent = kind == PersistentSequential
		return creation{p.Create, func() string { return p.Path }, p.Remove, !p.Persistent}, nil
	}
	return creation{}, fmt.Errorf("node kind %d: %w", kind, zk.ErrBadArguments)
}

// run makes the node and reads it back. It removes the node again if the caller has left.
func (c creation) run(
	ctx context.Context, r *request.Sender, t *task.Task[Node], data []byte,
) (Node, error) {
	err := c.create(ctx, r, data)
	var made Node
	if err == nil {
		made, err = c.readBack(ctx, r)
	}
	if err == nil {
		if t.Settle(made) {
			return made, nil
		}
		err = context.Cause(ctx)
	}
	err = request.GiveBack(r, err, c.remove)
	return Node{}, request.AmbiguousIf(!c.owned && errors.Is(err, ErrConnClosed), err)
}

// readBack reads the node. It returns errRestart if an ephemeral node has gone with its session.
func (c creation) readBack(ctx context.Context, r *request.Sender) (Node, error) {
	_, stat, err := r.Get(ctx, c.path())
	if errors.Is(err, zk.ErrNoNode) && !c.owned { // the server of a new session may lag behind
		err = r.Fresh(ctx, c.path(), func() (err error) {
			_, stat, err = r.Get(ctx, c.path())
			return err
		})
	}
	switch {
	case errors.Is(err, zk.ErrNoNode) && c.owned, err == nil && c.owned && !r.Epoch().Owns(stat):
		return Node{}, request.ErrRestart
	case err != nil:
		return Node{}, err
	}
	return Node{Path: c.path(), Stat: *stat}, nil
}
