package gallery

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

var publishedLockSingle = []Exhibit{
	{Slug: "own-node-taken-for-anothers", Alias: "S1-5",
		Title:  "the own node is taken for another's",
		Source: Code, Link: "https://github.com/code4wt/distributed_lock/blob/474a555d9b02adfa914aba1afa122b794a349b6a/src/main/java/com/titizz/exercise/distributedlock/ExclusiveLock.java#L105-L115",
		See: []string{"the simple lock of tutorials"},
		Bug: "The create is applied and its reply lost. The second create says NodeExists, which " +
			"is taken to mean that another client has the lock: the client waits for its own " +
			"node to go.",
		Property: liveness, Wrong: singleOf(func(l *single) {
			// wrong: a create that fails may have made it
			l.mine = func(made bool, _ []byte, _ *zk.Stat) bool { return made }
		})},
	{Slug: "own-name-of-old-session", Alias: "S1-6", Title: "the own node of an earlier session",
		Source: Code, Link: "https://github.com/apache/kafka/blob/034fc6a7cf7a001f10c25dca44ad9c0c38a7351e/core/src/main/scala/kafka/server/ZookeeperLeaderElector.scala",
		See: []string{"wvanbergen/kazoo-go"},
		Bug: "NodeExists, and the data says that it is this client's node. It is that of its " +
			"earlier session, which has ended, and the server is about to remove it: the client " +
			"owns the lock by a node that is as good as gone.",
		Property: safety, Wrong: singleOf(func(l *single) {
			// wrong: the session may be another
			l.mine = func(_ bool, data []byte, _ *zk.Stat) bool { return string(data) == l.name }
		})},
	{Slug: "unlocks-by-name", Alias: "S1-7", Title: "unlock deletes the node of any owner",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/34",
		See: []string{"the simple lock of tutorials"},
		Bug: "The delete is applied and its reply lost, or the owner's session ends, and another " +
			"client makes the node. The former owner unlocks, once more, by the name of the " +
			"node, and takes the lock away from its new owner.",
		Property: safety, Wrong: singleOf(func(l *single) {
			// wrong: the node may be another's
			l.leave = func() error { return remove(l.conn, singlePath) }
		})},
}

// single is the simple lock of tutorials: one node of a fixed name, which all waiters watch. An
// exhibit replaces a step of it by a wrong one.
type single struct {
	conn  *zk.Conn
	name  string // of the client, in the node's data
	token int64

	// mine reports whether the node is the own one; made says that a create of this Lock has
	// succeeded.
	mine  func(made bool, data []byte, stat *zk.Stat) bool
	make  func() error
	leave func() error
}

// singlePath is the node.
const singlePath = lockDir + "/only"

// singleOf is a workload of a simple lock with some steps replaced.
func singleOf(steps ...func(*single)) scenario.Workload {
	w := openLock(func(plain *plainLock) object.Locker {
		l := &single{conn: plain.conn, name: plain.guid()}
		l.mine, l.make, l.leave = l.ownedBySession, l.makeOne, l.leaveOwn
		return with(l, steps)
	})
	w.Handles = false // two of one session would take each other's node for their own
	return w
}

func (l *single) Token() int64 { return l.token }

func (l *single) Lock(ctx context.Context) error {
	made := false
	for ctx.Err() == nil {
		err := l.make()
		made = made || err == nil
		if ignore(err, zk.ErrNodeExists) != nil {
			continue // the next request waits for the connection
		}
		data, stat, gone, err := l.conn.GetW(singlePath)
		if err != nil {
			continue
		}
		if l.mine(made, data, stat) {
			l.token = stat.Czxid
			return nil
		}
		await(ctx, gone)
	}
	return errors.Join(ctx.Err(), l.leave())
}

func (l *single) makeOne() error {
	_, err := l.conn.Create(singlePath, []byte(l.name), zk.FlagEphemeral, acl)
	return err
}

func (l *single) Unlock(context.Context) error { return l.leave() }

func (l *single) ownedBySession(_ bool, _ []byte, stat *zk.Stat) bool {
	return stat.EphemeralOwner == l.conn.SessionID()
}

// leaveOwn deletes the node if it is this session's.
func (l *single) leaveOwn() error {
	return repeat(func() error {
		data, stat, err := l.conn.Get(singlePath)
		if err != nil || !l.ownedBySession(false, data, stat) {
			return ignore(err, zk.ErrNoNode)
		}
		return l.conn.Delete(singlePath, -1)
	})
}

// marked makes a second node with the lock's, with the name of its owner, and deletes both or none.
// Behind the end of its session neither is there, so it does not delete the next owner's: between
// a look and a delete the session can end.
func marked(l *single) {
	mark := "/owner-" + l.name
	l.make = func() error {
		_, err := l.conn.Multi(
			&zk.CreateRequest{Path: mark, Acl: acl, Flags: zk.FlagEphemeral},
			&zk.CreateRequest{Path: singlePath, Data: []byte(l.name), Acl: acl,
				Flags: zk.FlagEphemeral})
		return err
	}
	l.leave = func() error {
		return repeat(func() error {
			_, err := l.conn.Multi(&zk.DeleteRequest{Path: mark, Version: -1},
				&zk.DeleteRequest{Path: singlePath, Version: -1})
			return ignore(err, zk.ErrNoNode)
		})
	}
}
