package linearizability

import (
	"strconv"
	"time"
)

// setting is a set of a threshold barrier, and when it took effect.
type setting struct {
	op      Op
	members int
	changes []ServerEvent // that it made, if that is known

	// It took effect from a step at the earliest and up to one at the latest: never,
	// if it may not have taken effect at all.
	from, to         int64
	fromTime, toTime time.Duration
}

// after reports whether a setting took effect, certainly, after another one, if
// that has.
func (s setting) after(other setting) bool { return s.to != never && s.from > other.to }

// settingsOf lists what a barrier was set to. A set that has failed is left out, and
// so is one of unknown outcome that has not changed the znode, if sets are seen to.
func settingsOf(h History, path string) []setting {
	var changes []ServerEvent
	for _, e := range h.Server {
		if e.Path == path && (e.Kind == NodeCreated || e.Kind == DataChanged) {
			changes = append(changes, e)
		}
	}
	of, _ := Attribute(h, changes, func(op Op, i int) bool { return op.Kind == KindSet && op.Input == changes[i].Data })
	var list []setting
	seen := false
	for n, op := range h.Ops {
		members, err := strconv.Atoi(op.Input)
		if op.Kind != KindSet || err != nil {
			continue
		}
		s := setting{op: op, members: members, from: op.Call, to: never, fromTime: op.CallTime, toTime: never}
		if op.ok() {
			s.to, s.toTime = op.Return, op.ReturnTime
		}
		for _, i := range of[n] {
			s.changes = append(s.changes, changes[i])
		}
		s.narrow()
		seen = seen || len(s.changes) > 0
		list = append(list, s)
	}
	return certain(list, seen)
}

// narrow takes the time of a setting from its changes, the first and the last one.
func (s *setting) narrow() {
	if n := len(s.changes); n > 0 {
		first, last := s.changes[0], s.changes[n-1]
		s.from, s.to, s.fromTime, s.toTime = first.Step, last.Step, first.Time, last.Time
	}
}

// certain leaves out the sets that have not taken effect. seen tells whether changes
// are.
func certain(list []setting, seen bool) []setting {
	var kept []setting
	for _, s := range list {
		if len(s.changes) > 0 || s.op.ok() || s.op.Outcome != OpFailed && !seen {
			kept = append(kept, s)
		}
	}
	return kept
}
