package lock

import (
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// ending is the reason why a hold ended at the server.
type ending int

const (
	stillHeld  ending = iota // it did not end
	released                 // by the holder's own unlock
	takenAway                // the session ended, or the server deleted the znode
	stolen                   // a client's request deleted the znode before the holder called unlock
	unknownEnd               // at an unknown step: the session expired, or a release found nothing
)

// holdEnd describes the end of a hold.
type holdEnd struct {
	ending        ending
	serverEnd     int64 // never, if stillHeld
	serverEndTime time.Duration
	beliefEnd     int64
	beliefEndTime time.Duration
}

// endAtServer finds out when the hold ended for the server.
func (h *hold) endAtServer(history lin.History, log judging.Log) {
	h.serverEnd, h.serverEndTime = log.SessionEnd(h.owner.Session)
	if h.serverEnd != judging.Never {
		h.ending = takenAway
	}
	if h.node != nil {
		h.endWithNode(history)
		return
	}
	if h.unlock != nil && h.unlock.Outcome == lin.OpNotHeld {
		h.serverEnd, h.ending = min(h.serverEnd, h.lock.Call), unknownEnd
	} else if h.unlock != nil && h.unlock.Call < h.serverEnd {
		h.serverEnd, h.serverEndTime, h.ending = h.unlock.Call, h.unlock.CallTime, released
	}
	if !log.Known {
		_, expired := judging.FirstNotice(history, h.lock.Client, h.lock.Call, lin.SessionExpired)
		if expired {
			h.serverEnd, h.ending = h.lock.Call, unknownEnd
		}
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
