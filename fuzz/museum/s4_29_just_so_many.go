package museum

import "github.com/zksim/zksim/linearizability"

func justSoMany() Exhibit {
	return Exhibit{
		ID: "S4-29", Title: "one more than enough is not enough",
		Report: thresholdTutorial,
		Bug: "The barrier opens when just so many are there as it says. Members come without asking: with one more than that, " +
			"or when the number is made smaller, it never opens.",
		Property: linearizability.Liveness,
		Wrong: quorumOf(func(q *quorum) {
			q.enough = func(members, n int) bool { return members == n } // wrong: or more
		}),
		Right: quorumOf(nil),
	}
}

// thresholdTutorial is the barrier that tutorials make a threshold barrier of.
const thresholdTutorial = "https://zookeeper.apache.org/doc/current/zookeeperTutorial.html#sc_barriers"
