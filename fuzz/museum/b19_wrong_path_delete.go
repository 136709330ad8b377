package museum

import (
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func wrongPathDelete() Exhibit {
	return Exhibit{
		ID: "B19", Title: "the guaranteed delete goes to the wrong path",
		Report: "https://github.com/apache/curator/pull/106",
		Bug: "After a lost reply the node is found by its GUID, to be deleted. Its path gets the namespace a second time. No " +
			"node is there, which is as good as deleted, and the client waits behind what it has left.",
		Property: linearizability.Liveness,
		Wrong:    findAndDelete(func(l *naked) string { return l.dir + l.path(l.own) }), // wrong: the directory twice
		Right:    findAndDelete(func(l *naked) string { return l.path(l.own) }),
	}
}

// findAndDelete is a lock that makes a new node after a lost reply, and deletes the
// one that it finds.
func findAndDelete(where func(*naked) string) scenario.Workload {
	return lockOf(func(l *naked) {
		l.find = func() (bool, error) {
			if found, err := l.findPrefix(); !found || err != nil {
				return false, err
			}
			err := l.remove(where(l))
			l.own = ""
			return false, err
		}
	})
}
