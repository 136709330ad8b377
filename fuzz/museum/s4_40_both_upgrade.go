package museum

import (
	"context"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func bothUpgrade() Exhibit {
	return Exhibit{
		ID: "S4-40", Title: "who reads may write",
		Report: sharedLocksGuide,
		Bug: "The lock is re-entrant: who holds it for reading gets it for writing at once, as it holds it already. Two who " +
			"read both write.",
		Property: scenario.InvariantProperty,
		Wrong: upgradeOf(func(_ *scenario.Player, read *naked) tokenLock {
			return held{read} // wrong: others may read, too
		}),
		Right: upgradeOf(func(p *scenario.Player, read *naked) tokenLock {
			playUnlock(p, read, ops.ReadMode)
			return newReadWrite(p.Conn(), ops.WriteMode)
		}),
	}
}

// upgradeOf is a workload of clients that read, and then want to write; upgrade makes
// the lock to write by of the one that they read by.
func upgradeOf(upgrade func(p *scenario.Player, read *naked) tokenLock) scenario.Workload {
	w := readWriteOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for round := range s.Rounds {
			read := newReadWrite(p.Conn(), ops.ReadMode)
			if !p.Persist(func(int) error { return playLock(p, read, ops.ReadMode) }) {
				return
			}
			playRound(p, upgrade(p, read), ops.WriteMode, round)
			if read.own != "" {
				playUnlock(p, read, ops.ReadMode)
			}
		}
	}
	return judgedBy(w, "one writes at a time", twoWrite)
}

// held is a lock that its owner locks once more.
type held struct{ *naked }

func (held) Lock(context.Context) error   { return nil }
func (held) Unlock(context.Context) error { return nil }

// twoWrite says who writes while another does.
func twoWrite(e scenario.Evidence) error {
	return together(e.History, func(op linearizability.Op) bool {
		return op.Kind == ops.Lock && op.Input == ops.WriteMode
	}, func(op linearizability.Op) bool {
		return op.Kind == ops.Unlock && op.Input == ops.WriteMode
	})
}
