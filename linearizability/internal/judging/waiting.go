package judging

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
)

// NeverReturned is the verdict on a call that is pending at rest.
func NeverReturned(h lin.History, op lin.Op, left *lin.Leftovers) lin.Verdict {
	return AroundLost(ReadLog(h.Server), op, Violated(lin.Liveness, []int64{op.Call},
		"%s never returned, although the faults stopped%s", Describe(op), WaitsFor(h, op, left)))
}

// AroundLost adds to a verdict on a call that waits in vain how the last ephemeral went that the
// call has made, if it did. If another deleted it, this comes first: the call went on without it.
func AroundLost(log Log, op lin.Op, v lin.Verdict) lin.Verdict {
	switch lost, itself := LostPlace(log, op); {
	case itself && op.Pending():
		v.Summary += "; " + lost
	case lost != "" && !itself:
		v.Summary = lost + ", and then " + v.Summary
	}
	return v
}

// WaitsFor describes what keeps a pending call, if that is known.
func WaitsFor(h lin.History, op lin.Op, left *lin.Leftovers) string {
	w, known := WaitOf(left, op.Client)
	log := ReadLog(h.Server)
	switch {
	case known && w.Refused != "":
		return fmt.Sprintf("; it gets no further because of %s (%s, %d times so far), which %s", w.Path,
			w.Refused, w.Polls, StateOf(h, log, op, left, w.Path))
	case known && w.Polls > 0:
		return fmt.Sprintf("; it polls %s, %d times so far, which %s", w.Path, w.Polls,
			StateOf(h, log, op, left, w.Path))
	case known && w.Path != "":
		text := fmt.Sprintf("; it waits for a watch on %s, which %s", w.Path,
			StateOf(h, log, op, left, w.Path))
		if w.Why != "" {
			text += ": " + w.Why
		}
		if _, exists := NodeAt(left, w.Path); !exists { // why nobody makes it
			text += AfterLast(w)
		}
		return text
	case known && w.Why != "":
		return "; it waits for " + w.Why + AfterLast(w)
	case known && w.Last != "":
		return "; it waits for no znode" + AfterLast(w)
	}
	return ""
}

// AfterLast says what the client of a wait did or learned last, if that is known.
func AfterLast(w lin.Wait) string {
	if w.Last == "" {
		return ""
	}
	return fmt.Sprintf("; the last that %s did or learned: %s", w.Client, w.Last)
}

// StateOf says what is known of a znode for which a call waits: whose it is, and which call made
// it. Of a directory it is the child that keeps the call.
func StateOf(h lin.History, log Log, op lin.Op, left *lin.Leftovers, at string) string {
	n, exists := NodeAt(left, at)
	if !exists {
		return WhyMissing(log, at)
	}
	if child, ok := FirstChild(left, at, op.Client); ok {
		return fmt.Sprintf("holds %s: that %s", child.Path, madeText(h, log, child))
	}
	if IsDirectory(log, left, n) {
		return "has no child"
	}
	return madeText(h, log, n)
}

// IsDirectory reports whether a znode at rest has children, or ephemeral ones at an earlier time.
func IsDirectory(log Log, left *lin.Leftovers, n lin.NodeAtRest) bool {
	return n.Owner == 0 && (HasChild(left, n.Path) ||
		slices.ContainsFunc(log.Znodes, func(z *Znode) bool {
			return z.Owner != 0 && Below(n.Path, z.Path)
		}))
}

// LostPlace says how the last ephemeral that a call has made went, if it did, and whether its own
// client deleted it.
func LostPlace(log Log, op lin.Op) (text string, itself bool) {
	var own *Znode
	for _, z := range log.Znodes {
		if z.Creator == op.Client && z.Owner != 0 && op.Call <= z.Created && z.Created <= End(op) {
			own = z
		}
	}
	switch {
	case own == nil || own.Deleted == Never || own.Deleted > End(op):
		return "", false
	case own.EndedWithSession():
		return fmt.Sprintf("%s's own znode %s went at step %d, when %s ended", op.Client, own.Path,
			own.Deleted, Session(own.Owner)), false
	case own.RemovedByWhom() == op.Client:
		return fmt.Sprintf("%s deleted its own znode %s at step %d", op.Client, own.Path,
			own.Deleted), true
	}
	return fmt.Sprintf("%s deleted %s's own znode %s at step %d", own.RemovedByWhom(), op.Client,
		own.Path, own.Deleted), false
}

