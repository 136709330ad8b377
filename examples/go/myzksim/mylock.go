package main

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// myLock is held by the client that created the ephemeral znode at path. It has a bug: it takes a
// lost reply for a lost request. After the lost reply of a create, the next Lock waits for its own
// znode. After that of a delete, the next Unlock deletes the znode of another holder.
type myLock struct {
	conn *zk.Conn
	path string
}

func (l *myLock) Lock(ctx context.Context) error {
	for {
		_, err := l.conn.Create(l.path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
		exists, _, gone, err := l.conn.ExistsW(l.path)
		if err != nil {
			return err
		}
		if !exists {
			continue
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *myLock) Unlock(context.Context) error {
	err := l.conn.Delete(l.path, -1)
	if errors.Is(err, zk.ErrNoNode) { // it went with the session
		return nil
	}
	return err
}
