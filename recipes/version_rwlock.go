package recipes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// VersionRWLock is a read-write lock around the version of one node: a contender lists the holders,
// and enters in a transaction that fails if another has entered since. A reader waits for a writer
// that is in, but never for one that waits, and no sequence numbers are used up. Use it where
// readers must not wait and writers can. Readers that come and go can block a writer for ever, and
// each release wakes all waiters. Otherwise use RWLock.
//
// It guarantees: exclusion at the server, re-entrant locks, downgrade without waiting, no upgrade
// (ErrUpgrade), tokens that grow with every grant, and nothing left behind, as RWLock does.
//
// When a connection is lost, a session ends or a context is done it behaves like RWLock, except
// that a waiter has no place to lose. It cannot guarantee fairness, and exclusion if the node at
// path is deleted while it is in use, as its version then begins at 0 again.
//
// Layout: <path>, persistent, with a version that counts the grants; <path>/read-<guid> and
// <path>/write-<guid>, ephemeral, one for each hold. Other children are ignored.
//
// The design comes from tutorials in which one ephemeral node has the value 1 while a client
// writes, and the readers as its children. These points had to change:
//
//   - The node is persistent. An ephemeral one cannot have children.
//   - There is no value. It would outlive a writer that dies. Writers are ephemeral children, too.
//   - To look and to enter is one step: the transaction sets the node at the version that was read
//     before the children were listed, and creates the child. Otherwise a reader and a writer that
//     both look first both enter.
//   - A client that leaves deletes its own child, by the GUID in the name. The unlock of the
//     tutorials does not know which of the readers it is.
//   - A reader does not become the writer. Two of them would both get in, or both wait.
//   - Levels of re-entrancy end with the session.
//   - The version -1, which a set takes for any version, is passed over.
//
// Sources: the read-write locks of ZooKeeper tutorials; CURATOR-688 (a version of -1); ZooKeeper
// guide, "Recipes and Solutions: Shared Locks", on the herd effect.
type VersionRWLock struct{ *readWrite }

// NewVersionRWLock makes a handle for the lock at path, which is created when needed and must be
// used for this lock only. It sends nothing. The options that matter are ACL, Data, SessionTimeout,
// RecheckEvery and Retry.
func NewVersionRWLock(conn Conn, path string, opts ...Option) *VersionRWLock {
	o := newOptions(opts)
	write := newHandle(
		conn, path, opts, &entrance{
			path: path, opts: o, kind: writeMarker, bars: []string{readMarker, writeMarker},
		},
	)
	read := newHandle(
		conn, path, opts, &entrance{
			path: path, opts: o, kind: readMarker, bars: []string{writeMarker}, beside: write,
		},
	)
	return &VersionRWLock{newReadWrite(write, read)}
}

// entrance competes by entering when no node bars the way.
type entrance struct {
	path   string
	opts   options
	kind   string   // of the own node
	bars   []string // kinds of nodes that bar the way
	beside *handle  // its node does not bar the way; may be nil
}

// acquire makes attempts, each with its own name, until one succeeds.
func (c *entrance) acquire(ctx context.Context, r *requests, wait bool) (*hold, error) {
	return withRestarts(ctx, func() (*hold, error) { return c.attempt(ctx, r, wait) })
}

func (c *entrance) attempt(ctx context.Context, r *requests, wait bool) (*hold, error) {
	guid, err := newGUID()
	if err != nil {
		return nil, err
	}
	own := &entry{c: c, path: join(c.path, c.kind+guid)}
	if c.beside != nil {
		own.beside = c.beside.current()
	}
	if own.beside != nil && own.beside.over() {
		return nil, ErrLost
	}
	held, err := own.enter(ctx, r, wait)
	if held != nil {
		return held, nil
	}
	return nil, giveBack(r, err, own.remove)
}

// entry is one attempt to enter.
type entry struct {
	c      *entrance
	path   string // of the own node
	beside *hold  // of the same owner; may be nil
	made   bool   // the node may be on the server
	look   nodeWatch
}

