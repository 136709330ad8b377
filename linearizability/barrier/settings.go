package barrier

import (
	"strconv"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// setting is a set of a threshold barrier, and when it took effect.
type setting struct {
	op      lin.Op
	members int
	changes []lin.ServerEvent // of this set, if known

	// The set took effect in [from, to]. to is the constant never if perhaps it took no effect.
	from, to         int64
	fromTime, toTime time.Duration
}

// after reports whether s certainly took effect after the other setting, provided that the other
// took effect.
func (s setting) after(other setting) bool { return s.to != judging.Never && s.from > other.to }

// settingsOf lists the settings of a barrier. It leaves out failed sets. If sets are known to
// change the znode, it also leaves out sets of unknown outcome without a change.
func settingsOf(h lin.History, path string) []setting {
	var changes []lin.ServerEvent
	for _, e := range h.Server {
		if e.Path == path && (e.Kind == lin.NodeCreated || e.Kind == lin.DataChanged) {
			changes = append(changes, e)
		}
	}
	a := judging.Attribute(h, changes, func(op lin.Op, i int) bool {
		return op.Kind == ops.Set && op.Input == changes[i].Data
	})
	var list []setting
	visible := false
	for n, op := range h.Ops {
		members, err := strconv.Atoi(op.Input)
		if op.Kind != ops.Set || err != nil {
			continue
		}
		s := newSetting(op, members, a.MadeBy(n))
		visible = visible || len(s.changes) > 0
		list = append(list, s)
	}
	return withEffect(list, visible)
}

func newSetting(op lin.Op, members int, changes []lin.ServerEvent) setting {
	s := setting{
		op: op, members: members, changes: changes,
		from: op.Call, to: judging.Never, fromTime: op.CallTime, toTime: judging.Never,
	}
	if op.OK() {
		s.to, s.toTime = op.Return, op.ReturnTime
	}
	if n := len(changes); n > 0 {
		first, last := changes[0], changes[n-1]
		s.from, s.to, s.fromTime, s.toTime = first.Step, last.Step, first.Time, last.Time
	}
	return s
}

// withEffect leaves out the sets that took no effect. visible means that sets change the znode.
func withEffect(list []setting, visible bool) []setting {
	var kept []setting
	for _, s := range list {
		if len(s.changes) > 0 || s.op.OK() || s.op.Outcome != lin.OpFailed && !visible {
			kept = append(kept, s)
		}
	}
	return kept
}
