package linearizability

import (
	"slices"

	"github.com/zksim/zksim/linearizability/ops"
)

// badSignal looks for a wrong or missing signal of loss.
func badSignal(t lockTable) (v Verdict, bad bool) {
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
	return Verdict{}, false
}

// falseSignal looks for a signal while the znode and the session were alive. A disconnect since the
// call of lock excuses it, as the client cannot know then that they are alive. If clients compete
// between calls, a disconnect since the create of the znode excuses it.
func falseSignal(t lockTable, h *hold) (v Verdict, bad bool) {
	n, signalled := signalTo(t.history, h)
	if !signalled || h.node == nil || !h.node.existsAt(n.Step) || closesAt(t.history, h, n.Step) {
		return Verdict{}, false
	}
	if end, _ := t.log.sessionEnd(h.owner.Session); end <= n.Step {
		return Verdict{}, false
	}
	from := min(h.lock.Call, h.node.created)
	e, excused := FirstNotice(t.history, h.lock.Client, from, Disconnected, SessionExpired)
	if excused && e.Step <= n.Step {
		return Verdict{}, false
	}
	return violated(Belief, []int64{h.lock.Return, n.Step},
		"%s was told at step %d that it had lost the %s, but its znode %s was alive",
		h.lock.Client, n.Step, t.kind.noun, h.node.path), true
}

// signalTo returns the first signal of a hold. A signal after the call of unlock may be about
// another hold, and does not count.
func signalTo(history History, h *hold) (Notice, bool) {
	for _, n := range history.Notices {
		switch {
		case n.Client != h.lock.Client || n.Kind != LockLost || n.Step < h.lock.Return:
		case n.Token != 0 && h.lock.Token != 0 && n.Token != h.lock.Token: // it is about another
		default:
			return n, h.unlock == nil || n.Step < h.unlock.Call
		}
	}
	return Notice{}, false
}

// closesAt reports whether a close that the holder called before the grant is still running at a
// step: it may have ended the hold.
func closesAt(history History, h *hold, step int64) bool {
	return slices.ContainsFunc(history.Ops, func(op Op) bool {
		return op.Kind == ops.Close && op.Client == h.lock.Client && op.Call < h.lock.Return &&
			step <= End(op)
	})
}

// missingSignal looks for a holder that knew of the end of its session, kept the lock longer than
// SignalWithin, and got no signal in that time.
func missingSignal(t lockTable, h *hold) (v Verdict, bad bool) {
	expired, knew := FirstNotice(t.history, h.lock.Client, h.lock.Return, SessionExpired)
	if t.claims.SignalWithin <= 0 || !knew || expired.Kind == Died {
		return Verdict{}, false
	}
	if end, _ := t.log.sessionEnd(h.owner.Session); t.log.known && end > expired.Step {
		return Verdict{}, false // the notice is about an earlier session
	}
	until, untilStep := t.history.EndTime, t.history.End+1
	if h.unlock != nil {
		until, untilStep = h.unlock.CallTime, h.unlock.Call
	}
	if died, dead := FirstNotice(t.history, h.lock.Client, expired.Step, Died); dead {
		until, untilStep = min(until, died.Time), min(untilStep, died.Step)
	}
	deadline := expired.Time + t.claims.SignalWithin
	if expired.Step >= untilStep || until <= deadline {
		return Verdict{}, false
	}
	if n, signalled := signalTo(t.history, h); signalled && n.Time <= deadline {
		return Verdict{}, false
	}
	return violated(Belief, []int64{h.lock.Return, expired.Step},
		"%s's session expired at step %d while it held the %s (granted at step %d), "+
			"and the %s's signal of loss did not come within %v, though %s held on for %v",
		h.lock.Client, expired.Step, t.kind.noun, h.lock.Return,
		t.kind.noun, t.claims.SignalWithin, h.lock.Client, until-expired.Time), true
}
