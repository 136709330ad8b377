package gallery

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

var publishedLockSingle = []Exhibit{
	{
		Slug: "own-node-taken-for-anothers", Alias: "S1-5",
		Title:  "the own node is somebody's",
		Source: Code, Link: "https://github.com/code4wt/distributed_lock/blob/474a555d9b02adfa914aba1afa122b794a349b6a/src/main/java/com/titizz/exercise/distributedlock/ExclusiveLock.java#L105-L115",
		See: []string{"the simple lock of tutorials"},
		Bug: "The create is applied and its reply lost. The second create says NodeExists, which " +
			"is taken to mean that somebody else has the lock: the client waits for its own node " +
			"to go.",
		Property: linearizability.Liveness,
		Wrong: singleOf(func(l *single) {
			// wrong: it may be, though the create failed
			l.mine = func(made bool, _ []byte, _ *zk.Stat) bool { return made }
		}),
	},
	{
		Slug: "own-name-of-old-session", Alias: "S1-6",
		Title:  "the own node of an earlier session",
		Source: Code, Link: "https://github.com/apache/kafka/blob/034fc6a7cf7a001f10c25dca44ad9c0c38a7351e/core/src/main/scala/kafka/server/ZookeeperLeaderElector.scala",
		Bug: "NodeExists, and the data says that it is this client's node. It is that of its " +
			"earlier session, which has ended, and the server is about to remove it: the client " +
			"owns the lock by a node that is as good as gone.",
		Property: linearizability.Safety,
		Wrong: singleOf(func(l *single) {
			// wrong: of which session?
			l.mine = func(_ bool, data []byte, _ *zk.Stat) bool { return string(data) == l.name }
		}),
	},
	{
		Slug: "unlocks-by-name", Alias: "S1-7",
		Title:  "unlock deletes whatever is there",
		Source: Report, Link: "https://github.com/zk-ruby/zk/issues/34",
		See: []string{"the simple lock of tutorials"},
		Bug: "The delete is applied and its reply lost, or the owner's session ends, and another " +
			"client makes the node. The former owner unlocks, once more, by the name of the node, " +
			"and takes the lock away from somebody who has just begun.",
		Property: linearizability.Safety,
		Wrong: singleOf(func(l *single) {
			// wrong: whose it is is not asked
			l.leave = func() error { return newNaked(l.conn, lockDir).remove(singlePath) }
		}),
	},
}

// single is the simple lock: one node of a fixed name, which everybody watches, as
// teachers draw it. An exhibit replaces a step of it by a wrong one.
type single struct {
	conn  *zk.Conn
	name  string // of the client, in the node's data
	token int64

	// mine tells whether the node that is there is the own one; made says that a
	// create of this Lock has succeeded.
	mine  func(made bool, data []byte, stat *zk.Stat) bool
	leave func() error
}

// singlePath is the node.
const singlePath = lockDir + "/only"

// singleOf is a workload of a simple lock with some steps replaced, nil for none.
func singleOf(replace func(*single)) scenario.Workload {
	return openLock(func(env object.Env) object.Locker {
		l := &single{conn: env.Conn, name: newNaked(env.Conn, lockDir).guid()}
		l.mine, l.leave = l.ownedBySession, l.leaveOwn
		if replace != nil {
			replace(l)
		}
		return l
	})
}

func (l *single) Token() int64 { return l.token }

func (l *single) Lock(ctx context.Context) error {
	made := false
	for ctx.Err() == nil {
		_, err := l.conn.Create(singlePath, []byte(l.name), zk.FlagEphemeral, acl)
		made = made || err == nil
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
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
		select {
		case <-gone:
		case <-ctx.Done():
		}
	}
	return errors.Join(ctx.Err(), l.leave())
}

func (l *single) Unlock(context.Context) error { return l.leave() }

func (l *single) ownedBySession(_ bool, _ []byte, stat *zk.Stat) bool {
	return stat.EphemeralOwner == l.conn.SessionID()
}

// leaveOwn deletes the node if it is this session's.
func (l *single) leaveOwn() (err error) {
	for range attempts {
		var stat *zk.Stat
		_, stat, err = l.conn.Get(singlePath)
		switch {
		case errors.Is(err, zk.ErrNoNode), err == nil && stat.EphemeralOwner != l.conn.SessionID():
			return nil
		case err != nil:
			continue
		}
		if err = l.conn.Delete(singlePath, -1); err == nil {
			return nil
		}
	}
	return err
}