// enter tries until it is in. After an error, or if it need not wait, remove must be called.
func (e *entry) enter(ctx context.Context, r *requests, wait bool) (*hold, error) {
	e.look.path = e.c.path
	for {
		version, barred, in, err := e.view(ctx, r)
		switch {
		case err != nil:
			return nil, err
		case in:
			return e.confirm(ctx, r)
		case !barred:
			err = e.commit(ctx, r, version)
		case e.beside != nil:
			return nil, ErrLost // otherwise no other could be in
		case !wait:
			return nil, nil
		default:
			err = e.await(ctx, r)
		}
		if err != nil {
			return nil, err
		}
	}
}

// view reads the version, and then the children: any grant after that changes the version. It
// reports whether a child bars the way, and whether the own node is there.
func (e *entry) view(ctx context.Context, r *requests) (version int32, barred, in bool, err error) {
	version, err = e.version(ctx, r)
	if err == nil {
		var names []string
		names, err = r.children(ctx, e.c.path)
		barred, in = e.isBarred(names), slices.Contains(names, baseName(e.path))
	}
	switch {
	case errors.Is(err, zk.ErrNoNode) && e.beside != nil:
		return 0, false, false, ErrLost
	case errors.Is(err, zk.ErrNoNode):
		if err := r.ensureDir(ctx, e.c.path); err != nil {
			return 0, false, false, err
		}
		return 0, false, false, errRestart
	case err != nil:
		return 0, false, false, err
	}
	return version, barred, in, nil
}

// version reads the version. -1, which comes once in 2^32 grants and would mean any version in the
// transaction, is moved on: contenders that have seen it have to look again.
func (e *entry) version(ctx context.Context, r *requests) (int32, error) {
	for {
		_, stat, err := r.get(ctx, e.c.path)
		if err != nil {
			return 0, err
		}
		if stat.Version != -1 {
			return stat.Version, nil
		}
		err = r.repeat(ctx, func() error {
			_, err := r.conn.Set(e.c.path, nil, -1)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
}

// isBarred reports whether one of the children bars the way.
func (e *entry) isBarred(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if e.beside != nil && name == baseName(e.beside.path) {
			return false
		}
		return slices.ContainsFunc(
			e.c.bars, func(kind string) bool { return strings.HasPrefix(name, kind) },
		)
	})
}

// commit enters, unless another contender has entered since version. If the outcome is unknown it
// returns nil: the next view tells.
func (e *entry) commit(ctx context.Context, r *requests, version int32) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := r.multi(
		&zk.SetDataRequest{Path: e.c.path, Data: nil, Version: version},
		&zk.CreateRequest{
			Path: e.path, Data: e.c.opts.data, Acl: r.opts.acl, Flags: zk.FlagEphemeral,
		},
	)
	e.made = e.made || OutcomeOf(err) != NotApplied
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode):
		return errRestart
	case transient(err):
		err = r.again(ctx, err)
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNodeExists):
		err = nil
	}
	if err != nil {
		return err
	}
	// The next view must not lag behind. A request that was cut off is applied before this, or
	// never.
	return r.sync(ctx, e.c.path)
}

// confirm makes sure that the own node is of the current session, and that of the lock that it goes
// beside.
func (e *entry) confirm(ctx context.Context, r *requests) (*hold, error) {
	held, err := confirm(ctx, r, e.path, e.remove)
	if err == nil && e.beside != nil && (e.beside.over() || held.session != e.beside.session) {
		return nil, ErrLost
	}
	return held, err
}

// await waits for a change of the children, unless the way is free already.
func (e *entry) await(ctx context.Context, r *requests) error {
	names, watch, err := e.look.children(ctx, r)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return errRestart
	case err != nil || !e.isBarred(names):
		return err
	}
	r.waits()
	return watch.wait(ctx, e.c.opts.recheck)
}

func (e *entry) remove(r *requests) error {
	if !e.made {
		return nil
	}
	return r.remove(e.path)
}
