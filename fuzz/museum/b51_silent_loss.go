package museum

import (
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

func silentLoss() Exhibit {
	return Exhibit{
		ID: "B51", Title: "the holder is never told of the expiry",
		Report: "https://github.com/docker-archive/classicswarm/issues/2654", See: []string{"libkv PR 156", "B22 (CURATOR-206)", "G13"},
		Bug: "Lock returns a channel that is closed when the lock is lost. Nothing closes it when the session expires, so a " +
			"primary that has been replaced works on, for as long as it likes.",
		Property: linearizability.Belief,
		Wrong:    openLock(func(env object.Env) object.Locker { return silent{newNaked(env.Conn, lockDir), make(chan struct{})} }),
		Right:    openLock(func(env object.Env) object.Locker { return recipes.NewLock(env.Conn, lockDir) }),
	}
}

// silent is a lock whose signal of loss never comes.
type silent struct {
	*naked
	lost chan struct{}
}

func (s silent) Lost() <-chan struct{} { return s.lost }
