package museum

import (
	"slices"

	"github.com/zksim/zksim/linearizability"
)

func lastReaderOnly() Exhibit {
	return Exhibit{
		ID: "S1-3", Title: "a writer waits for one reader of two",
		Report: "https://zookeeper.apache.org/doc/current/recipes.html#Shared+Locks",
		Bug: "The writer waits for the reader right before it, and writes when that has left. An older reader reads on: reading is " +
			"shared, so they do not leave in the order in which they came.",
		Property: linearizability.Safety,
		Wrong: readWriteOf(func(l *naked) {
			waited := ""
			l.ahead = func(queue []string) (string, error) {
				if waited != "" && !slices.Contains(queue, waited) && slices.Contains(queue, l.own) {
					return "", l.confirm() // wrong: there may be others
				}
				ahead, err := l.conflicting(queue)
				waited = ahead
				return ahead, err
			}
		}),
		Right: readWriteOf(nil),
	}
}
