package museum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/linearizability"
)

// judgedBy is a workload that is judged by one invariant, and by whether all calls
// return.
func judgedBy(w fuzz.Workload, name string, holds func(fuzz.Evidence) error) fuzz.Workload {
	w.Judge = fuzz.Invariants(fuzz.Invariant{Name: name, Holds: holds})
	return w
}

// expectedErrors are those that any call may return.
var expectedErrors = []error{zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrSessionMoved, zk.ErrClosing, zk.ErrNoServer}

// noOtherErrors: what fails, fails because of its connection, its session or its
// context.
func noOtherErrors(e fuzz.Evidence) error {
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
