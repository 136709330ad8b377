package museum

import (
	"context"
	"errors"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
)

func heldForEver() Exhibit {
	return Exhibit{
		ID: "B38", Title: "what was lost counts as held",
		Report: "https://github.com/hashicorp/consul/issues/4902", See: []string{"consul PR 4935"},
		Bug: "The lock is lost with its session. The handle still says that it is held, and refuses to lock again; and as the " +
			"lock is gone it refuses to unlock, too. The client is out for good.",
		Property: linearizability.Liveness,
		Wrong:    openLock(func(env object.Env) object.Locker { return &handle{naked: newNaked(env.Conn, lockDir)} }),
		Right:    openLock(func(env object.Env) object.Locker { return &handle{naked: newNaked(env.Conn, lockDir), forgets: true} }),
	}
}

// handle knows whether it is held, and in which session.
type handle struct {
	*naked
	held    bool
	session int64
	forgets bool // forgets what is lost
}

var (
	errHeld    = errors.New("the lock is held already")
	errNotHeld = errors.New("the lock is not held")
)

func (h *handle) Lock(ctx context.Context) error {
	if h.held {
		return errHeld
	}
	if err := h.naked.Lock(ctx); err != nil {
		return err
	}
	h.held, h.session = true, h.conn.SessionID()
	return nil
}

func (h *handle) Unlock(ctx context.Context) error {
	if h.held && h.session != h.conn.SessionID() {
		h.held = !h.forgets // wrong: it stays held
		return errNotHeld
	}
	err := h.naked.Unlock(ctx)
	h.held = err != nil
	return err
}
