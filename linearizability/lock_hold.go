package linearizability

import (
	"slices"
	"time"

	"github.com/zksim/zksim/model"
)

// ending is why a hold ended at the server.
type ending int

const (
	stillHeld ending = iota // it did not
	released                // by the holder's own unlock
	takenAway               // the session ended, or the server deleted the znode
	snatched                // a client's request deleted the znode, and the holder had not called unlock
	perhaps                 // the client was told of an expiry; when that was is not known
)

// hold is one lock that was granted: from the return of a lock operation, as the
// server sees it and as the client believes.
type hold struct {
	lock    Op
	unlock  *Op   // the client's release, if it called one
	inner   []*Op // acquires and releases in between, of a hold that was acquired again
	depth   int   // how many of these acquires have no release
	beside  bool  // it continues another hold of its client, under the same token, through a znode of its own
	node    *life // the client's own znode, if known
	owner   model.Owner
	phantom string // why the client owns nothing, or empty

	ending        ending
	serverEnd     int64 // never, if stillHeld
	serverEndTime time.Duration
	beliefEnd     int64
	beliefEndTime time.Duration
}

// granted is the step by which the lock was the client's. A reply may reach the
// client after its session has ended: then the grant was before that.
func (h *hold) granted() int64 { return min(h.lock.Return, h.serverEnd) }

// serverEnds is the step at which the hold ends for the server.
func (h *hold) serverEnds() int64 { return h.serverEnd }

// trueBelief is the step until which the client believes, rightly as far as
// anyone can tell, that it holds the lock. What follows is a zombie window. A
// lock that was snatched is no excuse: then all of the belief counts.
func (h *hold) trueBelief() int64 {
	if h.ending == snatched {
		return h.beliefEnd
	}
	return h.standing()
}

// standing is the step until which the lock is the client's, for the server and
// for the client.
func (h *hold) standing() int64 { return min(h.beliefEnd, h.serverEnd) }

// lockCase is one history of one lock, prepared for judging.
type lockCase struct {
	history History
	log     serverLog
	kind    lockKind
	opts    Lock
	holds   []*hold // in the order of their returns
	opaque  bool    // tokens are not czxids
}

func newLockCase(h History, kind lockKind, opts Lock) *lockCase {
	h = h.sorted()
	c := &lockCase{history: h, log: readServer(h.Server), kind: kind, opts: opts}
	c.opaque = !c.tokensAreCzxids()
	for _, client := range clientsOf(h.Ops) {
		c.pairUp(client)
	}
	for _, hd := range c.holds {
		c.settle(hd)
	}
	slices.SortStableFunc(c.holds, func(a, b *hold) int { return compare(a.lock.Return, b.lock.Return) })
	return c
}

func clientsOf(ops []Op) []string {
	var names []string
	for _, op := range ops {
		names = append(names, op.Client)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// pairUp finds the release of each lock the client was granted. A lock granted
// again under the same token is the same hold (a re-entrant lock), and ends with
// its last release. A close is a release of everything.
func (c *lockCase) pairUp(client string) {
	open := map[string]*hold{} // by place
	for i := range c.history.Ops {
		op := &c.history.Ops[i]
		place := c.kind.place(*op)
		current := open[place]
		switch {
		case op.Client != client:
		case op.Kind == KindClose:
			for _, h := range c.holds {
				if h.lock.Client == client && h.unlock == nil && h.lock.Return < op.Call {
					h.unlock, open[c.kind.place(h.lock)] = op, nil
				}
			}
		case op.Kind == c.kind.acquire && op.ok():
			if current != nil && c.isAgain(current, op) {
				current.inner, current.depth = append(current.inner, op), current.depth+1
				continue
			}
			open[place] = &hold{lock: *op, beside: c.continues(op)}
			c.holds = append(c.holds, open[place])
		case op.Kind != c.kind.release || current == nil:
		case current.depth > 0:
			current.inner, current.depth = append(current.inner, op), current.depth-1
		default:
			current.unlock, open[place] = op, nil
		}
	}
}

// isAgain reports whether the client was granted what it holds already.
func (c *lockCase) isAgain(current *hold, op *Op) bool {
	if op.Token != 0 || current.lock.Token != 0 {
		return op.Token == current.lock.Token
	}
	return c.kind.reentrant && op.Session == current.lock.Session
}

// continues reports whether the client was granted what it holds already in
// another way: the writer who reads, too.
func (c *lockCase) continues(op *Op) bool {
	return c.kind.named && op.Token != 0 && slices.ContainsFunc(c.holds, func(h *hold) bool {
		return h.lock.Client == op.Client && h.lock.Token == op.Token && h.unlock == nil
	})
}

// settle finds out whose hold it is and when it ended.
func (c *lockCase) settle(h *hold) {
	h.owner = model.Owner{Client: h.lock.Client, Session: h.lock.Session}
	if h.beside {
		h.node, h.phantom = c.secondNode(h.lock)
	} else {
		h.node, h.phantom = c.ownNode(h.lock)
	}
	if h.owner.Session == 0 && h.node != nil {
		h.owner.Session = h.node.owner
	}
	if h.phantom != "" {
		h.node = nil // it proves nothing about this hold
	}
	c.settleServer(h)
	c.settleBelief(h)
}

func (c *lockCase) settleServer(h *hold) {
	h.serverEnd, h.serverEndTime = c.log.sessionEnd(h.owner.Session)
	if h.serverEnd != never {
		h.ending = takenAway
	}
	if h.node != nil {
		if h.node.died < h.serverEnd {
			h.serverEnd, h.serverEndTime, h.ending = h.node.died, h.node.diedTime, takenAway
			switch {
			case h.unlock != nil && h.node.died >= h.unlock.Call && h.node.removedBy(h.owner.Client, h.owner.Session):
				h.ending = released
			case c.isSnatched(h):
				h.ending = snatched
			}
		}
		return
	}
	if h.unlock != nil && h.unlock.Call < h.serverEnd {
		h.serverEnd, h.serverEndTime, h.ending = h.unlock.Call, h.unlock.CallTime, released
	}
	if !c.log.known {
		if _, told := c.history.notice(h.lock.Client, h.lock.Call, SessionExpired); told {
			h.serverEnd, h.ending = h.lock.Call, perhaps
		}
	}
}

func (c *lockCase) settleBelief(h *hold) {
	h.beliefEnd, h.beliefEndTime = c.history.End+1, c.history.EndTime
	if h.unlock != nil {
		h.beliefEnd, h.beliefEndTime = h.unlock.Call, h.unlock.CallTime
	}
	kinds := []NoticeKind{SessionExpired, LockLost}
	if c.opts.DisconnectEndsBelief && !c.opts.Signals {
		kinds = append(kinds, Disconnected)
	}
	n, told := c.history.notice(h.lock.Client, h.lock.Return, kinds...)
	if told && n.Step < h.beliefEnd {
		h.beliefEnd, h.beliefEndTime = n.Step, n.Time
	}
}
