package judging

import (
	"cmp"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
)

// End is the return step, or never.
func End(o lin.Op) int64 {
	if o.Pending() {
		return Never
	}
	return o.Return
}

// Subject is the session that a session event is about.
func Subject(e lin.ServerEvent) int64 { return cmp.Or(e.Owner, e.Session) }

// IsSessionEvent reports whether the event is the start or the end of a session.
func IsSessionEvent(e lin.ServerEvent) bool {
	return e.Kind == lin.SessionStarted || e.Kind == lin.SessionEnded
}

// Clients lists the clients of the operations, sorted.
func Clients(calls []lin.Op) []string {
	var names []string
	for _, op := range calls {
		names = append(names, op.Client)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ByWhom names the client of an event, or says why the server did it, if that is known.
func ByWhom(e lin.ServerEvent, unknown string) string {
	if e.Kind == lin.NodeDeleted && e.Session == 0 && e.Owner != 0 {
		return "the end of " + SessionOf(e.Owner, e.Client)
	}
	if e.Client == "" && e.Why != "" {
		return "the server (" + e.Why + ")"
	}
	return cmp.Or(e.Client, unknown)
}

// During names the call of its client that was under way at an event.
func During(h lin.History, e lin.ServerEvent) string {
	for _, op := range h.Ops {
		if e.Client == op.Client && op.Call <= e.Step && e.Step <= End(op) {
			return ", during " + Describe(op)
		}
	}
	return ""
}

// PendingOps returns the operations of the given kinds that never returned.
func PendingOps(h lin.History, kinds ...string) []lin.Op {
	var list []lin.Op
	for _, op := range h.Ops {
		if op.Pending() && slices.Contains(kinds, op.Kind) {
			list = append(list, op)
		}
	}
	return list
}

// Waits tells for each client whether it has a call in flight at the end.
func Waits(h lin.History) func(client string) bool {
	return func(client string) bool {
		return slices.ContainsFunc(h.Ops, func(op lin.Op) bool {
			return op.Client == client && op.Pending()
		})
	}
}
