package museum

import (
	"context"
	"errors"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func noSecondLook() Exhibit {
	return Exhibit{
		ID: "S1-2", Title: "who is woken owns the lock",
		Report: "https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks", See: []string{"S3-6"},
		Bug: "When the watch on the predecessor fires, the client takes the lock without looking again, which the guide's steps " +
			"ask for. The predecessor was waiting, too, and has given up or died: the owner is still there.",
		Property: linearizability.Safety,
		Wrong:    openLock(func(env object.Env) object.Locker { return hasty{newNaked(env.Conn, lockDir)} }),
		Right:    lockOf(nil),
	}
}

type hasty struct{ *naked }

func (l hasty) Lock(ctx context.Context) error {
	if err := l.join(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		ahead, err := l.look()
		switch {
		case errors.Is(err, errGone):
			return errors.Join(err, l.leave())
		case err != nil:
			continue
		case ahead == "":
			return nil
		}
		_, _, gone, err := l.conn.GetW(l.path(ahead))
		if err != nil {
			continue
		}
		select {
		case ev := <-gone:
			if ev.Err == nil && l.confirm() == nil {
				return nil // wrong: somebody else may own it
			}
		case <-ctx.Done():
		}
	}
	return l.giveUp(ctx)
}
