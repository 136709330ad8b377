package recipes

import (
	"slices"
	"strconv"
	"strings"
)

// numbered is a child whose name ends in a sequence number of the server.
type numbered struct {
	name string
	seq  int32
}

// lockMarkers stand before the sequence number in the lock nodes of this
// package, Curator and zk.Lock ("_c_<guid>-lock-0000000001"), and of kazoo
// ("<guid>__lock__0000000001").
var lockMarkers = []string{"lock-", "__lock__"}

// parseNumbered reads the sequence number behind the last of the markers that
// name contains, and reports false for a foreign name. The server prints the
// number with %010d: at least ten characters, a '-' included when the counter
// has passed 2147483647 and gone negative (ZOOKEEPER-4372).
func parseNumbered(name string, markers ...string) (numbered, bool) {
	for _, marker := range markers {
		at := strings.LastIndex(name, marker)
		if at < 0 {
			continue
		}
		digits := name[at+len(marker):]
		if len(digits) < 10 || digits[0] == '+' {
			return numbered{}, false
		}
		seq, err := strconv.ParseInt(digits, 10, 32)
		if err != nil {
			return numbered{}, false
		}
		return numbered{name: name, seq: int32(seq)}, true
	}
	return numbered{}, false
}

// compare orders numbered children by age. Sequence numbers are compared as
// serial numbers (RFC 1982), which is right across the wrap from 2147483647 to
// -2147483648 while less than 2^31 creations lie between the oldest and the
// newest child.
func (n numbered) compare(m numbered) int {
	switch diff := n.seq - m.seq; {
	case diff < 0:
		return -1
	case diff > 0:
		return 1
	}
	return strings.Compare(n.name, m.name)
}

// sortNumbered returns the children that carry one of the markers, oldest
// first. Foreign children are left out.
func sortNumbered(names []string, markers ...string) []numbered {
	var out []numbered
	for _, name := range names {
		if n, ok := parseNumbered(name, markers...); ok {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, numbered.compare)
	return out
}
