package museum

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func unlockOnce() Exhibit {
	return Exhibit{
		ID: "G8", Title: "an unlock whose reply is lost kills the handle",
		Report: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go",
		Bug: "The delete is applied and its reply lost. To unlock again fails with NoNode, for ever, and to lock fails because " +
			"the handle is locked: the lock is free, and this client cannot have it.",
		Property: linearizability.Liveness,
		Wrong:    openLock(func(env object.Env) object.Locker { return once{newNaked(env.Conn, lockDir)} }),
		Right:    lockOf(nil),
	}
}

// once unlocks as the client's own lock does.
type once struct{ *naked }

func (l once) Lock(ctx context.Context) error {
	if l.own != "" {
		return zk.ErrDeadlock
	}
	return l.naked.Lock(ctx)
}

func (l once) Unlock(context.Context) error {
	if l.own == "" {
		return zk.ErrNotLocked
	}
	if err := l.conn.Delete(l.path(l.own), -1); err != nil {
		return err // wrong: NoNode is what was wanted
	}
	l.own = ""
	return nil
}
