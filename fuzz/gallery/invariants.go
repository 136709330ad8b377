package gallery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// judgedBy is a workload that is judged by one invariant, and by whether all calls
// return.
func judgedBy(w scenario.Workload, name string, holds func(scenario.Evidence) error) scenario.Workload {
	w.Judge = scenario.Invariants(scenario.Invariant{Name: name, Holds: holds})
	return w
}

// expectedErrors are those that any call may return.
var expectedErrors = []error{zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing, zk.ErrNoServer}

// noOtherErrors: what fails, fails because of its connection, its session or its
// context.
func noOtherErrors(e scenario.Evidence) error {
	for _, op := range e.History.Ops {
		known := strings.Contains(op.Err, "context ") || slices.ContainsFunc(expectedErrors, func(err error) bool {
			return strings.Contains(op.Err, err.Error())
		})
		if op.Err != "" && !known {
			return fmt.Errorf("%s's %s at step %d: %s", op.Client, op.Kind, op.Return, op.Err)
		}
	}
	return nil
}

// removedAt is the step at which the node of a czxid was deleted, and false if it was
// not.
func removedAt(h linearizability.History, czxid int64) (int64, bool) {
	i := slices.IndexFunc(h.Server, func(ev linearizability.ServerEvent) bool {
		return ev.Kind == linearizability.NodeDeleted && ev.Czxid == czxid
	})
	if i < 0 {
		return 0, false
	}
	return h.Server[i].Step, true
}

// together tells who is granted something while another has it whose session is alive:
// from the return of what begins it to the call of what ends it.
func together(h linearizability.History, begins, ends func(linearizability.Op) bool) error {
	granted := func(op linearizability.Op) bool { return begins(op) && op.Outcome == linearizability.OpOK }
	for _, first := range h.Ops {
		if !granted(first) {
			continue
		}
		end := endOf(h, first, ends)
		for _, second := range h.Ops {
			if granted(second) && second.Client != first.Client && second.Return > first.Return && second.Return < end {
				return fmt.Errorf("%s has it since step %d, and %s since step %d", first.Client, first.Return, second.Client, second.Return)
			}
		}
	}
	return nil
}

// endOf is the step at which what was granted is given back, or its session ends.
func endOf(h linearizability.History, granted linearizability.Op, ends func(linearizability.Op) bool) int64 {
	end := h.End + 1
	for _, op := range h.Ops {
		if ends(op) && op.Client == granted.Client && op.Call > granted.Return {
			end = min(end, op.Call)
		}
	}
	for _, ev := range h.Server {
		if ev.Kind == linearizability.SessionEnded && ev.Owner == granted.Session {
			end = min(end, ev.Step)
		}
	}
	return end
}
