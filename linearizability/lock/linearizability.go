package lock

import (
	"fmt"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/model"
)

var mutexModel = judging.Model[model.Lock, model.LockOp]{Step: model.Lock.Step, Show: showMutex}

func showMutex(l model.Lock) string {
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

// eventsOf turns the holds into operations on the model. The release of a hold lies at the
// server's step, if the log has it. A late or lost release is left out: the server then revokes the
// lock at the end of the session.
func eventsOf(t table) []judging.Event[model.LockOp] {
	var list []judging.Event[model.LockOp]
	for _, h := range t.holds {
		if h.second && h.serverEnd < h.lock.Call {
			continue // it extends a hold in another mode that is over, as the client does not know
		}
		list = append(list, acquireEvent(t.kind, h))
		if t.kind.reentrant {
			list = append(list, innerEvents(t, h)...)
		}
		switch h.ending {
		case takenAway, stolen, givenUp:
			list = append(list, expireEvent(t.kind, h, h.serverEnd, h.serverEnd))
		case unknownEnd:
			list = append(list, expireEvent(t.kind, h, h.lock.Call, h.overBy(t.history)))
		case released:
			list = append(list, releaseEvent(t, h))
		}
	}
	if !t.log.Known {
		list = append(list, unknownLocks(t)...)
	}
	return list
}

func (k kind) op(kind model.LockKind, h *hold) model.LockOp {
	return model.LockOp{Kind: kind, By: h.owner, Shared: k.isShared(h.lock)}
}

func acquireEvent(kind kind, h *hold) judging.Event[model.LockOp] {
	e := judging.Event[model.LockOp]{
		Op: kind.op(model.Acquire, h), Call: h.lock.Call, Return: h.lock.Return,
		Key:  judging.Key(h.lock.Return, phaseGrant),
		Lane: h.lock.Client, Text: fmt.Sprintf("%s(%s) -> ok", h.lock.Kind, h.lock.Input),
	}
	if e.Op.Token = h.lock.Token; e.Op.Token != 0 {
		e.Text = fmt.Sprintf("%s(%s) -> token %d", h.lock.Kind, h.lock.Input, h.lock.Token)
	}
	if h.again {
		e.Op.Token = 0 // the model would ask for a greater one
	}
	if h.serverEnd <= h.lock.Return && (h.ending == takenAway || h.ending == stolen) {
		e.Key = judging.Key(max(h.serverEnd, h.lock.Call), phaseLateGrant)
		if kind.betweenCalls && h.node != nil && h.serverEnd < h.lock.Call {
			e.Call, e.Key = h.node.Created, judging.Key(h.serverEnd, phaseLateGrant)
		}
	}
	return e
}

// expireEvent is the loss of a lock. A stolen lock is free, too; the theft violates safety.
func expireEvent(kind kind, h *hold, call, ret int64) judging.Event[model.LockOp] {
	e := judging.Event[model.LockOp]{
		Op: kind.op(model.Expire, h), Call: call, Return: ret, Key: judging.Key(ret, phaseEnd),
		Lane: "server", Text: fmt.Sprintf("takes the %s from %s", kind.noun, h.lock.Client),
	}
	switch {
	case h.ending == givenUp:
		e.Lane, e.Text = h.lock.Client, fmt.Sprintf("signals that the %s is lost", kind.noun)
	case h.ending == stolen && h.node.RemovedByServer():
		e.Text = "deletes " + h.node.Path
	case h.ending == stolen:
		e.Text = fmt.Sprintf("deletes %s for %s", h.node.Path, h.node.RemovedByWhom())
	}
	return e
}

func releaseEvent(t table, h *hold) judging.Event[model.LockOp] {
	e := judging.Event[model.LockOp]{
		Op: t.kind.op(model.Release, h), Call: h.unlock.Call, Return: judging.End(*h.unlock),
		Key:  judging.Key(h.unlock.Call, phaseUnlock),
		Lane: h.lock.Client, Text: fmt.Sprintf("%s(%s)", h.unlock.Kind, h.unlock.Input),
	}
	switch {
	case h.node != nil: // its delete is the release
		if h.unlock.Pending() {
			e.Return = h.serverEnd
		}
		e.Return = max(e.Return, h.serverEnd)
		e.Step, e.Key = h.serverEnd, judging.Key(h.serverEnd, phaseEnd)
	case h.unlock.Pending() || h.unlock.Outcome == lin.OpUnknown:
		e.Return, e.Op.Outcome = t.history.End+1, model.Maybe
	}
	return e
}

// overBy is the step by which a hold with an unknown end was over.
func (h *hold) overBy(history lin.History) int64 {
	step, lost := h.lossBy(history)
	if u := h.unlock; u != nil && (u.OK() || u.Outcome == lin.OpNotHeld) &&
		(!lost || u.Return < step) {
		return u.Return
	}
	return step
}

// unknownLocks are the calls of unknown outcome: the lock may have been granted.
func unknownLocks(t table) []judging.Event[model.LockOp] {
	var list []judging.Event[model.LockOp]
	for _, op := range t.history.Ops {
		if op.Kind != t.kind.acquire || op.OK() || op.Outcome == lin.OpFailed {
			continue
		}
		list = append(list, judging.Event[model.LockOp]{
			Op: model.LockOp{
				Kind: model.Acquire, By: model.Owner{Client: op.Client, Session: op.Session},
				Token: op.Token, Shared: t.kind.isShared(op), Outcome: model.Maybe,
			},
			Call: op.Call, Return: t.history.End + 1, Key: judging.Key(t.history.End+1, phaseGrant),
			Lane: op.Client, Text: fmt.Sprintf("%s(%s) -> unknown", op.Kind, op.Input),
		})
	}
	return list
}
