package object

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// succeeded reports whether an operation of the kind did.
func succeeded(h linearizability.History, kind string) bool {
	return slices.ContainsFunc(h.Ops, func(op linearizability.Op) bool {
		return op.Kind == kind && op.Outcome == linearizability.OpOK
	})
}

// elsewhere is an error if an operation of the kind succeeded in a run without faults,
// though no znode was ever made at or below where, which the field says: there an object
// that does nothing at the path of its claims is one that lives elsewhere.
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

// butAt says which znodes were made instead, if any.
func butAt(made []string) string {
	if len(made) == 0 {
		return ""
	}
	return fmt.Sprintf(" (one was at %s)", made[0])
}

// inOneBelow returns the directory below dir in which all ephemeral znodes were made that
// were made below dir, or "" if some were made at dir or as its children, or in several.
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
