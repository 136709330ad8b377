package museum

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func ownerByMemory() Exhibit {
	return Exhibit{
		ID: "S0-14", Title: "the owner remembers that it is",
		Report: writeLockSource,
		Bug: "WriteLock.isOwner compares two texts that the object has kept. After the session has ended it says yes as before, " +
			"when the lock may be anybody's.",
		Property: scenario.InvariantProperty,
		Wrong:    askingOf(func(l *naked) (bool, error) { return l.own != "", nil }), // wrong: only the server knows
		Right: askingOf(func(l *naked) (bool, error) {
			err := l.confirmOwner()
			if errors.Is(err, errGone) {
				return false, nil
			}
			return err == nil, err
		}),
	}
}

// kindIsOwner is the question whether one owns the lock. Its result has the token of
// the node by which one did.
const kindIsOwner = "is-owner"

// askingOf is a workload of a lock whose owners ask whether they are.
func askingOf(isOwner func(*naked) (bool, error)) scenario.Workload {
	w := openLock(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range s.Rounds {
			l := newNaked(p.Conn(), lockDir)
			if !p.Persist(func(int) error { return playLock(p, l, "") }) {
				return
			}
			for range 2 {
				p.Pause(time.Duration(1+p.Choose(scenario.At("pause", round), 20)) * time.Millisecond)
				_ = p.Do(kindIsOwner, "", func(context.Context) (linearizability.Result, error) {
					is, err := isOwner(l)
					return linearizability.Result{Output: strconv.FormatBool(is), Token: l.Token()}, err
				})
			}
			playUnlock(p, l, "")
		}
	}
	return judgedBy(w, "who is told that it owns the lock has its node", ownerWithoutNode)
}

// ownerWithoutNode says who was told that it is the owner when its node was gone.
func ownerWithoutNode(e scenario.Evidence) error {
	for _, op := range e.History.Ops {
		if op.Kind != kindIsOwner || op.Output != strconv.FormatBool(true) {
			continue
		}
		if step, removed := removedAt(e.History, op.Token); removed && step < op.Call {
			return fmt.Errorf("%s was told so at step %d, and its node was gone since step %d", op.Client, op.Return, step)
		}
	}
	return nil
}
