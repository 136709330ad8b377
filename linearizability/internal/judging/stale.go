package judging

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
)

// staleRead is a read that may be answered by a server that lags behind.
type staleRead struct {
	by    *lin.Op
	looks func(after int) bool // whether the object was as it was read, after that many changes
}

// Read returns a step of a call at which the object was as the call reported it, or 0, and true. It
// returns false if the read may be stale: JudgeReads judges it, and the order of the operations
// leaves it out.
func (a *Attribution) Read(op *lin.Op, looks func(after int) bool) (step int64, ordered bool) {
	if a.Stale {
		a.reads = append(a.reads, staleRead{op, looks})
		return 0, false
	}
	return a.SeenAt(*op, looks), true
}

// JudgeReads judges the reads that may be stale. Each must show a state of the server's log that is
// no older than the client's own changes before the call, and than its reads before the call: a
// session never goes back. A client that had two sessions at once may go back. If no read may be
// stale, it names the claim, StaleReads, where that would allow a violation; weaker are the claims
// with it.
func (a *Attribution) JudgeReads(
	h lin.History, left *lin.Leftovers, r *lin.Report, weaker lin.Claims,
) {
	if !a.Stale {
		NameStaleReads(r, h, left, weaker)
		return
	}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Property == lin.Linearizability && v.Status == lin.OK {
			v.Summary += ", without its reads"
		}
	}
	if h.Server == nil {
		return
	}
	shown := make([]int, len(a.reads)) // the number of changes before the earliest fitting state
	for i, read := range a.reads {
		op := *read.by
		from, why := 0, "was never so"
		if HasOneSession(h, op.Client) {
			from, why = a.newestKnown(h, op, a.reads[:i], shown)
		}
		if shown[i] = a.firstShown(read, from); shown[i] < 0 {
			r.Worsen(Violated(lin.Linearizability, []int64{op.Call, op.Return},
				"%s's %s (steps %d to %d) %s", op.Client, CallText(op), op.Call, op.Return, why))
			return
		}
	}
}

// newestKnown is the number of changes up to the newest that the client of a read knew of, and the
// sentence about a read that shows none of the states since then.
func (a *Attribution) newestKnown(
	h lin.History, read lin.Op, earlier []staleRead, shown []int,
) (from int, why string) {
	why = "was never so"
	know := func(op lin.Op, changes int) {
		if op.Client == read.Client && op.OK() && op.Return <= read.Call && changes > from {
			from, why = changes, fmt.Sprintf("was so at no time since %s: a server that "+
				"lags shows a session no older state", Describe(op))
		}
	}
	for n, op := range h.Ops {
		for _, i := range a.Of[n] {
			know(op, i+1)
		}
	}
	for i, other := range earlier {
		know(*other.by, shown[i])
	}
	return from, why
}

// firstShown is the first state, by the number of changes before it, that is as a read shows it, or
// -1.
func (a *Attribution) firstShown(read staleRead, from int) int {
	for n := from; n <= len(a.Changes); n++ {
		if n > 0 && a.Changes[n-1].Step > End(*read.by) {
			break
		}
		if read.looks(n) {
			return n
		}
	}
	return -1
}

// HasOneSession reports whether a client never had two live sessions at once, as far as the
// server's log tells.
func HasOneSession(h lin.History, client string) bool {
	alive := 0
	for _, e := range h.Server {
		switch {
		case e.Client != client:
		case e.Kind == lin.SessionStarted:
			alive++
		case e.Kind == lin.SessionEnded:
			alive--
		}
		if alive > 1 {
			return false
		}
	}
	return true
}

// StaleReads reports whether the claim StaleReads allows anything: no read is stale if one server
// has given all answers.
func StaleReads(h lin.History, claimed bool) bool { return claimed && !h.OneServer }

// NameStaleReads is NameClaim for StaleReads. weaker are the claims with it.
func NameStaleReads(r *lin.Report, h lin.History, left *lin.Leftovers, weaker lin.Claims) {
	if StaleReads(h, true) {
		NameClaim(r, h, left, "StaleReads", weaker)
	}
}

// NameClaim adds the name of a claim to each violation that is none with the claim. weaker are the
// same claims with that one. A claim excuses no call that waits, though it may leave some unjudged.
func NameClaim(r *lin.Report, h lin.History, left *lin.Leftovers, name string, weaker lin.Claims) {
	if r.Status() == lin.Violated {
		NameAllowed(r, name, weaker.Judge(h, left))
	}
}

// NameAllowed is NameClaim for a report that was made with the claim.
func NameAllowed(r *lin.Report, name string, allowed lin.Report) {
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if other, judged := allowed.Verdict(v.Property); v.Status == lin.Violated && judged &&
			other.Status == lin.OK && v.Property != lin.Liveness {
			v.Summary += " (the claim " + name + " would allow it)"
		}
	}
}
