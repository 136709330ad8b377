package linearizability

import (
	"fmt"

	"github.com/zksim/zksim/model"
)

var lockObject = object[model.Lock, model.LockOp]{step: model.Lock.Step, show: showLock}

func showLock(l model.Lock) string {
	if l.Holder == (model.Owner{}) {
		return "free"
	}
	return fmt.Sprintf("held by %s, token %d", l.Holder.Client, l.Token)
}

// The phases of one step: a lock granted before it was lost, the losses, and
// only then the grants they make possible.
const (
	phaseLateGrant = iota
	phaseEnd
	phaseGrant
	phaseUnlock
)

// lockEvents turns the holds into operations on the model. The release of a hold
// is where the server did it, if the log tells; a release that came too late, or
// whose request was lost, is left out, and the server takes the lock away when
// the session ends.
func (c *lockCase) lockEvents() []event[model.LockOp] {
	var list []event[model.LockOp]
	for _, h := range c.holds {
		list = append(list, c.acquireEvent(h))
		if c.kind.reentrant {
			list = append(list, c.innerEvents(h)...)
		}
		switch {
		case h.ending == takenAway || h.ending == snatched:
			list = append(list, c.expireEvent(h, h.serverEnd, h.serverEnd))
		case h.ending == perhaps:
			n, _ := c.history.notice(h.lock.Client, h.lock.Call, SessionExpired)
			list = append(list, c.expireEvent(h, h.lock.Call, n.Step))
		case h.ending == released:
			list = append(list, c.releaseEvent(h))
		}
	}
	if !c.log.known {
		list = append(list, c.unknownLocks()...)
	}
	return list
}

func (c *lockCase) acquireEvent(h *hold) event[model.LockOp] {
	e := event[model.LockOp]{
		op:   model.LockOp{Kind: model.Acquire, By: h.owner, Token: h.lock.Token, Shared: c.kind.isShared(h.lock)},
		call: h.lock.Call, ret: h.lock.Return,
		key:  at(h.lock.Return, phaseGrant),
		lane: h.lock.Client, text: fmt.Sprintf("%s(%s) -> ok", h.lock.Kind, h.lock.Input), note: note(h.lock),
	}
	if h.lock.Token != 0 {
		e.text = fmt.Sprintf("%s(%s) -> token %d", h.lock.Kind, h.lock.Input, h.lock.Token)
	}
	if h.serverEnd <= h.lock.Return && (h.ending == takenAway || h.ending == snatched) {
		e.key = at(max(h.serverEnd, h.lock.Call), phaseLateGrant)
		if c.kind.ahead && h.node != nil && h.serverEnd < h.lock.Call {
			e.call, e.key = h.node.born, at(h.serverEnd, phaseLateGrant)
		}
	}
	return e
}

// expireEvent takes the lock away. A lock that was snatched is free all the same;
// that it should not be is a matter of safety.
func (c *lockCase) expireEvent(h *hold, call, ret int64) event[model.LockOp] {
	e := event[model.LockOp]{
		op:   model.LockOp{Kind: model.Expire, By: h.owner, Shared: c.kind.isShared(h.lock)},
		call: call, ret: ret, key: at(ret, phaseEnd),
		lane: "server", text: fmt.Sprintf("takes the %s from %s", c.kind.noun, h.lock.Client),
	}
	if h.ending == snatched {
		e.text = fmt.Sprintf("deletes %s for %s", h.node.path, ownerOr(h.node.remover, session(h.node.removerSession)))
	}
	return e
}

func (c *lockCase) releaseEvent(h *hold) event[model.LockOp] {
	e := event[model.LockOp]{
		op:   model.LockOp{Kind: model.Release, By: h.owner, Shared: c.kind.isShared(h.lock)},
		call: h.unlock.Call, ret: h.unlock.end(),
		key:  at(h.unlock.Call, phaseUnlock),
		lane: h.lock.Client, text: fmt.Sprintf("%s(%s)", h.unlock.Kind, h.unlock.Input), note: note(*h.unlock),
	}
	switch {
	case h.node != nil: // its delete is the release
		if h.unlock.pending() {
			e.ret = h.serverEnd
		}
		e.ret = max(e.ret, h.serverEnd)
		e.key = at(h.serverEnd, phaseEnd)
	case h.unlock.pending():
		e.ret, e.op.Outcome = c.history.End+1, model.Maybe
	case h.unlock.Outcome == OpUnknown:
		e.ret, e.op.Outcome = c.history.End+1, model.Maybe
	case h.unlock.Outcome == OpFailed:
		e.op.Outcome = model.Maybe // it may have found nothing to release
	}
	return e
}

// unknownLocks are locks that may have been granted, for all anybody knows.
func (c *lockCase) unknownLocks() []event[model.LockOp] {
	var list []event[model.LockOp]
	for _, op := range c.history.Ops {
		if op.Kind != c.kind.acquire || op.ok() || op.Outcome == OpFailed {
			continue
		}
		list = append(list, event[model.LockOp]{
			op:   model.LockOp{Kind: model.Acquire, By: model.Owner{Client: op.Client, Session: op.Session}, Token: op.Token, Shared: c.kind.isShared(op), Outcome: model.Maybe},
			call: op.Call, ret: c.history.End + 1, key: at(c.history.End+1, phaseGrant),
			lane: op.Client, text: fmt.Sprintf("%s(%s) -> unknown", op.Kind, op.Input), note: note(op),
		})
	}
	return list
}

// note is what the picture shows of an operation when asked.
func note(op Op) string {
	text := fmt.Sprintf("from %v", op.CallTime)
	if !op.pending() {
		text += fmt.Sprintf(" to %v", op.ReturnTime)
	}
	if op.Err != "" {
		text += ": " + op.Err
	}
	return text
}
