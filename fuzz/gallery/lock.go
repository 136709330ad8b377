package gallery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// plainLock is the lock of the ZooKeeper guide in steps. It is right with the steps of newLock. An
// exhibit replaces one of them.
type plainLock struct {
	conn   *zk.Conn
	dir    string
	places int    // number of owners at a time: 1, but for a semaphore
	flags  int32  // of the own node
	data   []byte // of the own node
	prefix string // of the own node's name, with a GUID
	own    string // name of the own node, "" if there is none
	token  int64  // czxid of the own node, from confirm

	naming    func() string                                 // prefix of the next node's name
	join      func() error                                  // make the own node, unless it is there
	find      func() (found bool, err error)                // look for it by its prefix
	makeDir   func() error                                  // make the missing directory
	contender func(name string) bool                        // whether a child counts
	order     func(a, b string) int                         // of the contenders' names
	ahead     func(queue []string) (name string, err error) // node to wait for, "" for none
	confirm   func() error                                  // the own node is this session's
	await     func(ctx context.Context, ahead string) bool  // a change; true: the lock is owned
	fatal     func(err error) bool                          // whether Lock returns it at once
	giveUp    func(ctx context.Context) error               // leave without the lock
	leave     func() error                                  // delete the own node
}

func newLock(conn *zk.Conn, dir string, steps ...func(*plainLock)) *plainLock {
	l := &plainLock{conn: conn, dir: dir, places: 1, flags: zk.FlagEphemeral | zk.FlagSequence}
	l.naming, l.join, l.find, l.makeDir = l.guid, l.once(l.make), l.findPrefix, l.makePersistentDir
	l.contender, l.order, l.ahead, l.confirm = hasNumber, bySequence, l.predecessor, l.confirmOwner
	l.await, l.giveUp, l.leave = l.awaitDeletion, l.leaveAndTell, l.deleteUntilGone
	l.fatal = func(error) bool { return false }
	return with(l, steps)
}

// Lock queues and waits until there is no contender ahead. When ctx is done it gives up.
func (l *plainLock) Lock(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := l.join(); err != nil {
			return err
		}
		ahead, err := l.look()
		switch {
		case err != nil && l.fatal(err):
			return err
		case errors.Is(err, errGone):
			l.own = ""
		case err != nil: // the next request waits for the connection
		case ahead == "" || l.await(ctx, ahead):
			return nil
		}
	}
	return l.giveUp(ctx)
}

// Unlock leaves.
func (l *plainLock) Unlock(context.Context) error { return l.leave() }

// Token is the czxid of the owner's node, 0 before the first confirm.
func (l *plainLock) Token() int64 { return l.token }

// guid is a unique prefix.
func (l *plainLock) guid() string {
	var id [16]byte
	rand.Read(id[:])
	return fmt.Sprintf("_c_%x-lock-", id)
}

// once is a join that makes the own node only if there is none.
func (l *plainLock) once(create func() error) func() error {
	return func() error {
		if l.own != "" {
			return nil
		}
		return create()
	}
}

// make makes the own node. After a lost reply it looks for the node before it makes another.
func (l *plainLock) make() (err error) {
	l.prefix = l.naming()
	for range attempts {
		if err = l.create(); err == nil || errors.Is(err, zk.ErrNoNode) {
			return err
		}
		if found, err := l.find(); err != nil || found {
			return err
		}
	}
	return err
}

// create sends the create of the own node, and makes the directory if it is missing.
func (l *plainLock) create() error {
	made, err := l.conn.Create(l.path(l.prefix), l.data, l.flags, acl)
	if errors.Is(err, zk.ErrNoNode) {
		if err := l.makeDir(); err != nil {
			return err
		}
		return l.create()
	}
	if err == nil {
		l.own = path.Base(made)
	}
	return err
}

func (l *plainLock) makePersistentDir() error {
	_, err := l.conn.Create(l.dir, nil, 0, acl)
	return ignore(err, zk.ErrNodeExists)
}

// findPrefix looks for a node with the own prefix until it has an answer.
func (l *plainLock) findPrefix() (bool, error) {
	err := repeat(func() error {
		names, _, err := l.conn.Children(l.dir)
		if i := slices.IndexFunc(names, l.hasPrefix); i >= 0 {
			l.own = names[i]
		}
		return ignore(err, zk.ErrNoNode)
	})
	return err == nil && l.own != "", err
}

func (l *plainLock) hasPrefix(name string) bool { return strings.HasPrefix(name, l.prefix) }

// look lists the contenders in their order and finds the node to wait for.
func (l *plainLock) look() (ahead string, err error) {
	names, _, err := l.conn.Children(l.dir)
	if errors.Is(err, zk.ErrNoNode) {
		return "", errGone
	}
	if err != nil {
		return "", err
	}
	return l.ahead(l.sorted(names))
}

