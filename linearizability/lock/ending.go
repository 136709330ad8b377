package lock

import (
	"slices"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// ending is the reason why a hold ended at the server.
type ending int

const (
	stillHeld  ending = iota // it did not end
	released                 // by the holder's own unlock
	takenAway                // the session ended, and the znode with it
	stolen                   // the znode was deleted otherwise before the holder called unlock
	givenUp                  // by the object's own signal of loss
	unknownEnd               // at an unknown step: the session expired, or a release found nothing
)

// holdEnd describes the end of a hold.
type holdEnd struct {
	ending        ending
	serverEnd     int64 // never, if stillHeld
	serverEndTime time.Duration
	gone          int64 // the step at which the znode or the session ended, or never
	beliefEnd     int64
	beliefEndTime time.Duration
}

// endAtServer finds out when the hold ended for the server.
func (h *hold) endAtServer(history lin.History, nodes holderNodes) {
	log := nodes.log
	h.serverEnd, h.serverEndTime = log.SessionEnd(h.owner.Session)
	if h.owner.Session == 0 {
		h.serverEnd, h.serverEndTime = nodes.firstEnd(h.lock)
	}
	if h.serverEnd != judging.Never {
		h.ending = takenAway
	}
	if h.node != nil {
		h.endWithNode(history)
		h.gone = h.serverEnd
		if h.next != nil && lostBefore(history, h, *h.next) {
			h.giveUp(history)
		}
		return
	}
	h.gone = h.serverEnd
	if h.unlock != nil && h.unlock.Outcome == lin.OpNotHeld {
		if h.serverEnd == judging.Never {
			h.serverEnd, h.ending = h.lock.Call, unknownEnd
		}
	} else if h.unlock != nil && h.unlock.Call < h.serverEnd {
		h.serverEnd, h.serverEndTime, h.ending = h.unlock.Call, h.unlock.CallTime, released
	}
	if _, lost := h.lossBy(history); lost && !log.Known {
		h.serverEnd, h.ending = h.lock.Call, unknownEnd
		return
	}
	h.giveUp(history)
}

// lossBy reports whether a notice told the client that the hold was over, and by which step it was.
// A notice after a release, and after the next grant to its client, is not about this hold. One
// before the grant may be about an earlier session, unless the client was in that of the grant
// before: then the hold may also have lived on.
func (h *hold) lossBy(history lin.History) (step int64, lost bool) {
	n, expired := judging.FirstNotice(history, h.lock.Client, h.lock.Call, lin.SessionExpired)
	for expired && n.Step < h.lock.Return && !h.wasInSession(history, n.Step) {
		step, lost = history.End+1, true
		n, expired = judging.FirstNotice(history, h.lock.Client, n.Step+1, lin.SessionExpired)
	}
	expired = expired && (h.unlock == nil || h.next == nil || n.Step < h.next.Return)
	if signal, signalled := signalTo(history, h); signalled && (!expired || signal.Step < n.Step) {
		return signal.Step, true
	}
	if expired {
		return n.Step, true
	}
	return step, lost
}

// wasInSession reports whether a call that returned before a step had the session of the grant.
func (h *hold) wasInSession(history lin.History, step int64) bool {
	return h.lock.Session != 0 && slices.ContainsFunc(history.Ops, func(op lin.Op) bool {
		return op.Client == h.lock.Client && op.Session == h.lock.Session &&
			op.Return >= 0 && op.Return < step
	})
}

// giveUp ends the hold with its signal of loss, if it came before the end. A znode that lives on is
// free for others only if the lock does not consist of it, or for its own client.
func (h *hold) giveUp(history lin.History) {
	if n, lost := signalTo(history, h); lost && n.Step < h.serverEnd {
		h.serverEnd, h.serverEndTime, h.ending = n.Step, n.Time, givenUp
	}
}

func (h *hold) endWithNode(history lin.History) {
	z := h.node
	if z.Deleted >= h.serverEnd {
		return
	}
	h.serverEnd, h.serverEndTime, h.ending = z.Deleted, z.DeletedTime, takenAway
	own := z.RemovedBy(h.owner.Client, h.owner.Session)
	switch {
	case h.unlock != nil && z.Deleted >= h.unlock.Call && own:
		h.ending = released
	case isStolen(h, history):
		h.ending = stolen
	}
}

// endBelief finds out when the client stopped believing that it holds the lock.
func (h *hold) endBelief(history lin.History, claims Claims) {
	h.beliefEnd, h.beliefEndTime = history.End+1, history.EndTime
	if h.unlock != nil {
		h.beliefEnd, h.beliefEndTime = h.unlock.Call, h.unlock.CallTime
	}
	kinds := []lin.NoticeKind{lin.SessionExpired, lin.LockLost}
	if claims.DisconnectEndsBelief && !claims.Signals {
		kinds = append(kinds, lin.Disconnected)
	}
	n, noticed := judging.FirstNotice(history, h.lock.Client, h.lock.Return, kinds...)
	if noticed && n.Step < h.beliefEnd {
		h.beliefEnd, h.beliefEndTime = n.Step, n.Time
	}
}
