package judging

import (
	"slices"
	"time"

	lin "github.com/zksim/zksim/linearizability"
)

// FirstNotice returns the first notice of a client at or after a step.
func FirstNotice(
	h lin.History, client string, from int64, kinds ...lin.NoticeKind,
) (lin.Notice, bool) {
	for _, n := range h.Notices {
		if n.Client == client && n.Step >= from && IsOneOf(n.Kind, kinds) {
			return n, true
		}
	}
	return lin.Notice{}, false
}

// IsOneOf reports whether a notice is of one of these kinds. A client that has died needs no
// session.
func IsOneOf(k lin.NoticeKind, kinds []lin.NoticeKind) bool {
	return slices.Contains(kinds, k) || k == lin.Died && slices.Contains(kinds, lin.SessionExpired)
}

// CutOff reports whether a client was, at a time, disconnected to its knowledge, paused in a call,
// or dead. In a history without a Connected for the client no loss counts.
func CutOff(h lin.History, client string, at time.Duration) bool {
	known, cut := false, false
	for _, n := range h.Notices {
		if n.Client != client {
			continue
		}
		known = known || n.Kind == lin.Connected || n.Kind == lin.Died
		if n.Time < at {
			switch n.Kind {
			case lin.Connected:
				cut = false
			case lin.Disconnected, lin.SessionExpired, lin.Died:
				cut = true
			}
		}
	}
	return known && cut || PausedAt(h, client, at)
}

// PausedAt reports whether a call of a client, or of any client if it is "", was paused at a time.
func PausedAt(h lin.History, client string, at time.Duration) bool {
	pauses := 0
	for _, n := range h.Notices {
		switch {
		case client != "" && n.Client != client || n.Time >= at:
		case n.Kind == lin.Paused:
			pauses++
		case n.Kind == lin.Resumed:
			pauses--
		}
	}
	return pauses > 0
}

// Undisturbed returns the time since which the client of a returned call had been connected in one
// session, as far as it knew, and not paused. It is no earlier than the call. It is the time of the
// return if the client was disconnected then.
func Undisturbed(h lin.History, op lin.Op, log Log) time.Duration {
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
		if IsSessionEvent(e) && log.Clients[Subject(e)] == op.Client && e.Step <= op.Return {
			from = max(from, e.Time)
		}
	}
	return from
}
