package museum

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

func lostMinus() Exhibit {
	return Exhibit{
		ID: "B3", Title: "the minus sign is taken for the separator",
		Report: "https://issues.apache.org/jira/browse/ZOOKEEPER-4372", See: []string{"S0-11"},
		Bug: "The number is what follows the last '-' of the name. Once the numbers of a directory have wrapped they are " +
			"negative, lose their sign so, and whoever comes later is first.",
		Property: linearizability.Safety,
		Wrong: wrapped(lockOf(func(l *naked) {
			l.order = func(a, b string) int { return cmp.Compare(afterLastMinus(a), afterLastMinus(b)) }
		})),
		Right: wrapped(lockOf(nil)),
	}
}

func afterLastMinus(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	if err != nil {
		return -1
	}
	return n
}

// wrapped is a workload whose sequence numbers wrapped some time ago.
func wrapped(w scenario.Workload) scenario.Workload {
	w.Next = map[string]int32{lockDir: -2_000_000_000}
	return w
}
