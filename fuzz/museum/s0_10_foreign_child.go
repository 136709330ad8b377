package museum

import "github.com/zksim/zksim/linearizability"

func foreignChild() Exhibit {
	return Exhibit{
		ID: "S0-10", Title: "a child without a number is the first in line",
		Report: "https://github.com/apache/curator/issues/564", // CURATOR-43
		Bug: "A child that is no contender, such as the directory of another lock, counts as one. What cannot be parsed sorts " +
			"first, so it owns the lock, and will never give it up.",
		Property: linearizability.Liveness,
		Wrong:    beside(lockOf(func(l *naked) { l.contender = func(string) bool { return true } }), foreign),
		Right:    beside(lockOf(nil), foreign),
	}
}
