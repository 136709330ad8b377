package cache

import (
	"fmt"
	"maps"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// judgeEvents applies the events of each client to its last look.
func (t *table) judgeEvents() lin.Verdict {
	replicas := map[string]map[string]Node{} // by client and path
	events := 0
	for _, l := range t.looks {
		replica := replicas[l.op.Client]
		if replica == nil {
			replica = map[string]Node{}
			replicas[l.op.Client] = replica
		}
		for _, e := range l.Events {
			events++
			if problem := applyChange(replica, e); problem != "" {
				return judging.Violated(lin.Delivery, []int64{l.op.Call},
					"%s: it was told that %s was %s, but %s",
					judging.Describe(l.op), e.Node.Path, e.Kind, problem)
			}
		}
		if problem := difference(replica, l.Nodes); problem != "" {
			return judging.Violated(lin.Delivery, []int64{l.op.Call}, "%s: %s", judging.Describe(l.op), problem)
		}
	}
	return judging.Fine(lin.Delivery, "%s gave what was shown, each of the right kind", judging.Count(events, "event"))
}

// applyChange applies one event. It returns the reason if the event is wrong, or "".
func applyChange(replica map[string]Node, e Change) string {
	before, exists := replica[e.Node.Path]
	switch {
	case e.Kind == "added" && exists:
		return "it had been there"
	case e.Kind != "added" && !exists:
		return "it had not been there"
	case e.Kind == "updated" && before.Zxid == e.Node.Zxid:
		return fmt.Sprintf("its zxid stays %d", before.Zxid)
	}
	replica[e.Node.Path] = e.Node
	if e.Kind == "removed" {
		delete(replica, e.Node.Path)
	}
	return ""
}

// difference describes how the result of the events differs from the present look, or returns "".
func difference(replica map[string]Node, shown []Node) string {
	paths := slices.Sorted(maps.Keys(replica))
	for _, n := range shown {
		expected, exists := replica[n.Path]
		switch {
		case !exists:
			return fmt.Sprintf("it shows %s, and no event told of that", n.Path)
		case expected != n:
			return fmt.Sprintf("it shows %q of zxid %d in %s, and events told of %q of zxid %d",
				n.Data, n.Zxid, n.Path, expected.Data, expected.Zxid)
		}
		paths = slices.DeleteFunc(paths, func(p string) bool { return p == n.Path })
	}
	if len(paths) > 0 {
		return fmt.Sprintf("it does not show %s, and no event told that this was removed", paths[0])
	}
	return ""
}
