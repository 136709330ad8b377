package museum

import (
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func outlivesItsMaker() Exhibit {
	return Exhibit{
		ID: "S4-22", Title: "a place in line that outlives its member",
		Report: turnTutorial,
		Bug: "The members' nodes are persistent. One whose turn it is dies before it has deleted its node: no session's end " +
			"does that for it, and all others wait for ever.",
		Property: linearizability.Liveness,
		Wrong: mortals(func(l *naked) {
			l.flags = zk.FlagSequence // wrong: nobody deletes it
			l.confirm = func() error { return nil }
		}),
		Right: mortals(nil),
	}
}

// mortals is a workload of a line whose first member dies when it is its turn.
func mortals(replace func(*naked)) scenario.Workload {
	w := turnOf(nil)
	w.Play = func(p *scenario.Player, s scenario.Script) {
		for range s.Rounds {
			l := remade(p.Conn(), lockDir, replace)
			if !p.Persist(func(int) error { return playLock(p, l, "") }) {
				return
			}
			if p.Index() == 0 {
				p.Conn().Close()
				return
			}
			playUnlock(p, l, "")
		}
	}
	w.Judge = scenario.Invariants()
	return w
}
