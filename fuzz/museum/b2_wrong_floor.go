package museum

import (
	"slices"

	"github.com/zksim/zksim/linearizability"
)

func wrongFloor() Exhibit {
	return Exhibit{
		ID: "B2", Title: "sorted by sequence, searched by name",
		Report: "https://issues.apache.org/jira/browse/ZOOKEEPER-3162",
		Bug: "The C recipe sorts the children by sequence number, and then takes the last one whose whole name is " +
			"smaller than the own one for the predecessor. Names begin with a session id, so there may be none, and who " +
			"waits for nobody owns the lock.",
		Property: linearizability.Safety,
		Wrong: lockOf(func(l *naked) {
			l.ahead = func(queue []string) (string, error) {
				if !slices.Contains(queue, l.own) {
					return "", errGone
				}
				floor := ""
				for _, name := range queue {
					if name < l.own { // wrong: not what they are sorted by
						floor = name
					}
				}
				if floor == "" {
					return "", l.confirm()
				}
				return floor, nil
			}
		}),
		Right: lockOf(nil),
	}
}
