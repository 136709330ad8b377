package gallery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// judgedBy is a workload that is judged by one invariant, and by whether all calls return.
func judgedBy(
	w scenario.Workload, name string, holds func(scenario.Evidence) error,
) scenario.Workload {
	w.Judge = scenario.Invariants(scenario.Invariant{Name: name, Holds: holds})
	w.Properties = []string{scenario.InvariantProperty, liveness}
	return w
}

// judgedByReturns is a workload that is judged only by whether all calls return.
func judgedByReturns(w scenario.Workload) scenario.Workload {
	w.Judge, w.Properties = scenario.Invariants(), []string{liveness}
	return w
}

// expectedErrors are the errors of a connection or a session, which any call may return.
var expectedErrors = []error{
	zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing, zk.ErrNoServer,
}

// noOtherErrors finds a call that failed, but not by its connection, session or context.
func noOtherErrors(e scenario.Evidence) error {
	for _, op := range e.History.Ops {
		expected := func(err error) bool { return strings.Contains(op.Err, err.Error()) }
		died := op.Err == linearizability.ProcessDied
		if op.Err != "" && !died && !strings.Contains(op.Err, "context ") &&
			!slices.ContainsFunc(expectedErrors, expected) {
			return fmt.Errorf("%s's %s at step %d: %s", op.Client, op.Kind, op.Return, op.Err)
		}
	}
	return nil
}

// removedAt is the step at which the node of a czxid was deleted, and false if it was not.
func removedAt(h linearizability.History, czxid int64) (int64, bool) {
	for _, ev := range h.Server {
		if ev.Kind == linearizability.NodeDeleted && ev.Czxid == czxid {
			return ev.Step, true
		}
	}
	return 0, false
}

// overlappingHolds finds a client that is granted something while another client has it, with a
// live session: from the return of a call that begins it to a call that ends it.
func overlappingHolds(h linearizability.History, begins, ends func(linearizability.Op) bool) error {
	granted := slices.DeleteFunc(slices.Clone(h.Ops), func(op linearizability.Op) bool {
		return !begins(op) || op.Outcome != linearizability.OpOK
	})
	for _, first := range granted {
		end := endOf(h, first, ends)
		for _, second := range granted {
			if second.Client != first.Client && second.Return > first.Return &&
				second.Return < end {
				return fmt.Errorf("%s has it since step %d, and %s since step %d",
					first.Client, first.Return, second.Client, second.Return)
			}
		}
	}
	return nil
}

// endOf is the step at which a grant is given back, or its session ends.
func endOf(
	h linearizability.History, grant linearizability.Op, ends func(linearizability.Op) bool,
) int64 {
	end := h.End + 1
	for _, op := range h.Ops {
		if ends(op) && op.Client == grant.Client && op.Call > grant.Return {
			end = min(end, op.Call)
		}
	}
	for _, ev := range h.Server {
		if ev.Kind == linearizability.SessionEnded && ev.Owner == grant.Session {
			end = min(end, ev.Step)
		}
	}
	return end
}
