package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// Snapshot is the world of a run after a line of its trace.
type Snapshot struct {
	// Nodes are the znodes that the run has made, by path.
	Nodes []trace.Change
	// Sessions are the live sessions in the order of their beginnings, named as in the trace.
	Sessions []string
	// Calls are the operations under way.
	Calls []linearizability.Op

	rename func(string) string
}

// At is the world after line number step of the trace.
func (o *Outcome) At(step int64) Snapshot {
	s := Snapshot{rename: o.Result.Trace.Rename}
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
			s.Sessions = append(s.Sessions, name)
		case trace.SessionEnded:
			s.Sessions = slices.DeleteFunc(s.Sessions, func(n string) bool { return n == name })
		}
	}
	for _, n := range nodes {
		s.Nodes = append(s.Nodes, n)
	}
	slices.SortFunc(s.Nodes, func(a, b trace.Change) int { return strings.Compare(a.Path, b.Path) })
	for _, op := range o.History.Ops {
		if op.Call <= step && (op.Outcome == linearizability.OpPending || op.Return > step) {
			s.Calls = append(s.Calls, op)
		}
	}
	return s
}

// String is the snapshot in a few lines.
func (s Snapshot) String() string {
	var b strings.Builder
	b.WriteString("  sessions: " + strings.Join(s.Sessions, " ") + "\n")
	for _, op := range s.Calls {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(fmt.Sprintf("%s is in %s %s", op.Client,
			op.Kind, op.Input), " "))
	}
	for _, n := range s.Nodes {
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
