package museum

import (
	"cmp"

	"github.com/zksim/zksim/linearizability"
)

func bareName() Exhibit {
	return Exhibit{
		ID: "S0-1", Title: "the recovered id lacks its directory",
		Report: writeLockSource, See: []string{"S2-5 (that it is of production quality)"},
		Bug: "WriteLock compares ids that are full paths. The one that it finds by its prefix, after a lost reply, is a bare name: " +
			"of the same number, its own node's path sorts before it, so that it waits for its own node.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			recovered := false
			l.find = func() (bool, error) {
				found, err := l.findPrefix()
				recovered = found
				return found, err
			}
			l.naming = func() string { recovered = false; return l.guid() }
			l.ahead = func(queue []string) (string, error) {
				id := l.path(l.own)
				if recovered {
					id = l.own // wrong: all others have the directory
				}
				below := ""
				for _, name := range queue {
					if cmp.Or(bySequence(name, l.own), cmp.Compare(l.path(name), id)) < 0 {
						below = name
					}
				}
				if below != "" {
					return below, nil
				}
				return "", l.confirm()
			}
		}),
		Right: lockOf(nil),
	}
}
