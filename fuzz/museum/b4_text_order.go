package museum

import (
	"strings"

	"github.com/zksim/zksim/linearizability"
)

func textOrder() Exhibit {
	return Exhibit{
		ID: "B4", Title: "sequence numbers are compared as text",
		Report: "https://github.com/python-zk/kazoo/issues/606",
		Bug: "Ten digits sort as the numbers do, until the counter of the directory has wrapped: of two negative numbers " +
			"the later one is the smaller text. Whoever comes later is first, and owns what somebody else owns.",
		Property: linearizability.Safety,
		Wrong:    wrapped(lockOf(func(l *naked) { l.order = byText })),
		Right:    wrapped(lockOf(nil)),
	}
}

// byText orders names by what follows the marker, as text.
func byText(a, b string) int { return strings.Compare(numberText(a), numberText(b)) }

func numberText(name string) string { return name[strings.LastIndex(name, marker)+len(marker):] }
