package linearizability

import (
	"slices"
	"time"
)

// FirstNotice returns the first notice of a client at or after a step.
func FirstNotice(h History, client string, from int64, kinds ...NoticeKind) (Notice, bool) {
	for _, n := range h.Notices {
		if n.Client == client && n.Step >= from && isOneOf(n.Kind, kinds) {
			return n, true
		}
	}
	return Notice{}, false
}

// isOneOf reports whether a notice is of one of these kinds. A client that has died needs no
// session.
func isOneOf(k NoticeKind, kinds []NoticeKind) bool {
	return slices.Contains(kinds, k) || k == Died && slices.Contains(kinds, SessionExpired)
}

// DiedIn reports whether the process of the client died during a call.
func DiedIn(h History, op Op) bool {
	died, ok := FirstNotice(h, op.Client, op.Call, Died)
	return ok && op.Outcome == OpUnknown && died.Step <= op.Return
}

// CutOff reports whether a client was, at a time, disconnected to its knowledge, paused in a call,
// or dead. In a history without a Connected for the client no loss counts.
func CutOff(h History, client string, at time.Duration) bool {
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
	return known && cut || PausedAt(h, client, at)
}

// PausedAt reports whether a call of a client, or of any client if it is "", was paused at a time.
func PausedAt(h History, client string, at time.Duration) bool {
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

// Undisturbed returns the time since which the client of a returned call had been connected in one
// session, as far as it knew, and not paused. It is no earlier than the call. It is the time of the
// return if the client was disconnected then.
func Undisturbed(h History, op Op, log serverLog) time.Duration {
	if CutOff(h, op.Client, op.ReturnTime) {
		return op.ReturnTime
	}
	from := op.CallTime
	for _, n := range h.Notices {
		if n.Client == op.Client && n.Step <= op.Return {
			from = max(from, n.Time)
		}
	}
	for _, e := range h.Server {
		if IsSessionEvent(e) && log.clients[Subject(e)] == op.Client && e.Step <= op.Return {
			from = max(from, e.Time)
		}
	}
	return from
}
