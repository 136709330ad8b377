package museum

import (
	"fmt"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func negativeNumbers() Exhibit {
	return Exhibit{
		ID: "G9", Title: "the Go client's lock among negative numbers",
		Report: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go",
		Bug: "The search for the predecessor begins at -1, so that none is found among numbers that have wrapped. The lock asks " +
			"for a node without a name, which is an invalid path, and its own node stays.",
		Property: linearizability.Liveness,
		Wrong: wrapped(failingLock(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				if ahead, err := l.predecessor(queue); ahead == "" {
					return "", err
				}
				own, _ := sequence(l.own)
				largest, before := int32(-1), "" // wrong: numbers may be smaller
				for _, name := range queue {
					if n, _ := sequence(name); n < own && n > largest {
						largest, before = n, name
					}
				}
				if before == "" {
					return "", fmt.Errorf("%w: %w", errFailed, zk.ErrInvalidPath)
				}
				return before, nil
			}
		})),
		Right: wrapped(lockOf(nil)),
	}
}

// failingLock is a workload of a naked lock with steps that fail.
func failingLock(replace func(*naked)) scenario.Workload {
	return openLock(func(env object.Env) object.Locker { return failing(remade(env.Conn, lockDir, replace)) })
}
