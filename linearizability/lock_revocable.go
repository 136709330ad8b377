package linearizability

import (
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// RevocableLock claims to be a [Lock] with requests to the owner to release it. A request is a
// change of the data of the owner's znode. Delivery is violated if an owner reports a request that
// does not exist, or misses one for too long. It is judged only if the server's log and the owner's
// znode are known.
type RevocableLock struct {
	Lock
	// Within limits the time from a request to its report by the owner.
	Within time.Duration
}

func (claims RevocableLock) judge(h History, left *Leftovers) Report {
	t := newLockTable(h, mutex, claims.Lock)
	r := judgeLock(t, left)
	if t.log.known {
		r.add(judgeRevocations(t, claims.Within))
	}
	return r
}

// judgeRevocations compares the requests to owners with the owners' reports.
func judgeRevocations(t lockTable, within time.Duration) Verdict {
	asked := 0
	for _, h := range t.holds {
		op, held := holdingTime(t.history, h)
		if !held {
			continue
		}
		change, requested := requestTo(t.history, h.node)
		switch {
		case requested:
			asked++
			late := op.ReturnTime - change.Time
			if op.Output != ops.Over || late <= within {
				continue
			}
			return violated(Delivery, []int64{h.lock.Return, change.Step, op.Return},
				"%s was asked at step %d to give %s up, and had not heard of it %v later",
				op.Client, change.Step, h.node.path, late)
		case op.Output == ops.Revoked && (t.claims.Signals || !mayBeLost(t.history, h, op)):
			return violated(Delivery, []int64{h.lock.Return, op.Return},
				"%s heard at step %d that it was asked to give the lock up, "+
					"but nobody had changed %s", op.Client, op.Return, h.node.path)
		}
	}
	return fine(Delivery, "%s asked, each was heard", count(asked, "owner"))
}

// holdingTime returns the client's [ops.Hold] within a hold with a known znode.
func holdingTime(history History, h *hold) (Op, bool) {
	if h.node == nil || h.whyNotOwner != "" {
		return Op{}, false
	}
	for _, op := range history.Ops {
		if op.Client == h.lock.Client && op.Kind == ops.Hold && op.ok() &&
			op.Call >= h.lock.Return && (h.unlock == nil || op.Return <= h.unlock.Call) {
			return op, true
		}
	}
	return Op{}, false
}

// mayBeLost reports whether an owner may take the hold for lost during op: its znode was gone, or
// it had learned of a disconnect. Without a signal of loss the report of a request says this, too.
func mayBeLost(history History, h *hold, op Op) bool {
	n, noticed := FirstNotice(history, h.lock.Client, h.lock.Call, Disconnected, SessionExpired)
	return h.node.deleted < op.Return || noticed && n.Step < op.Return
}

// requestTo returns the first change of the znode's data.
func requestTo(history History, z *znode) (ServerEvent, bool) {
	for _, e := range history.Server {
		if e.Kind == DataChanged && e.Path == z.path && e.Step >= z.created && e.Step <= z.deleted {
			return e, true
		}
	}
	return ServerEvent{}, false
}
