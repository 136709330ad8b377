package linearizability

import (
	"cmp"
	"slices"
)

// End is the return step, or never.
func End(o Op) int64 {
	if o.pending() {
		return never
	}
	return o.Return
}

// Subject is the session that a session event is about.
func Subject(e ServerEvent) int64 { return cmp.Or(e.Owner, e.Session) }

// IsSessionEvent reports whether the event is the start or the end of a session.
func IsSessionEvent(e ServerEvent) bool {
	return e.Kind == SessionStarted || e.Kind == SessionEnded
}

// clientsOf lists the clients of the operations, sorted.
func clientsOf(calls []Op) []string {
	var names []string
	for _, op := range calls {
		names = append(names, op.Client)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// PendingOps returns the operations of the given kinds that never returned.
func PendingOps(h History, kinds ...string) []Op {
	var list []Op
	for _, op := range h.Ops {
		if op.pending() && slices.Contains(kinds, op.Kind) {
			list = append(list, op)
		}
	}
	return list
}

// Waits tells for each client whether it has a call in flight at the end.
func Waits(h History) func(client string) bool {
	return func(client string) bool {
		return slices.ContainsFunc(h.Ops, func(op Op) bool {
			return op.Client == client && op.pending()
		})
	}
}
