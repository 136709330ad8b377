package museum

import "github.com/zksim/zksim/linearizability"

func deletesByName() Exhibit {
	return Exhibit{
		ID: "S1-7", Title: "unlock deletes whatever is there",
		Report: "https://github.com/etcd-io/etcd/issues/22082", See: []string{"the simple lock of tutorials"},
		Bug: "The delete is applied and its reply lost, or the owner's session ends, and another client makes the node. The " +
			"former owner unlocks, once more, by the name of the node, and takes the lock away from somebody who has just begun.",
		Property: linearizability.Safety,
		Wrong: singleOf(func(l *single) {
			l.leave = func() error { return newNaked(l.conn, lockDir).remove(singlePath) } // wrong: whose it is is not asked
		}),
		Right: singleOf(nil),
	}
}
