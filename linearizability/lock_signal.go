package linearizability

import "slices"

// judgeSignals holds the lock's own signals of loss against what happened.
func (c *lockCase) judgeSignals() (Verdict, bool) {
	if !c.opts.Signals {
		return Verdict{}, false
	}
	for _, h := range c.holds {
		if h.phantom != "" {
			continue
		}
		if v, bad := c.falseSignal(h); bad {
			return v, true
		}
		if v, bad := c.missingSignal(h); bad {
			return v, true
		}
	}
	return Verdict{}, false
}

// falseSignal looks for a signal while the znode and the session were alive. A
// client that was told of a disconnect since it called lock, or since the znode was
// made, if a candidacy goes on between calls, cannot know that they are, and may well
// say that the lock is lost.
func (c *lockCase) falseSignal(h *hold) (Verdict, bool) {
	n, told := c.signal(h)
	if !told || h.node == nil || !h.node.aliveAt(n.Step) || c.closesAt(h, n.Step) {
		return Verdict{}, false
	}
	if end, _ := c.log.sessionEnd(h.owner.Session); end <= n.Step {
		return Verdict{}, false
	}
	if e, excused := c.history.notice(h.lock.Client, min(h.lock.Call, h.node.born), Disconnected, SessionExpired); excused && e.Step <= n.Step {
		return Verdict{}, false
	}
	return violated(Belief, []int64{h.lock.Return, n.Step}, "%s was told at step %d that it had lost the %s, but its znode %s was alive",
		h.lock.Client, n.Step, c.kind.noun, h.node.path), true
}

// signal returns the first signal of a hold; from the call of unlock on, none is
// about it for certain.
func (c *lockCase) signal(h *hold) (Notice, bool) {
	for _, n := range c.history.Notices {
		switch {
		case n.Client != h.lock.Client || n.Kind != LockLost || n.Step < h.lock.Return:
		case n.Token != 0 && h.lock.Token != 0 && n.Token != h.lock.Token: // it is about another
		default:
			return n, h.unlock == nil || n.Step < h.unlock.Call
		}
	}
	return Notice{}, false
}

// closesAt reports whether a close of the holder goes on at a step that was called
// before the lock was granted: it may have ended the hold.
func (c *lockCase) closesAt(h *hold, step int64) bool {
	return slices.ContainsFunc(c.history.Ops, func(op Op) bool {
		return op.Kind == KindClose && op.Client == h.lock.Client && op.Call < h.lock.Return && step <= op.end()
	})
}

// missingSignal looks for a holder that knew of the end of its session, held on
// for longer than the signal may take, and was not told in that time.
func (c *lockCase) missingSignal(h *hold) (Verdict, bool) {
	expired, knew := c.history.notice(h.lock.Client, h.lock.Return, SessionExpired)
	if c.opts.SignalWithin <= 0 || !knew {
		return Verdict{}, false
	}
	if end, _ := c.log.sessionEnd(h.owner.Session); c.log.known && end > expired.Step {
		return Verdict{}, false // the notice is about an earlier session
	}
	until, untilStep := c.history.EndTime, c.history.End+1
	if h.unlock != nil {
		until, untilStep = h.unlock.CallTime, h.unlock.Call
	}
	deadline := expired.Time + c.opts.SignalWithin
	if expired.Step >= untilStep || until <= deadline {
		return Verdict{}, false
	}
	if n, told := c.signal(h); told && n.Time <= deadline {
		return Verdict{}, false
	}
	return violated(Belief, []int64{h.lock.Return, expired.Step},
		"%s's session expired at step %d while it held the %s (granted at step %d), and the %s's signal of loss did not come within %v, though %s held on for %v",
		h.lock.Client, expired.Step, c.kind.noun, h.lock.Return, c.kind.noun, c.opts.SignalWithin, h.lock.Client, until-expired.Time), true
}
