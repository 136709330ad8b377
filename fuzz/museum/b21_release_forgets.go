package museum

import "github.com/zksim/zksim/linearizability"

func releaseForgets() Exhibit {
	return Exhibit{
		ID: "B21", Title: "a release that fails is forgotten",
		Report: "https://github.com/apache/curator/issues/1193", See: []string{"S0-6"},
		Bug: "Release drops the local ownership and then deletes the node. If that fails there is nothing left to release " +
			"again, while the node stays as long as the session, and blocks the next acquire of its own client.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			l.leave = func() error {
				if l.own == "" {
					return nil
				}
				name := l.own
				l.own = "" // wrong: too early
				return l.conn.Delete(l.path(name), -1)
			}
		}),
		Right: lockOf(nil),
	}
}
