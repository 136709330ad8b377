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

// naked is a lock with nothing around it: the algorithm of the ZooKeeper guide, in
// steps. With the steps that newNaked puts in it is right; an exhibit puts a wrong
// one in the place of one of them.
type naked struct {
	conn   *zk.Conn
	dir    string
	places int    // how many may own it at once: 1, but for a semaphore
	flags  int32  // of the own node
	prefix string // of the own node's name, with a GUID
	own    string // name of the own node, "" if there is none
	token  int64  // czxid of the own node, from confirm

	naming    func() string                                 // prefix of the next node's name
	join      func() error                                  // make the own node
	find      func() (found bool, err error)                // look for it by its prefix
	contender func(name string) bool                        // whether a child counts
	order     func(a, b string) int                         // of the contenders' names
	ahead     func(queue []string) (name string, err error) // whom to wait for, "" for nobody
	confirm   func() error                                  // that the own node is this session's
	await     func(ctx context.Context, ahead string)       // wait until something has changed
	fatal     func(err error) bool                          // whether it ends Lock as it is
	giveUp    func(ctx context.Context) error               // leave without having owned it
	leave     func() error                                  // delete the own node
}

func newNaked(conn *zk.Conn, dir string) *naked {
	l := &naked{conn: conn, dir: dir, places: 1, flags: zk.FlagEphemeral | zk.FlagSequence}
	l.naming, l.join, l.find = l.guid, l.joinOnce, l.findPrefix
	l.contender, l.order, l.ahead, l.confirm = hasNumber, bySequence, l.predecessor, l.confirmOwner
	l.await, l.giveUp, l.leave = l.awaitDeletion, l.leaveAndTell, l.leaveSurely
	l.fatal = func(error) bool { return false }
	return l
}

// attempts bound repetitions. The client holds requests back while it has no
// connection, so each costs a fault, but after the end of a World all fail.
const attempts = 20

var acl = zk.WorldACL(zk.PermAll)

// errGone tells that the own node is gone, or was a session's that is.
var errGone = errors.New("the own node is gone")

// Lock queues and waits until nobody is ahead. When ctx is done it gives up.
func (l *naked) Lock(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := l.join(); err != nil {
			return err
		}
		ahead, err := l.look()
		switch {
		case l.fatal(err):
			return err
		case errors.Is(err, errGone):
			l.own = ""
		case err != nil: // the next request waits for the connection
		case ahead == "":
			return nil
		default:
			l.await(ctx, ahead)
		}
	}
	return l.giveUp(ctx)
}

// Unlock leaves.
func (l *naked) Unlock(context.Context) error { return l.leave() }

// Token is the czxid of the node through which the lock is owned, 0 if it was not asked
// for.
func (l *naked) Token() int64 { return l.token }

// guid is a prefix that nobody else has.
func (l *naked) guid() string {
	var id [16]byte
	rand.Read(id[:])
	return fmt.Sprintf("_c_%x-lock-", id)
}

// joinOnce makes the own node, unless there is one. If the reply is lost it looks
// for the node before it makes another.
func (l *naked) joinOnce() (err error) {
	if l.own != "" {
		return nil
	}
	l.prefix = l.naming()
	for range attempts {
		if err = l.create(); err == nil {
			return nil
		}
		if found, err := l.find(); err != nil || found {
			return err
		}
	}
	return err
}

// create makes the own node, and the directory if need be.
func (l *naked) create() error {
	made, err := l.conn.Create(l.path(l.prefix), nil, l.flags, acl)
	if errors.Is(err, zk.ErrNoNode) {
		if _, err := l.conn.Create(l.dir, nil, 0, acl); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		return l.create()
	}
	if err == nil {
		l.own = path.Base(made)
	}
	return err
}

// findPrefix looks for a node with the own prefix until it knows.
func (l *naked) findPrefix() (found bool, err error) {
	for range attempts {
		var names []string
		names, _, err = l.conn.Children(l.dir)
		if errors.Is(err, zk.ErrNoNode) {
			return false, nil
		}
		if err == nil {
			if i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, l.prefix) }); i >= 0 {
				l.own = names[i]
			}
			return l.own != "", nil
		}
	}
	return false, err
}

