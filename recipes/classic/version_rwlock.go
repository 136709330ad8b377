package classic

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
)

// VersionRWLock is a read-write lock on the version of one node. A contender lists the holders, and
// enters by a transaction that fails if another contender has entered since the list. A reader
// waits for the present writer, but never for a waiting writer. No sequence numbers are used up.
// Use it where readers should not wait for waiting writers. New readers can block a writer for
// ever, and each release wakes all waiters. Otherwise use RWLock.
//
// It guarantees: exclusion at the server, re-entrant locks, downgrade without waiting, no upgrade
// (ErrUpgrade), tokens that grow with every grant, and nothing left behind, as RWLock does.
//
// When a connection is lost, a session ends or a context is done it behaves like RWLock, except
// that a waiter has no place to lose. It cannot guarantee fairness. It cannot guarantee exclusion
// if the node at path is deleted while it is in use, as the version then begins at 0 again.
//
// Layout: <path>, persistent, with a version that counts the grants; <path>/read-<guid> and
// <path>/write-<guid>, ephemeral, one for each hold. Other children are ignored.
//
// The design comes from tutorials with one ephemeral node, which has the value 1 while a client
// writes, and the readers as children. These points had to change:
//
//   - The node is persistent. An ephemeral one cannot have children.
//   - The node has no value, which would outlive a dead writer. Writers are ephemeral children,
//     too.
//   - Listing and entering are one step: the version is read before the children are listed, and
//     the transaction sets the node at that version and creates the child. Otherwise a reader and a
//     writer could both list first and then both enter.
//   - A leaving client deletes its own child, by the GUID in the name. The unlock of the tutorials
//     does not know its own reader node.
//   - A reader cannot become the writer. Two such readers would both enter, or both wait for ever.
//   - Levels of re-entrancy end with the session.
//   - The version -1, which means any version in a set, is skipped.
//
// Sources: the read-write locks of ZooKeeper tutorials; CURATOR-688 (a version of -1); ZooKeeper
// guide, "Recipes and Solutions: Shared Locks", on the herd effect.
type VersionRWLock struct{ readWrite }

// NewVersionRWLock makes a handle for the lock at path, which is created when needed and must be
// used for this lock only. It sends nothing. The options that matter are ACL, Data, SessionTimeout,
// RecheckEvery and Retry.
func NewVersionRWLock(conn recipes.Conn, path string, opts ...recipes.Option) *VersionRWLock {
	o := request.NewOptions(opts)
	write := hold.NewHandle(
		conn, path, o, &versionContender{
			path: path, opts: o, kind: hold.WriteMarker,
			blockers: []string{hold.ReadMarker, hold.WriteMarker},
		},
	)
	read := hold.NewHandle(
		conn, path, o, &versionContender{
			path: path, opts: o, kind: hold.ReadMarker, blockers: []string{hold.WriteMarker},
			ownHandle: write,
		},
	)
	return &VersionRWLock{readWrite{hold.NewReadWrite(write, read)}}
}

// versionContender is a contender that enters when no node bars the way.
type versionContender struct {
	path      string
	opts      request.Options
	kind      string       // of the own node
	blockers  []string     // kinds of nodes that bar the way
	ownHandle *hold.Handle // its node does not bar the way; may be nil
}

// Acquire makes attempts, each with its own name, until one succeeds.
func (c *versionContender) Acquire(r *request.Sender, wait bool) (*hold.Hold, error) {
	return request.WithRestarts(r, func() (*hold.Hold, error) { return c.attempt(r, wait) })
}

func (c *versionContender) attempt(r *request.Sender, wait bool) (*hold.Hold, error) {
	guid, err := request.NewGUID()
	if err != nil {
		return nil, err
	}
	own := &entry{c: c, path: request.Join(c.path, c.kind+guid)}
	if c.ownHandle != nil {
		own.ownHold = c.ownHandle.Current()
	}
	if own.ownHold != nil && own.ownHold.Over() {
		return nil, recipes.ErrLost
	}
	held, err := own.enter(r, wait)
	if held != nil {
		return held, nil
	}
	return nil, request.GiveBack(r, err, own.remove)
}

