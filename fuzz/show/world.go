package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// world is the world of a run after a line of its trace.
type world struct {
	nodes    []trace.Change // by path
	sessions []string       // in the order of their beginnings, named as in the trace
	calls    []linearizability.Op
	rename   func(string) string
}

// worldAt is the world after line number step of the trace: the live sessions, the calls under
// way, and the znodes that the run has made.
func worldAt(o *scenario.Outcome, step int64) world {
	s := world{rename: o.Result.Trace.Rename}
	nodes := map[string]trace.Change{}
	for _, c := range o.Result.Changes {
		if c.Step > step {
			break
		}
		name := s.rename(fmt.Sprintf("0x%016x", uint64(c.Owner)))
		switch c.Kind {
		case trace.NodeCreated:
			nodes[c.Path] = c
		case trace.DataChanged:
			n := nodes[c.Path]
			n.Data = c.Data
			nodes[c.Path] = n
		case trace.NodeDeleted:
			delete(nodes, c.Path)
		case trace.SessionStarted:
			s.sessions = append(s.sessions, name)
		case trace.SessionEnded:
			s.sessions = slices.DeleteFunc(s.sessions, func(n string) bool { return n == name })
		}
	}
	for _, n := range nodes {
		s.nodes = append(s.nodes, n)
	}
	slices.SortFunc(s.nodes, func(a, b trace.Change) int { return strings.Compare(a.Path, b.Path) })
	for _, op := range o.History.Ops {
		if op.Call <= step && (op.Outcome == linearizability.OpPending || op.Return > step) {
			s.calls = append(s.calls, op)
		}
	}
	return s
}

func (s world) String() string {
	var b strings.Builder
	b.WriteString("  sessions: " + strings.Join(s.sessions, " ") + "\n")
	for _, op := range s.calls {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(fmt.Sprintf("%s is in %s %s", op.Client,
			op.Kind, op.Input), " "))
	}
	for _, n := range s.nodes {
		line := "  " + n.Path
		if n.Owner != 0 {
			line += fmt.Sprintf(" (ephemeral of 0x%016x)", uint64(n.Owner))
		}
		if len(n.Data) > 0 {
			line += fmt.Sprintf(" = %.40q", n.Data)
		}
		b.WriteString(s.rename(line) + "\n")
	}
	return b.String()
}
