package museum

import "github.com/zksim/zksim/linearizability"

func membersOfBefore() Exhibit {
	return Exhibit{
		ID: "S4-35", Title: "members of the round before are counted",
		Report: thresholdTutorial,
		Bug: "Who has passed leaves its node until it comes again, or its session ends. Those who come to the next " +
			"round find it, and are enough too soon.",
		Property: linearizability.Safety,
		Wrong: quorumOf(func(q *quorum) {
			q.leave = func() error { return nil } // wrong: the node counts
			join := q.join
			q.join = func() error {
				if q.own != "" {
					if err := q.remove(); err != nil {
						return err
					}
				}
				return join()
			}
		}),
		Right: quorumOf(nil),
	}
}
