package linearizability

import "time"

// KindHold is the time in which a client of a revocable lock holds it, until it is
// asked to give it up. Output says what ended that: [HoldRevoked], [HoldLost] or
// [HoldOver].
const KindHold = "hold"

// The outputs of [KindHold].
const (
	HoldRevoked = "revoked" // the client was asked
	HoldLost    = "lost"    // the lock was lost
	HoldOver    = "over"    // the client had enough
)

// RevocableLock say what a revocable lock claims to be.
type RevocableLock struct {
	Lock
	// Within is how long it may take until an owner hears that it was asked.
	Within time.Duration
}

// JudgeRevocableLock judges a lock whose owner can be asked to give it up, as
// [Lock] judges one that cannot be, and what its owners hear. To ask is to
// change the data of the owner's znode. It is a violation of delivery if an owner
// hears of a question that nobody has put, or does not hear of one in time. That is
// judged only where the server's log and the owner's znode are known.
func (opts RevocableLock) judge(h History, rest *Leftovers) Report {
	c := newLockCase(h, mutex, opts.Lock)
	r := c.judgeHolds(rest)
	if c.log.known {
		r.insert(c.judgeHearing(opts.Within))
	}
	return r
}

// judgeHearing compares what was asked with what was heard.
func (c *lockCase) judgeHearing(within time.Duration) Verdict {
	asked := 0
	for _, h := range c.holds {
		op, held := c.holding(h)
		if !held {
			continue
		}
		ev, was := c.questionTo(h.node)
		switch {
		case was:
			asked++
			if op.Output != HoldOver || op.ReturnTime-ev.Time <= within {
				continue
			}
			return violated(Delivery, []int64{h.lock.Return, ev.Step, op.Return},
				"%s was asked at step %d to give %s up, and had not heard of it %v later",
				op.Client, ev.Step, h.node.path, op.ReturnTime-ev.Time)
		case op.Output == HoldRevoked:
			return violated(Delivery, []int64{h.lock.Return, op.Return},
				"%s heard at step %d that it was asked to give the lock up, but nobody had changed %s", op.Client, op.Return, h.node.path)
		}
	}
	return fine(Delivery, "%s, each was heard", count(asked, "owner")+" asked")
}

// holding returns the client's time of waiting within a hold whose znode is known.
func (c *lockCase) holding(h *hold) (Op, bool) {
	if h.node == nil || h.phantom != "" {
		return Op{}, false
	}
	for _, op := range c.history.Ops {
		if op.Client == h.lock.Client && op.Kind == KindHold && op.ok() && op.Call >= h.lock.Return && (h.unlock == nil || op.Return <= h.unlock.Call) {
			return op, true
		}
	}
	return Op{}, false
}

// questionTo returns the first change of the znode's data.
func (c *lockCase) questionTo(l *life) (ServerEvent, bool) {
	for _, ev := range c.history.Server {
		if ev.Kind == DataChanged && ev.Path == l.path && ev.Step >= l.born && ev.Step <= l.died {
			return ev, true
		}
	}
	return ServerEvent{}, false
}
