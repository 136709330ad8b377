package museum

import "github.com/zksim/zksim/linearizability"

func nothingLeft() Exhibit {
	return Exhibit{
		ID: "S4-30", Title: "the slow find the barrier closed again",
		Report: thresholdTutorial,
		Bug: "Each member looks every now and then whether enough are there, and keeps nothing of what it has seen. The " +
			"first that does goes on, and deletes its node; for those who look after that one is missing for ever.",
		Property: linearizability.Liveness,
		Wrong: quorumOf(func(q *quorum) {
			q.tell = func(int32) error { return nil } // wrong: the others do not know
		}),
		Right: quorumOf(nil),
	}
}
