package museum

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func missedCount() Exhibit {
	return Exhibit{
		ID: "B58", Title: "all were there, but not for long enough",
		Report: "https://issues.apache.org/jira/browse/ZOOKEEPER-1011", See: []string{"the barrier of ZooKeeper's own tutorial"},
		Bug: "Each member counts for itself until all are there. A fast one enters and leaves before a slow one has counted: " +
			"that one never sees all of them, and waits for ever.",
		Property: linearizability.Liveness,
		Wrong: notLeftBehind(gatheringOf(func(g *gathering) {
			g.look = g.lookAtMembers // wrong: nothing is left that says that all were there
		})),
		Right:  notLeftBehind(doubleBarrier()),
		Script: oneRound,
	}
}

// notLeftBehind is a double barrier of which more is asked: when all the clients are a
// group and one has entered, those enter, too, who have not been disturbed.
func notLeftBehind(w scenario.Workload) scenario.Workload {
	judge := w.Judge
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		r, err := judge(e)
		i := slices.IndexFunc(r.Verdicts, func(v linearizability.Verdict) bool { return v.Property == linearizability.Liveness })
		if why := leftBehind(e.History); err == nil && i >= 0 && why != "" {
			r.Verdicts[i].Status, r.Verdicts[i].Summary = linearizability.Violated, why
		}
		return r, err
	}
	return w
}

// leftBehind says who was, "" if nobody was.
func leftBehind(h linearizability.History) string {
	clients, entered := map[string]bool{}, map[string]int64{}
	for _, op := range h.Ops {
		clients[op.Client] = true
		if op.Kind == ops.Enter && op.Outcome == linearizability.OpOK {
			entered[op.Client] = op.Return
		}
	}
	for _, op := range h.Ops {
		gaveUp := op.Kind == ops.Enter && op.Outcome == linearizability.OpUnknown && op.ReturnTime-op.CallTime > 20*time.Second
		if !gaveUp || op.Input != strconv.Itoa(len(clients)) || disturbed(h, op) {
			continue
		}
		for _, other := range h.Ops {
			if step := entered[other.Client]; step > op.Call && step < op.Return {
				return fmt.Sprintf("%s gave up at step %d, though %s, which was there with it, had entered at step %d", op.Client, op.Return, other.Client, step)
			}
		}
	}
	return ""
}

// disturbed reports whether a client was told of a loss in a call.
func disturbed(h linearizability.History, op linearizability.Op) bool {
	return slices.ContainsFunc(h.Notices, func(n linearizability.Notice) bool {
		return n.Client == op.Client && n.Kind != linearizability.Connected && n.Step >= op.Call && n.Step <= op.Return
	})
}
