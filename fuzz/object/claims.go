package object

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// succeeded reports whether an operation of the kind succeeded.
func succeeded(h linearizability.History, kind string) bool {
	return slices.ContainsFunc(h.Ops, func(op linearizability.Op) bool {
		return op.Kind == kind && op.Outcome == linearizability.OpOK
	})
}

// elsewhere returns an error if an operation of the kind succeeded in a run without faults, and no
// znode was ever made at or below where. Then the object is at another path than its claims say.
// The error names the field of the claims to set.
func elsewhere(e scenario.Evidence, kind, where, field string) error {
	if len(e.Plan) > 0 || !succeeded(e.History, kind) {
		return nil
	}
	var made []string
	for _, ev := range e.History.Server {
		if ev.Kind != linearizability.NodeCreated {
			continue
		}
		if ev.Path == where || strings.HasPrefix(ev.Path, strings.TrimSuffix(where, "/")+"/") {
			return nil
		}
		made = append(made, ev.Path)
	}
	return fmt.Errorf("%w: %s succeeded, but no znode was ever created at or under %s%s; set %s",
		scenario.ErrClaims, kind, where, butAt(made), field)
}

// butAt names the first of the znodes that were made at other paths, if any.
func butAt(made []string) string {
	if len(made) == 0 {
		return ""
	}
	return fmt.Sprintf(" (one was at %s)", made[0])
}

// inOneBelow returns the child of dir below which all ephemeral znodes under dir were made. It
// returns "" if there is no such znode, if one was made at dir or as its child, or if they are
// below several children.
func inOneBelow(h linearizability.History, dir string) string {
	found := ""
	for _, ev := range h.Server {
		rest, below := strings.CutPrefix(ev.Path, strings.TrimSuffix(dir, "/")+"/")
		if ev.Kind != linearizability.NodeCreated || ev.Owner == 0 || !below && ev.Path != dir {
			continue
		}
		first, _, deeper := strings.Cut(rest, "/")
		if !deeper || found != "" && found != first {
			return ""
		}
		found = first
	}
	if found == "" {
		return ""
	}
	return path.Join(dir, found)
}