// look lists the contenders in their order and finds whom to wait for.
func (l *naked) look() (ahead string, err error) {
	names, _, err := l.conn.Children(l.dir)
	if errors.Is(err, zk.ErrNoNode) {
		return "", errGone
	}
	if err != nil {
		return "", err
	}
	return l.ahead(l.sorted(names))
}

// sorted are the contenders in their order.
func (l *naked) sorted(names []string) []string {
	queue := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !l.contender(name) })
	slices.SortFunc(queue, l.order)
	return queue
}

// predecessor is the node before the own one, or "" if the own one is first, and
// this session's.
func (l *naked) predecessor(queue []string) (string, error) {
	i := slices.Index(queue, l.own)
	switch {
	case i < 0:
		return "", errGone
	case i >= l.places:
		return queue[i-l.places], nil
	}
	return "", l.confirm()
}

// confirmOwner asks whether the own node is this session's: the nodes of a session
// that has ended may stay for a while.
func (l *naked) confirmOwner() error {
	exists, stat, err := l.conn.Exists(l.path(l.own))
	if err == nil && (!exists || stat.EphemeralOwner != l.conn.SessionID()) {
		return errGone
	}
	if err == nil {
		l.token = stat.Czxid
	}
	return err
}

// awaitDeletion waits until the node ahead is gone, as far as can be told: the
// caller looks again.
func (l *naked) awaitDeletion(ctx context.Context, ahead string) {
	_, _, gone, err := l.conn.GetW(l.path(ahead))
	if err != nil {
		return
	}
	select {
	case <-gone:
	case <-ctx.Done():
	}
}

// leaveAndTell leaves and returns why.
func (l *naked) leaveAndTell(ctx context.Context) error { return errors.Join(ctx.Err(), l.leave()) }

// leaveSurely deletes the own node until it is known to be gone.
func (l *naked) leaveSurely() error {
	if l.own == "" {
		return nil
	}
	err := l.remove(l.path(l.own))
	if err == nil {
		l.own = ""
	}
	return err
}

// remove deletes a node until it is known to be gone.
func (l *naked) remove(path string) (err error) {
	for range attempts {
		if err = l.conn.Delete(path, -1); err == nil || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
	}
	return err
}

func (l *naked) path(name string) string { return l.dir + "/" + name }

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

// lockOf is a workload of a naked lock with some steps replaced.
func lockOf(replace func(*naked)) scenario.Workload {
	return openLock(func(env object.Env) object.Locker { return remade(env.Conn, lockDir, replace) })
}

// openLock is a workload of any lock at /lock. The directory is there, which makes
// stories shorter.
func openLock(open func(object.Env) object.Locker) scenario.Workload {
	return beside(object.Lock(open, claims).Named(""), lockDir)
}

// claims are what the locks of the gallery claim. What is there from the beginning may
// stay.
var claims = object.LockClaims{Path: lockDir, LeavesAtRest: []string{lockDir, foreign, shortNamed, mutexDir, leasesDir}}

// beside is a workload in a tree in which some nodes are there from the beginning.
func beside(w scenario.Workload, paths ...string) scenario.Workload {
	w.Nodes = map[string]string{}
	for _, path := range paths {
		w.Nodes[path] = ""
	}
	return w
}

func remade(c *zk.Conn, dir string, replace func(*naked)) *naked {
	l := newNaked(c, dir)
	if replace != nil {
		replace(l)
	}
	return l
}

// Nodes that are there from the beginning: the directory and, in some exhibits, a child
// that is no contender, one that looks like one, and directories for two kinds of nodes.
const (
	lockDir    = "/lock"
	foreign    = lockDir + "/readme"
	shortNamed = lockDir + "/_c_short"
	mutexDir   = lockDir + "/mutex"
	leasesDir  = lockDir + "/leases"
)

// failing makes a naked lock give up as it is when one of its steps finds errFailed:
// its node stays. One such node is enough to show it, so the next attempts use the
// same second one. What else goes wrong it survives.
func failing(l *naked) *naked {
	failed := false
	l.fatal = func(err error) bool {
		if !errors.Is(err, errFailed) {
			return false
		}
		if !failed {
			l.own, failed = "", true // wrong: nobody deletes it
		}
		return true
	}
	return l
}

// errFailed is what a wrong step returns for something that it does not expect.
var errFailed = errors.New("this was not expected")
