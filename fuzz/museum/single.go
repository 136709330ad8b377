package museum

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

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
