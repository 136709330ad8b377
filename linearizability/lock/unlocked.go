package lock

import (
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// lingering is the longest time for which a znode may outlive the unlock of its hold: an object may
// delete it in the background.
const lingering = 5 * time.Second

// keptByUnlock looks for an unlock that reported success although the znode of the hold lived on
// and kept the others waiting. It counts if the znode lived for longer than lingering while its
// client was connected, or until the client was granted the lock again through the same znode. With
// the claim ClosesSession a znode may live as long as its session.
func keptByUnlock(t table) (v lin.Verdict, bad bool) {
	for _, h := range t.holds {
		if !isUnlocked(h, t.kind) || !h.node.ExistsAt(h.unlock.Return) ||
			h.gone <= h.unlock.Return || holdsMore(t, h) {
			continue
		}
		_, lost := judging.FirstNotice(t.history, h.lock.Client, h.lock.Return, lin.SessionExpired,
			lin.LockLost)
		again := nextThrough(t, h)
		switch {
		case again != nil:
			return judging.Violated(lin.Liveness,
				[]int64{h.unlock.Call, h.unlock.Return, again.lock.Return},
				"%s returned, but did not give the %s up: %s lived on, "+
					"and %s was granted the %s through it again at step %d",
				judging.Describe(*h.unlock), t.kind.noun, h.node.Path, h.lock.Client, t.kind.noun,
				again.lock.Return), true
		case !lost && outlivesUnlock(t.history, h):
			claim := ""
			if h.node.EndedWithSession() {
				if t.claims.ClosesSession {
					continue
				}
				claim = " (the claim ClosesSession would allow it)"
			}
			return judging.Violated(lin.Liveness,
				[]int64{h.unlock.Call, h.unlock.Return, h.node.Created},
				"%s returned, but its znode %s (created at step %d) lived on %s%s",
				judging.Describe(*h.unlock), h.node.Path, h.node.Created, h.untilWhen(),
				claim), true
		}
	}
	return lin.Verdict{}, false
}

// isUnlocked reports whether an unlock of the hold reported success, and its znode is known.
func isUnlocked(h *hold, kind kind) bool {
	return h.node != nil && h.unlock != nil && h.unlock.Kind == kind.release && h.unlock.OK()
}

// holdsMore reports whether the client holds the lock in another way when it unlocks: a writer that
// goes on as a reader may keep its znode.
func holdsMore(t table, h *hold) bool {
	for _, o := range t.holds {
		if o != h && o.lock.Client == h.lock.Client && o.lock.Return <= h.unlock.Return &&
			(!o.isOver() || o.unlock != nil && judging.End(*o.unlock) > h.unlock.Call) {
			return true
		}
	}
	return false
}

// nextThrough returns a later hold of the client through the same znode, or nil.
func nextThrough(t table, h *hold) *hold {
	for _, o := range t.holds {
		if o.node == h.node && o.lock.Call >= h.unlock.Return && o.lock.Client == h.lock.Client {
			return o
		}
	}
	return nil
}

// outlivesUnlock reports whether the znode of a hold lived on for too long after the unlock, or
// after the client was connected again.
func outlivesUnlock(history lin.History, h *hold) bool {
	until := min(h.node.Deleted, h.serverEnd, history.End)
	gone := history.EndTime
	if h.node.Deleted == until {
		gone = h.node.DeletedTime
	} else if h.serverEnd == until {
		gone = h.serverEndTime
	}
	from := h.unlock.ReturnTime
	for _, n := range history.Notices {
		if n.Client == h.lock.Client && n.Step <= until {
			from = max(from, n.Time)
		}
	}
	return gone-from > lingering && !judging.CutOff(history, h.lock.Client, gone)
}

func (h *hold) untilWhen() string {
	if h.node.Deleted == judging.Never {
		return "to the end"
	}
	return "for " + (h.node.DeletedTime - h.unlock.ReturnTime).Round(time.Millisecond).String()
}
