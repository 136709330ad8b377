package museum

import "github.com/zksim/zksim/linearizability"

func phantom() Exhibit {
	return Exhibit{
		ID: "G6", Title: "granted without a node",
		Report: "https://github.com/go-zookeeper/zk/blob/v1.0.4/lock.go", See: []string{"B36 (etcd issue 9921)"},
		Bug: "The lowest number of the list is sought beginning with the own one, and whether that is in the list is not asked. " +
			"If the session has ended meanwhile, and its node with it, there is nothing lower: the lock is granted.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				before := ""
				for _, name := range queue {
					if bySequence(name, l.own) < 0 {
						before = name
					}
				}
				return before, nil // wrong: the own node may be gone
			}
		}),
		Right: lockOf(nil),
	}
}
