package linearizability

import (
	"cmp"
	"fmt"

	"github.com/zksim/zksim/model"
)

var lockObject = sequential[model.Lock, model.LockOp]{step: model.Lock.Step, show: showLock}

func showLock(l model.Lock) string {
	if l.Holder == (model.Owner{}) {
		return "free"
	}
	return fmt.Sprintf("held by %s, token %d", l.Holder.Client, l.Token)
}

// The phases of one step: a lock granted before it was lost, the losses, and only then the grants
// that they make possible.
const (
	phaseLateGrant = iota
	phaseEnd
	phaseGrant
	phaseUnlock
)

// lockEvents turns the holds into operations on the model. The release of a hold lies at the
// server's step, if the log has it. A late or lost release is left out: the server then revokes the
// lock at the end of the session.
func lockEvents(t lockTable) []event[model.LockOp] {
	var list []event[model.LockOp]
	for _, h := range t.holds {
		if h.second && h.serverEnd < h.lock.Call {
			continue // it extends a hold in another mode that was over, unknown to the client
		}
		list = append(list, acquireEvent(t.kind, h))
		if t.kind.reentrant {
			list = append(list, innerEvents(t, h)...)
		}
		switch h.ending {
		case takenAway, stolen:
			list = append(list, expireEvent(t.kind, h, h.serverEnd, h.serverEnd))
		case unknownEnd:
			n, _ := FirstNotice(t.history, h.lock.Client, h.lock.Call, SessionExpired)
			list = append(list, expireEvent(t.kind, h, h.lock.Call, n.Step))
		case released:
			list = append(list, releaseEvent(t, h))
		}
	}
	if !t.log.known {
		list = append(list, unknownLocks(t)...)
	}
	return list
}

func (k lockKind) op(kind model.LockKind, h *hold) model.LockOp {
	return model.LockOp{Kind: kind, By: h.owner, Shared: k.isShared(h.lock)}
}

func acquireEvent(kind lockKind, h *hold) event[model.LockOp] {
	e := event[model.LockOp]{
		op: kind.op(model.Acquire, h), call: h.lock.Call, ret: h.lock.Return,
		key:  at(h.lock.Return, phaseGrant),
		lane: h.lock.Client, text: fmt.Sprintf("%s(%s) -> ok", h.lock.Kind, h.lock.Input),
	}
	if e.op.Token = h.lock.Token; e.op.Token != 0 {
		e.text = fmt.Sprintf("%s(%s) -> token %d", h.lock.Kind, h.lock.Input, h.lock.Token)
	}
	if h.serverEnd <= h.lock.Return && (h.ending == takenAway || h.ending == stolen) {
		e.key = at(max(h.serverEnd, h.lock.Call), phaseLateGrant)
		if kind.betweenCalls && h.node != nil && h.serverEnd < h.lock.Call {
			e.call, e.key = h.node.created, at(h.serverEnd, phaseLateGrant)
		}
	}
	return e
}

// expireEvent is the loss of a lock. A stolen lock is free, too; the theft violates safety.
func expireEvent(kind lockKind, h *hold, call, ret int64) event[model.LockOp] {
	e := event[model.LockOp]{
		op: kind.op(model.Expire, h), call: call, ret: ret, key: at(ret, phaseEnd),
		lane: "server", text: fmt.Sprintf("takes the %s from %s", kind.noun, h.lock.Client),
	}
	if h.ending == stolen {
		by := cmp.Or(h.node.remover, session(h.node.removerSession))
		e.text = fmt.Sprintf("deletes %s for %s", h.node.path, by)
	}
	return e
}

func releaseEvent(t lockTable, h *hold) event[model.LockOp] {
	e := event[model.LockOp]{
		op: t.kind.op(model.Release, h), call: h.unlock.Call, ret: End(*h.unlock),
		key:  at(h.unlock.Call, phaseUnlock),
		lane: h.lock.Client, text: fmt.Sprintf("%s(%s)", h.unlock.Kind, h.unlock.Input),
	}
	switch {
	case h.node != nil: // its delete is the release
		if h.unlock.pending() {
			e.ret = h.serverEnd
		}
		e.ret = max(e.ret, h.serverEnd)
		e.step, e.key = h.serverEnd, at(h.serverEnd, phaseEnd)
	case h.unlock.pending() || h.unlock.Outcome == OpUnknown:
		e.ret, e.op.Outcome = t.history.End+1, model.Maybe
	case h.unlock.Outcome == OpFailed:
		e.op.Outcome = model.Maybe // it may have found nothing to release
	}
	return e
}

// unknownLocks are the calls of unknown outcome: the lock may have been granted.
func unknownLocks(t lockTable) []event[model.LockOp] {
	var list []event[model.LockOp]
	for _, op := range t.history.Ops {
		if op.Kind != t.kind.acquire || op.ok() || op.Outcome == OpFailed {
			continue
		}
		list = append(list, event[model.LockOp]{
			op: model.LockOp{
				Kind: model.Acquire, By: model.Owner{Client: op.Client, Session: op.Session},
				Token: op.Token, Shared: t.kind.isShared(op), Outcome: model.Maybe,
			},
			call: op.Call, ret: t.history.End + 1, key: at(t.history.End+1, phaseGrant),
			lane: op.Client, text: fmt.Sprintf("%s(%s) -> unknown", op.Kind, op.Input),
		})
	}
	return list
}
