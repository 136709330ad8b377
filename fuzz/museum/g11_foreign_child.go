package museum

import (
	"fmt"

	"github.com/zksim/zksim/linearizability"
)

func strictParser() Exhibit {
	return Exhibit{
		ID: "G11", Title: "one foreign child fails every Lock of the Go client",
		Report: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go",
		Bug: "Lock parses the names of all children and gives up at the first that has no number, after it has made its own " +
			"node, which stays. So does each later Lock of every client.",
		Property: linearizability.Liveness,
		Wrong: beside(failingLock(func(l *naked) {
			l.contender = func(string) bool { return true }
			l.ahead = func(queue []string) (string, error) {
				for _, name := range queue {
					if !hasNumber(name) {
						return "", fmt.Errorf("%w: %s has no number", errFailed, name) // wrong: it is none of its business
					}
				}
				return l.predecessor(queue)
			}
		}), foreign),
		Right: beside(lockOf(nil), foreign),
	}
}
