package museum

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func stuckCounter() Exhibit {
	return Exhibit{
		ID: "B85", Title: "everybody has the largest number",
		Report: "https://issues.apache.org/jira/browse/ZOOKEEPER-3249",
		Bug: "Since 3.6 the counter of a directory grows or stays: after 2147483647 each new node gets that number, too. Among " +
			"equal numbers the names decide, which begin with a GUID, and a newcomer may sort before the owner.",
		Property: linearizability.Safety,
		Wrong: stuck(lockOf(func(l *naked) {
			l.order = func(a, b string) int { return cmp.Or(bySequence(a, b), strings.Compare(a, b)) } // wrong: names do not tell the age
		})),
		Right: stuck(lockOf(func(l *naked) { l.ahead = l.elder })),
	}
}

// stuck is a workload in a directory whose numbers are used up.
func stuck(w scenario.Workload) scenario.Workload {
	w.Next = map[string]int32{lockDir: math.MaxInt32}
	return w
}

// elder is the node before the own one in the order of their czxids.
func (l *naked) elder(queue []string) (string, error) {
	born := map[string]int64{}
	for _, name := range queue {
		exists, stat, err := l.conn.Exists(l.path(name))
		if err != nil {
			return "", err
		}
		if exists {
			born[name] = stat.Czxid
		}
	}
	queue = slices.DeleteFunc(queue, func(name string) bool { return born[name] == 0 })
	slices.SortFunc(queue, func(a, b string) int { return cmp.Compare(born[a], born[b]) })
	return l.predecessor(queue)
}