// WhyMissing tells who deleted a znode, if the log knows it.
func WhyMissing(log Log, at string) string {
	for i := len(log.Znodes) - 1; i >= 0; i-- {
		z := log.Znodes[i]
		if z.Path != at || z.Deleted == Never {
			continue
		}
		if z.EndedWithSession() {
			return fmt.Sprintf("does not exist: %s ended at step %d",
				SessionOf(z.Owner, log.Clients[z.Owner]), z.Deleted)
		}
		return fmt.Sprintf("does not exist: %s deleted it at step %d", z.RemovedByWhom(), z.Deleted)
	}
	return "does not exist"
}

// FirstChild is the oldest child of a directory, not of the client's sessions if there is another.
func FirstChild(left *lin.Leftovers, dir, client string) (first lin.NodeAtRest, ok bool) {
	for _, n := range left.Nodes {
		if path.Dir(n.Path) != dir || n.Path == dir {
			continue
		}
		own, before := n.OwnerClient == client, first.OwnerClient == client
		if !ok || before && !own || before == own && n.Czxid < first.Czxid {
			first, ok = n, true
		}
	}
	return first, ok
}

// madeText says whose a znode is, and which call made it.
func madeText(h lin.History, log Log, n lin.NodeAtRest) string {
	verb := "left"
	if op := MakerOf(h, log.MadeAt(n)); op != nil && op.OK() && makerGone(log, n) == "" {
		verb = "made"
	}
	by := MadeBy(h, log, n, verb) + LostDelete(n)
	if n.Owner == 0 {
		return by + makerGone(log, n)
	}
	return fmt.Sprintf("belongs to %s and %s", SessionOf(n.Owner, OwnerClient(log, n)), by)
}

// makerGone says that the client that made a persistent znode has no session any more: then it will
// not delete it.
func makerGone(log Log, n lin.NodeAtRest) string {
	z, gone := log.MadeAt(n), int64(0)
	if z == nil || z.Creator == "" {
		return ""
	}
	for session, client := range log.Clients {
		if client == z.Creator {
			end, _ := log.SessionEnd(session)
			gone = max(gone, end)
		}
	}
	if gone == 0 || gone == Never {
		return ""
	}
	return fmt.Sprintf(", and the last session of %s ended at step %d", z.Creator, gone)
}

// OwnerClient returns the client of the session that owns the znode, if it is known.
func OwnerClient(log Log, n lin.NodeAtRest) string {
	return cmp.Or(n.OwnerClient, log.Clients[n.Owner])
}

// MadeBy names the call in which a znode was made, or left.
func MadeBy(h lin.History, log Log, n lin.NodeAtRest, verb string) string {
	z := log.MadeAt(n)
	switch {
	case z == nil && log.Known:
		return "was there from the beginning"
	case z == nil:
		return "was left by an earlier attempt"
	}
	if op := MakerOf(h, z); op != nil {
		return "was " + verb + " by " + Describe(*op)
	}
	if z.Creator != "" {
		return fmt.Sprintf("was left by %s's create at step %d%s", z.Creator, z.Created, afterCall(h, z))
	}
	return fmt.Sprintf("was left by a create at step %d", z.Created)
}

// MadeAt returns the znode of the log that is there at rest, or nil.
func (log *Log) MadeAt(n lin.NodeAtRest) *Znode {
	for _, z := range log.Znodes {
		if z.Path == n.Path && (z.Czxid == n.Czxid || n.Czxid == 0) {
			return z
		}
	}
	return nil
}

// MakerOf returns the call of a znode's creator that was under way at the create, or nil. The znode
// may be nil, too.
func MakerOf(h lin.History, z *Znode) *lin.Op {
	for i := range h.Ops {
		op := &h.Ops[i]
		if z != nil && op.Client == z.Creator && op.Call <= z.Created && z.Created <= End(*op) {
			return op
		}
	}
	return nil
}

// afterCall names the last call that the creator of a znode had ended before.
func afterCall(h lin.History, z *Znode) string {
	var last *lin.Op
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Client == z.Creator && End(*op) < z.Created &&
			(last == nil || op.Return > last.Return) {
			last = op
		}
	}
	if last == nil {
		return ""
	}
	return ", after " + Describe(*last)
}
