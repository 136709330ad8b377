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
		ctx, l, "create", func(r *request.Sender, t *task.Task[Node]) (Node, error) {
			return request.WithRestarts(r, func() (Node, error) {
				own, err := newCreation(dir, name, kind)
				if err != nil {
					return Node{}, err
				}
				return own.run(r, t, data)
			})
		})
}

// creation is one attempt to create a node.
type creation struct {
	create func(r *request.Sender, data []byte) error
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
func (c creation) run(r *request.Sender, t *task.Task[Node], data []byte) (Node, error) {
	err := c.create(r, data)
	var made Node
	if err == nil {
		made, err = c.readBack(r)
	}
	if err == nil {
		if t.Settle(made) {
			return made, nil
		}
		err = context.Cause(r.Ctx)
	}
	err = request.GiveBack(r, err, c.remove)
	return Node{}, request.AmbiguousIf(!c.owned && errors.Is(err, ErrConnClosed), err)
}

// readBack reads the node. It returns request.ErrRestart if an ephemeral node has gone with its
// session.
func (c creation) readBack(r *request.Sender) (Node, error) {
	_, stat, err := r.Get(c.path())
	if errors.Is(err, zk.ErrNoNode) && !c.owned { // the server of a new session may lag behind
		err = r.Fresh(c.path(), func() (err error) {
			_, stat, err = r.Get(c.path())
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

// GuaranteedDelete deletes the node at path, whatever its version. It is no error if the node is
// gone already.
//
// nil means that the node is gone. While the connection is down the request is repeated. If ctx is
// done before the reply, or the retry policy gives up, the error wraps ErrAmbiguous. The deletion
// then goes on in the background until the server confirms or refuses it, or the Conn is closed.
// Other errors are refusals, such as zk.ErrNotEmpty. A late deletion would hit the next node with
// the same path, so never use the path again; those of CreateProtected's sequential nodes are
// unique.
//
// Source: Curator's "guaranteed" deletion.
func GuaranteedDelete(ctx context.Context, conn Conn, path string, opts ...Option) error {
	l := newTasks(conn, "node", path, opts)
	if ctx.Err() != nil { // the deletion is sent even then
		t := task.Start(
			func(*task.Task[struct{}]) (struct{}, error) {
				return struct{}{}, l.Sender(ctx).Remove(path)
			},
		)
		_, known, err := t.Await(ctx)
		return l.Explain("delete", request.AmbiguousIf(!known, err))
	}
	return task.Act(ctx, l, "delete", func(r *request.Sender) error {
		err := r.Repeat(func() error { return r.Conn.Delete(path, -1) })
		switch {
		case errors.Is(err, zk.ErrNoNode):
			return nil
		case err != nil && r.Ctx.Err() != nil:
			return r.Remove(path)
		}
		return request.AmbiguousIf(OutcomeOf(err) == Unknown, err)
	})
}

// EnsurePath creates the node at path and its parents, without data, where they are missing. It
// leaves existing nodes as they are. Many clients may call it at the same time.
//
// nil means that every level existed at some moment of the call; container nodes can be gone again.
// While the connection is down it repeats requests, and a new session makes no difference. After an
// error some of the levels may exist, which does no harm. If ctx is done, a request under way can
// still be applied. The options that matter are ACL, Containers and Retry.
func EnsurePath(ctx context.Context, conn Conn, path string, opts ...Option) error {
	l := newTasks(conn, "path", path, opts)
	return task.Act(ctx, l, "ensure", func(r *request.Sender) error {
		var missing request.Backoff
		for {
			err := r.Ensure(path)
			if !errors.Is(err, zk.ErrNoNode) {
				return request.AmbiguousIf(OutcomeOf(err) == Unknown, err)
			}
			if err := missing.Wait(r.Ctx, nil, err); err != nil {
				return err // another client keeps deleting the levels
			}
		}
	})
}

// ErrNumbersUsedUp is returned when the sequence numbers of a directory are used up, so that the
// order of its next children is unknown. The wrapping error names the directory. The operation
// leaves no node behind. Use a new directory, or delete the directory once it is empty: the numbers
// of a new directory begin at 0. With the option Containers the server deletes the empty directory
// itself.
var ErrNumbersUsedUp = request.ErrNumbersUsedUp

// Sequence returns the sequence number in the name or path of a sequential node: the digits behind
// the last occurrence of marker. marker is the end of the name that was given to create, such as
// "lock-". It returns false for other names. The number is negative when the parent's counter has
// passed 2147483647 (ZOOKEEPER-4372). Only the marker distinguishes its minus sign from a hyphen in
// the name.
func Sequence(name, marker string) (int32, bool) { return request.Sequence(name, marker) }

// SortBySequence returns those of the names that have a sequence number behind marker, oldest
// first. It leaves names as they are. Numbers are comparable only between children of one parent
// that was not deleted meanwhile. The order is right across the wrap from 2147483647 to
// -2147483648, which servers before 3.6 make. Made-up names with numbers far from the server's come
// first or last. They do not change the order of the others as long as the gap around the others is
// larger than any gap between them. Names of the same number are sorted by their text. Nodes get
// the same number when the numbers of a directory are used up.
func SortBySequence(names []string, marker string) []string {
	return request.SortBySequence(names, marker)
}
