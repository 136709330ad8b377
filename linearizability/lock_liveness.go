package linearizability

import (
	"cmp"
	"path"
	"slices"
)

// judgeLockLiveness looks for calls that are pending at rest and may not be. A lock may wait for a
// holder that has not released; nothing else may wait.
func judgeLockLiveness(t lockTable, left *Leftovers) []Verdict {
	stuck := PendingOps(t.history, t.kind.acquire, t.kind.release)
	if v, bad := livelock(t); bad {
		return []Verdict{v}
	}
	kept, bad := keptByUnlock(t)
	if left == nil && !bad {
		return unsettled(stuck)
	}
	if left == nil {
		return []Verdict{kept}
	}
	wrong := slices.DeleteFunc(slices.Clone(stuck), func(op Op) bool {
		return op.Kind == t.kind.acquire && holderAtRest(t, op) != nil &&
			waitsForLiveNode(t, op, left)
	})
	if len(wrong) > 0 {
		op := firstCause(t, wrong, left)
		if isLessSpecific(op, left) {
			return []Verdict{wedgedVerdict(left)}
		}
		return []Verdict{stuckVerdict(t, op, left)}
	}
	if len(left.Wedged) > 0 {
		return []Verdict{wedgedVerdict(left)}
	}
	if bad {
		return []Verdict{kept}
	}
	if len(stuck) > 0 {
		h := holderAtRest(t, stuck[0])
		return []Verdict{fine(
			Liveness, "%s still waiting, for %s holds the %s and has not released it",
			count(len(stuck), "call"), h.lock.Client, t.kind.noun)}
	}
	return []Verdict{fine(Liveness, "every call returned")}
}

// firstCause returns the first of the stuck calls that does not wait for another stuck one; if each
// does, the first of all.
func firstCause(t lockTable, stuck []Op, left *Leftovers) Op {
	for _, op := range stuck {
		w, _ := WaitOf(left, op.Client)
		if n, exists := NodeAt(left, w.Path); !exists || !isWaiting(t, n, op.Client) {
			return op
		}
	}
	return stuck[0]
}

// holderAtRest returns a hold of another client or handle for which a pending operation rightly
// waits, if all places are taken by holds that were not released and not lost.
func holderAtRest(t lockTable, op Op) *hold {
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
func blocks(t lockTable, h *hold, op Op) bool {
	if t.kind.conflicts(h.lock, op) {
		return true
	}
	for _, between := range PendingOps(t.history, t.kind.acquire) {
		if between.Client != op.Client && t.kind.conflicts(between, op) &&
			t.kind.conflicts(h.lock, between) {
			return true
		}
	}
	return false
}

// waitsForLiveNode reports whether the znode that the call watches exists and is not a forgotten
// one.
func waitsForLiveNode(t lockTable, op Op, left *Leftovers) bool {
	w, known := WaitOf(left, op.Client)
	if !known || w.Path == "" {
		return !known
	}
	n, exists := NodeAt(left, w.Path)
	return exists && (isHeld(t, n) || isWaiting(t, n, op.Client) || holdsBelow(t, n.Path))
}

// holdsBelow reports whether the lock is held through a child of the znode: a watch on it sees
// every release.
func holdsBelow(t lockTable, dir string) bool {
	for _, h := range t.holds {
		if h.unlock == nil && h.node != nil && path.Dir(h.node.path) == dir {
			return true
		}
	}
	return false
}

// isHeld reports whether the lock is held through the znode.
func isHeld(t lockTable, n NodeAtRest) bool {
	for _, h := range t.holds {
		token := t.nodes.token(h.lock)
		if h.unlock == nil &&
			(h.node != nil && h.node.czxid == n.Czxid || token != 0 && token == n.Czxid) {
			return true
		}
	}
	return false
}

// isWaiting reports whether the znode is the newest one, in its directory, of a pending lock of
// another client than this one. Without a server log the owner's name decides.
func isWaiting(t lockTable, n NodeAtRest, client string) bool {
	for _, op := range PendingOps(t.history, t.kind.acquire) {
		if op.Client == client {
			continue
		}
		if !t.log.known && n.OwnerClient == op.Client {
			return true
		}
		for _, z := range t.log.znodes {
			if z.czxid == n.Czxid && z.path == n.Path && t.nodes.isPartOf(z, op) {
				return true
			}
		}
	}
	return false
}
