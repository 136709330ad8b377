package value

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// wroteInstead is the verdict on another change that an add has made in place of its own, if there
// is one.
func (t *counterTable) wroteInstead(op lin.Op, n int, v lin.Verdict) lin.Verdict {
	for _, i := range t.Strays {
		e := t.Changes[i]
		if len(t.Of[n]) == 0 && e.Client == op.Client && op.Call <= e.Step &&
			e.Step <= judging.End(op) {
			return t.strayVerdict(i)
		}
	}
	return v
}

// strayVerdict is the verdict on a change that no add accounts for.
func (t *counterTable) strayVerdict(i int) lin.Verdict {
	e := t.Changes[i]
	return judging.Violated(lin.Delivery, []int64{e.Step},
		"%s changed the counter from %d to %d at step %d%s, and no add accounts for that%s",
		judging.ByWhom(e, "somebody"), t.values[i], t.values[i+1], e.Step,
		judging.During(t.history, e), t.onOldValue(i))
}

// onOldValue says that an add of the client of a change may have written it on top of an earlier
// value.
func (t *counterTable) onOldValue(i int) string {
	e := t.Changes[i]
	for _, op := range t.history.Ops {
		if op.Kind != ops.Add || op.Client != e.Client || e.Step < op.Call ||
			judging.End(op) < e.Step {
			continue
		}
		for k := i - 1; k >= 0; k-- {
			if t.values[k]+deltaOf(op) == t.values[i+1] {
				return fmt.Sprintf(": its add(%s) wrote over what was added after it had read %d, "+
					"which was so until step %d", op.Input, t.values[k], t.Changes[k].Step)
			}
		}
	}
	return ""
}

// wrongResult is the text of an add that returned another value than it stored, or "".
func wrongResult(op lin.Op, o model.CounterOp, stored int64) string {
	if !o.Known || o.Value == stored {
		return ""
	}
	return fmt.Sprintf("%s(%s), which stored %d and returned %d,", op.Kind, op.Input, stored, o.Value)
}
