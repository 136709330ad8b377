package linearizability

import (
	"slices"
	"time"
)

// notice returns the first notice of a client at or after a step.
func (h History) notice(client string, from int64, kinds ...NoticeKind) (Notice, bool) {
	for _, n := range h.Notices {
		if n.Client == client && n.Step >= from && n.Kind.isOneOf(kinds) {
			return n, true
		}
	}
	return Notice{}, false
}

// isOneOf reports whether a notice is of one of these kinds. A client that has died needs no
// session.
func (k NoticeKind) isOneOf(kinds []NoticeKind) bool {
	return slices.Contains(kinds, k) || k == Died && slices.Contains(kinds, SessionExpired)
}

// diedIn reports whether the process of the client died during a call.
func (h History) diedIn(op Op) bool {
	died, ok := h.notice(op.Client, op.Call, Died)
	return ok && op.Outcome == OpUnknown && died.Step <= op.Return
}

// cutOff reports whether a client was, at a time, disconnected to its knowledge, paused in a call,
// or dead. In a history without a Connected for the client no loss counts.
func (h History) cutOff(client string, at time.Duration) bool {
	known, cut := false, false
	for _, n := range h.Notices {
		if n.Client != client {
			continue
		}
		known = known || n.Kind == Connected || n.Kind == Died
		if n.Time < at {
			switch n.Kind {
			case Connected:
				cut = false
			case Disconnected, SessionExpired, Died:
				cut = true
			}
		}
	}
	return known && cut || h.pausedAt(client, at)
}

// pausedAt reports whether a call of a client, or of any client if it is "", was paused at a time.
func (h History) pausedAt(client string, at time.Duration) bool {
	pauses := 0
	for _, n := range h.Notices {
		switch {
		case client != "" && n.Client != client || n.Time >= at:
		case n.Kind == Paused:
			pauses++
		case n.Kind == Resumed:
			pauses--
		}
	}
	return pauses > 0
}

// undisturbed returns the time since which the client of a returned call had been connected in one
// session, as far as it knew, and not paused. It is no earlier than the call. It is the time of the
// return if the client was disconnected then.
func (h History) undisturbed(op Op, log serverLog) time.Duration {
	if h.cutOff(op.Client, op.ReturnTime) {
		return op.ReturnTime
	}
	from := op.CallTime
	for _, n := range h.Notices {
		if n.Client == op.Client && n.Step <= op.Return {
			from = max(from, n.Time)
		}
	}
	for _, e := range h.Server {
		if e.isSessionEvent() && log.clients[e.subject()] == op.Client && e.Step <= op.Return {
			from = max(from, e.Time)
		}
	}
	return from
}
