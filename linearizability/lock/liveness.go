package lock

import (
	"cmp"
	"path"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// judgeLiveness looks for calls that are pending at rest and may not be. A lock may wait for a
// holder that has not released; nothing else may wait.
func judgeLiveness(t table, left *lin.Leftovers) []lin.Verdict {
	stuck := judging.PendingOps(t.history, t.kind.acquire, t.kind.release)
	if v, bad := livelock(t); bad {
		return []lin.Verdict{v}
	}
	kept, bad := keptByUnlock(t)
	if left == nil && !bad {
		return judging.Unsettled(stuck)
	}
	if left == nil {
		return []lin.Verdict{kept}
	}
	wrong := slices.DeleteFunc(slices.Clone(stuck), func(op lin.Op) bool {
		return op.Kind == t.kind.acquire && holderAtRest(t, op) != nil &&
			waitsForLiveNode(t, op, left)
	})
	if len(wrong) > 0 {
		op := firstCause(t, wrong, left)
		if judging.IsLessSpecific(op, left) {
			return []lin.Verdict{judging.Wedged(left)}
		}
		return []lin.Verdict{stuckVerdict(t, op, left)}
	}
	if len(left.Wedged) > 0 {
		return []lin.Verdict{judging.Wedged(left)}
	}
	if bad {
		return []lin.Verdict{kept}
	}
	if len(stuck) > 0 {
		h := holderAtRest(t, stuck[0])
		return []lin.Verdict{judging.Fine(
			lin.Liveness, "%s still waiting, for %s holds the %s and has not released it",
			judging.Count(len(stuck), "call"), h.lock.Client, t.kind.noun)}
	}
	return []lin.Verdict{judging.Fine(lin.Liveness, "every call returned")}
}

// firstCause returns the first of the stuck calls that does not wait for another stuck one; if each
// does, the first of all.
func firstCause(t table, stuck []lin.Op, left *lin.Leftovers) lin.Op {
	for _, op := range stuck {
		w, _ := judging.WaitOf(left, op.Client)
		if n, exists := keeper(t, op, left, w.Path); !exists || !isWaiting(t, n, op.Client) {
			return op
		}
	}
	return judging.FirstLost(t.log, stuck)
}

// holderAtRest returns a hold of another client or handle for which a pending operation rightly
// waits, if all places are taken by holds that were not released and not lost.
func holderAtRest(t table, op lin.Op) *hold {
	var other *hold
	taken := 0
	for _, h := range t.holds {
		if h.whyNotOwner != "" || h.unlock != nil || h.heldUntil() <= t.history.End ||
			!blocks(t, h, op) {
			continue
		}
		if h.lock.Client != op.Client || t.kind.counted {
			other, taken = cmp.Or(other, h), taken+1
		}
	}
	if taken < t.kind.capacity {
		return nil
	}
	return other
}

// blocks reports whether the operation waits for the hold, or for a third client that waits for it:
// a reader waits behind a writer that waits for readers.
func blocks(t table, h *hold, op lin.Op) bool {
	if t.kind.conflicts(h.lock, op) {
		return true
	}
	for _, between := range judging.PendingOps(t.history, t.kind.acquire) {
		if between.Client != op.Client && t.kind.conflicts(between, op) &&
			t.kind.conflicts(h.lock, between) {
			return true
		}
	}
	return false
}

// waitsForLiveNode reports whether the znode that the call watches exists and is not a forgotten
// one.
func waitsForLiveNode(t table, op lin.Op, left *lin.Leftovers) bool {
	w, known := judging.WaitOf(left, op.Client)
	if !known || w.Path == "" {
		return !known
	}
	n, exists := judging.NodeAt(left, w.Path)
	return exists && (isHeld(t, n) || isWaiting(t, n, op.Client) || holdsBelow(t, n.Path))
}

// holdsBelow reports whether the lock is held through a child of the znode: a watch on it sees
// every release.
func holdsBelow(t table, dir string) bool {
	for _, h := range t.holds {
		if !h.isOver() && h.node != nil && path.Dir(h.node.Path) == dir {
			return true
		}
	}
	return false
}

// isHeld reports whether the lock is held through the znode.
func isHeld(t table, n lin.NodeAtRest) bool {
	for _, h := range t.holds {
		token := t.nodes.token(h.lock)
		if !h.isOver() &&
			(h.node != nil && h.node.Czxid == n.Czxid || token != 0 && token == n.Czxid) {
			return true
		}
	}
	return false
}

// isWaiting reports whether the znode is the newest one, in its directory, of a pending lock of
// another client than this one. Without a server log the owner's name decides.
func isWaiting(t table, n lin.NodeAtRest, client string) bool {
	for _, op := range judging.PendingOps(t.history, t.kind.acquire) {
		if op.Client == client {
			continue
		}
		if !t.log.Known && n.OwnerClient == op.Client {
			return true
		}
		for _, z := range t.log.Znodes {
			if z.Czxid == n.Czxid && z.Path == n.Path && t.nodes.isPartOf(z, op) {
				return true
			}
		}
	}
	return false
}