// entry is one attempt to enter.
type entry struct {
	c       *versionContender
	path    string     // of the own node
	ownHold *hold.Hold // of the same owner; may be nil
	made    bool       // the node may be on the server
	look    request.NodeWatch
}

// enter tries until the own node is there. If it returns no hold, the caller must call remove.
func (e *entry) enter(r *request.Sender, wait bool) (*hold.Hold, error) {
	e.look.Path = e.c.path
	for {
		version, barred, in, err := e.view(r)
		switch {
		case err != nil:
			return nil, err
		case in:
			return e.confirm(r)
		case !barred:
			err = e.commit(r, version)
		case e.ownHold != nil:
			return nil, recipes.ErrLost // with the write lock held no other client could be in
		case !wait:
			return nil, nil
		default:
			err = e.await(r)
		}
		if err != nil {
			return nil, err
		}
	}
}

// view reads the version and then the children. Any later grant changes the version. barred reports
// whether a child bars the way, and in whether the own node is there.
func (e *entry) view(r *request.Sender) (version int32, barred, in bool, err error) {
	version, err = e.version(r)
	if err == nil {
		var names []string
		names, err = r.Children(e.c.path)
		barred, in = e.isBlocked(names), slices.Contains(names, request.BaseName(e.path))
	}
	switch {
	case errors.Is(err, zk.ErrNoNode) && e.ownHold != nil:
		return 0, false, false, recipes.ErrLost
	case errors.Is(err, zk.ErrNoNode):
		if err := r.EnsureDir(e.c.path); err != nil {
			return 0, false, false, err
		}
		return 0, false, false, request.ErrRestart
	case err != nil:
		return 0, false, false, err
	}
	return version, barred, in, nil
}

// version reads the version. The version -1, once in 2^32 grants, would mean any version in the
// transaction. So version replaces it by setting the node, and reads again.
func (e *entry) version(r *request.Sender) (int32, error) {
	for {
		_, stat, err := r.Get(e.c.path)
		if err != nil {
			return 0, err
		}
		if stat.Version != -1 {
			return stat.Version, nil
		}
		err = r.Repeat(func() error {
			_, err := r.Conn.Set(e.c.path, nil, -1)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
}

// isBlocked reports whether one of the children bars the way.
func (e *entry) isBlocked(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if e.ownHold != nil && name == request.BaseName(e.ownHold.Path) {
			return false
		}
		return slices.ContainsFunc(
			e.c.blockers, func(kind string) bool { return strings.HasPrefix(name, kind) },
		)
	})
}

// commit enters, unless another contender has entered since version. If the outcome is unknown it
// returns nil: the next view finds it out.
func (e *entry) commit(r *request.Sender, version int32) error {
	if err := r.Over(); err != nil {
		return err
	}
	_, err := r.Multi(
		&zk.SetDataRequest{Path: e.c.path, Data: nil, Version: version},
		&zk.CreateRequest{
			Path: e.path, Data: e.c.opts.Data, Acl: r.Opts.ACL, Flags: zk.FlagEphemeral,
		},
	)
	e.made = e.made || recipes.OutcomeOf(err) != recipes.NotApplied
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode):
		return request.ErrRestart
	case request.Transient(err):
		err = r.Again(err)
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNodeExists):
		err = nil
	}
	if err != nil {
		return err
	}
	// The next view must not lag behind. A request without a reply is applied before this write, or
	// never.
	return r.Confirm(e.c.path)
}

// confirm makes sure that the own node belongs to the current session, and to the session of the
// hold beside it.
func (e *entry) confirm(r *request.Sender) (*hold.Hold, error) {
	held, err := hold.Confirm(r, e.path, e.remove)
	if err == nil && e.ownHold != nil && (e.ownHold.Over() || held.Session != e.ownHold.Session) {
		return nil, recipes.ErrLost
	}
	return held, err
}

// await waits for a change of the children, unless the way is free already.
func (e *entry) await(r *request.Sender) error {
	names, watch, err := e.look.Children(r)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return request.ErrRestart
	case err != nil || !e.isBlocked(names):
		return err
	}
	r.NoteWaiting()
	return watch.Wait(r.Ctx, e.c.opts.Recheck)
}

func (e *entry) remove(r *request.Sender) error {
	if !e.made {
		return nil
	}
	return r.Remove(e.path)
}
