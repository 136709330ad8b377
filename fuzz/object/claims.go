package object

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// judgedAt is a workload with the judge of claims, for code that must use its Env.Path, which is
// path. The judge returns an error if a call of the kind writes succeeded in a run without faults,
// but nothing was written at path or below. There is no such error if the code has written nothing
// at all and thereby violates a property.
func judgedAt(
	w scenario.Workload, path, writes string, claims func(scenario.Evidence) linearizability.Claims,
) scenario.Workload {
	if w.Properties = claims(scenario.Evidence{}).Properties(); w.Main == nil {
		w.Main = []string{writes}
	}
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		report := linearizability.Judge(e.History, e.Rest, claims(e))
		at, there := written(e.History, path)
		if there || len(e.Plan) > 0 || !succeeded(e.History, writes) ||
			at == "" && report.Status() == linearizability.Violated {
			return report, nil
		}
		return linearizability.Report{}, fmt.Errorf("%s succeeded, but wrote to %s and not to %s, "+
			"its Env.Path: make the object at Env.Path, or set Path of its claims",
			writes, cmp.Or(at, "nothing"), path)
	}
	return w
}

// succeeded reports whether an operation of the kind succeeded.
func succeeded(h linearizability.History, kind string) bool {
	return slices.ContainsFunc(h.Ops, func(op linearizability.Op) bool {
		return op.Kind == kind && op.Outcome == linearizability.OpOK
	})
}

// stores reports whether an event stored data in a znode.
func stores(ev linearizability.ServerEvent) bool {
	return ev.Kind == linearizability.NodeCreated || ev.Kind == linearizability.DataChanged
}

// written reports whether a znode was written at path or below. If none was, it returns the first
// znode that was written elsewhere, or "".
func written(h linearizability.History, path string) (at string, there bool) {
	for _, ev := range h.Server {
		if !stores(ev) {
			continue
		}
		if ev.Path == path || strings.HasPrefix(ev.Path, strings.TrimSuffix(path, "/")+"/") {
			return "", true
		}
		at = cmp.Or(at, ev.Path)
	}
	return at, false
}
