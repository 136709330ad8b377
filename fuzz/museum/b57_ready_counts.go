package museum

import "github.com/zksim/zksim/linearizability"

func readyCounts() Exhibit {
	return Exhibit{
		ID: "B57", Title: "\"ready\" is counted as a member",
		Report: "https://github.com/apache/curator/pull/416", See: []string{"Netflix/curator issue 99"},
		Bug: "Members are counted by the children of the directory, of which \"ready\" is one. When all have left there is " +
			"one too many, for whom everybody waits.",
		Property: linearizability.Liveness,
		Wrong: gatheringOf(func(g *gathering) {
			g.member = func(string) bool { return true } // wrong: "ready" is none
		}),
		Right:  doubleBarrier(),
		Script: oneRound,
	}
}
