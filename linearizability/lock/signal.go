package lock

import (
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// badSignal looks for a wrong or missing signal of loss.
func badSignal(t table) (v lin.Verdict, bad bool) {
	for _, h := range t.holds {
		if h.whyNotOwner != "" {
			continue
		}
		if v, bad := falseSignal(t, h); bad {
			return v, true
		}
		if v, bad := missingSignal(t, h); bad {
			return v, true
		}
	}
	return lin.Verdict{}, false
}

// falseSignal looks for a signal while the znode and the session were alive. A disconnect since the
// call of lock excuses it, as the client cannot know then that they are alive. If clients compete
// between calls, a disconnect since the create of the znode excuses it. A request without an answer
// and a pause excuse it, too: a lease gives up when no renewal was acknowledged.
func falseSignal(t table, h *hold) (v lin.Verdict, bad bool) {
	n, signalled := signalTo(t.history, h)
	if !signalled || h.node == nil || !h.node.ExistsAt(n.Step) || closesAt(t.history, h, n.Step) {
		return lin.Verdict{}, false
	}
	if end, _ := t.log.SessionEnd(h.owner.Session); end <= n.Step {
		return lin.Verdict{}, false
	}
	from := min(h.lock.Call, h.node.Created)
	kinds := []lin.NoticeKind{lin.Disconnected, lin.SessionExpired, lin.Unanswered}
	if t.claims.TTL { // the time may be over when the pause is
		kinds = append(kinds, lin.Paused)
	}
	e, excused := judging.FirstNotice(t.history, h.lock.Client, from, kinds...)
	if excused && e.Step <= n.Step || judging.PausedAt(t.history, h.lock.Client, n.Time) {
		return lin.Verdict{}, false
	}
	return judging.Violated(lin.Belief, []int64{h.lock.Return, n.Step},
		"%s was told at step %d that it had lost the %s, but its znode %s was alive",
		h.lock.Client, n.Step, t.kind.noun, h.node.Path), true
}

// signalTo returns the first signal of a hold. A signal after the call of unlock may be about
// another hold, and does not count.
func signalTo(history lin.History, h *hold) (lin.Notice, bool) {
	for _, n := range history.Notices {
		switch {
		case n.Client != h.lock.Client || n.Kind != lin.LockLost || n.Step < h.lock.Return:
		case n.Token != 0 && h.lock.Token != 0 && n.Token != h.lock.Token: // it is about another
		default:
			return n, h.unlock == nil || n.Step < h.unlock.Call
		}
	}
	return lin.Notice{}, false
}

// closesAt reports whether a close that the holder called before the grant is still running at a
// step: it may have ended the hold.
func closesAt(history lin.History, h *hold, step int64) bool {
	return slices.ContainsFunc(history.Ops, func(op lin.Op) bool {
		return op.Kind == ops.Close && op.Client == h.lock.Client && op.Call < h.lock.Return &&
			step <= judging.End(op)
	})
}

// missingSignal looks for a holder that knew of the end of its session, kept the lock longer than
// SignalWithin, and got no signal in that time.
func missingSignal(t table, h *hold) (v lin.Verdict, bad bool) {
	expired, knew := judging.FirstNotice(t.history, h.lock.Client, h.lock.Return,
		lin.SessionExpired)
	if t.claims.SignalWithin <= 0 || !knew || expired.Kind == lin.Died {
		return lin.Verdict{}, false
	}
	if end, _ := t.log.SessionEnd(h.owner.Session); t.log.Known && end > expired.Step {
		return lin.Verdict{}, false // the notice is about an earlier session
	}
	until, untilStep := t.history.EndTime, t.history.End+1
	if h.unlock != nil {
		until, untilStep = h.unlock.CallTime, h.unlock.Call
	}
	if died, dead := judging.FirstNotice(t.history, h.lock.Client, expired.Step, lin.Died); dead {
		until, untilStep = min(until, died.Time), min(untilStep, died.Step)
	}
	deadline := expired.Time + t.claims.SignalWithin
	if expired.Step >= untilStep || until <= deadline {
		return lin.Verdict{}, false
	}
	if n, signalled := signalTo(t.history, h); signalled && n.Time <= deadline {
		return lin.Verdict{}, false
	}
	return judging.Violated(lin.Belief, []int64{h.lock.Return, expired.Step},
		"%s's session expired at step %d while it held the %s (granted at step %d), "+
			"and the %s's signal of loss did not come within %v, though %s held on for %v",
		h.lock.Client, expired.Step, t.kind.noun, h.lock.Return,
		t.kind.noun, t.claims.SignalWithin, h.lock.Client, until-expired.Time), true
}