// sorted returns the contenders in their order.
func (l *plainLock) sorted(names []string) []string {
	foreign := func(name string) bool { return !l.contender(name) }
	queue := slices.DeleteFunc(slices.Clone(names), foreign)
	slices.SortFunc(queue, l.order)
	return queue
}

// predecessor is the node before the own one, or "" if the own one is first and this session's.
func (l *plainLock) predecessor(queue []string) (string, error) {
	i := slices.Index(queue, l.own)
	switch {
	case i < 0:
		return "", errGone
	case i >= l.places:
		return queue[i-l.places], nil
	}
	return "", l.confirm()
}

// orConfirm is the answer of ahead for a node to wait for, "" for none.
func (l *plainLock) orConfirm(ahead string) (string, error) {
	if ahead != "" {
		return ahead, nil
	}
	return "", l.confirm()
}

// isBefore reports whether a node has a smaller number than the own one.
func (l *plainLock) isBefore(name string) bool { return bySequence(name, l.own) < 0 }

// confirmOwner checks that the own node is this session's: the nodes of an ended session may stay
// for a while.
func (l *plainLock) confirmOwner() error {
	exists, stat, err := l.conn.Exists(l.path(l.own))
	if err == nil && (!exists || stat.EphemeralOwner != l.conn.SessionID()) {
		return errGone
	}
	if err == nil {
		l.token = stat.Czxid
	}
	return err
}

// awaitDeletion waits for an event of the node ahead. The caller looks again.
func (l *plainLock) awaitDeletion(ctx context.Context, ahead string) bool {
	if _, _, gone, err := l.conn.GetW(l.path(ahead)); err == nil {
		await(ctx, gone)
	}
	return false
}

// leaveAndTell leaves and returns the reason.
func (l *plainLock) leaveAndTell(ctx context.Context) error {
	return errors.Join(ctx.Err(), l.leave())
}

// deleteUntilGone deletes the own node until it is known to be gone.
func (l *plainLock) deleteUntilGone() error {
	if l.own == "" {
		return nil
	}
	err := remove(l.conn, l.path(l.own))
	if err == nil {
		l.own = ""
	}
	return err
}

// forget returns the name of the own node, and drops it.
func (l *plainLock) forget() string {
	own := l.own
	l.own = ""
	return own
}

func (l *plainLock) path(name string) string { return l.dir + "/" + name }

// bySequence orders names by their numbers, which wrap.
func bySequence(a, b string) int {
	x, _ := sequence(a)
	y, _ := sequence(b)
	return int(x - y)
}

func hasNumber(name string) bool { _, ok := sequence(name); return ok }

// sequence is the number at the end of a name.
func sequence(name string) (int32, bool) {
	i := strings.LastIndex(name, marker)
	if i < 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(name[i+len(marker):], 10, 32)
	return int32(n), err == nil
}

// marker stands before the number.
const marker = "lock-"

// lockOf is a workload of a plain lock with some steps replaced.
func lockOf(steps ...func(*plainLock)) scenario.Workload {
	return openLock(func(l *plainLock) object.Locker { return with(l, steps) })
}

// openLock is a workload of any lock at /lock that is made of a plain one. The directory is there,
// which makes stories shorter.
func openLock(open func(*plainLock) object.Locker) scenario.Workload {
	return beside(object.Lock(func(env object.Env) object.Locker {
		return open(newLock(env.Conn, lockDir))
	}, claims), lockDir)
}

// claims are the claims of the locks of the gallery. Nodes of the beginning may stay.
var claims = object.LockClaims{
	Path: lockDir, LeavesAtRest: []string{lockDir, foreign, shortNamed, mutexDir, leasesDir},
}

// oneWaiterWoken are claims, and that a release wakes one waiter at most.
var oneWaiterWoken = object.LockClaims{
	Path: claims.Path, LeavesAtRest: claims.LeavesAtRest, MaxHerd: 1,
}

// beside is a workload in a tree in which some nodes are there from the beginning.
func beside(w scenario.Workload, paths ...string) scenario.Workload {
	w.Nodes = map[string]string{}
	for _, path := range paths {
		w.Nodes[path] = ""
	}
	return w
}

// Nodes that are there from the beginning: the directory and, in some exhibits, a child that is no
// contender, a child that looks like one, and directories for two kinds of nodes.
const (
	lockDir    = "/lock"
	foreign    = lockDir + "/readme"
	shortNamed = lockDir + "/_c_short"
	mutexDir   = lockDir + "/mutex"
	leasesDir  = lockDir + "/leases"
)

// failing makes a lock return when a step finds errFailed, and leave its node. One such node is
// enough to show it, so the next attempts use the same second one.
func failing(l *plainLock) {
	failed := false
	l.fatal = func(err error) bool {
		if errors.Is(err, errFailed) && !failed {
			l.own, failed = "", true // wrong: the node stays
		}
		return errors.Is(err, errFailed)
	}
}
