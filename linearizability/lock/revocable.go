package lock

import (
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// Revocable claims to be a [Claims] with requests to the owner to release it. A request is a
// change of the data of the owner's znode. Delivery is violated if an owner reports a request that
// does not exist, or misses one for too long. It is judged only if the server's log and the owner's
// znode are known. An owner whose znode goes within the time need not hear of the request.
type Revocable struct {
	Claims
	// Within limits the time from a request to its report by the owner.
	Within time.Duration
}

// Properties implements [lin.Claims].
func (claims Revocable) Properties() []string {
	return claims.with(lin.Delivery)
}

// Judge implements [lin.Claims].
func (claims Revocable) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	t := newTable(h, mutex, claims.Claims)
	r := judge(t, left)
	if t.log.Known {
		r.Add(judgeRevocations(t, claims.Within))
	}
	return r
}

// judgeRevocations compares the requests to owners with the owners' reports.
func judgeRevocations(t table, within time.Duration) lin.Verdict {
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
			// With the znode goes the duty to hear of the request.
			gone := h.node.Deleted < op.Return && h.node.DeletedTime-change.Time <= within
			if op.Output != ops.Over || late <= within || gone {
				continue
			}
			return judging.Violated(lin.Delivery, []int64{h.lock.Return, change.Step, op.Return},
				"%s was asked at step %d to give %s up, and had not heard of it %v later",
				op.Client, change.Step, h.node.Path, late)
		case op.Output == ops.Revoked && (t.claims.Signals || !mayBeLost(t.history, h, op)):
			return judging.Violated(lin.Delivery, []int64{h.lock.Return, op.Return},
				"%s heard at step %d that it was asked to give the lock up, "+
					"but nobody had changed %s", op.Client, op.Return, h.node.Path)
		}
	}
	return judging.Fine(lin.Delivery, "%s asked, each was heard", judging.Count(asked, "owner"))
}

// holdingTime returns the client's [ops.Hold] within a hold with a known znode.
func holdingTime(history lin.History, h *hold) (lin.Op, bool) {
	if h.node == nil || h.whyNotOwner != "" {
		return lin.Op{}, false
	}
	for _, op := range history.Ops {
		if op.Client == h.lock.Client && op.Kind == ops.Hold && op.OK() &&
			op.Call >= h.lock.Return && (h.unlock == nil || op.Return <= h.unlock.Call) {
			return op, true
		}
	}
	return lin.Op{}, false
}

// mayBeLost reports whether an owner may take the hold for lost during op: its znode was gone, or
// it had learned of a disconnect. Without a signal of loss the report of a request says this, too.
func mayBeLost(history lin.History, h *hold, op lin.Op) bool {
	n, noticed := judging.FirstNotice(history, h.lock.Client, h.lock.Call, lin.Disconnected,
		lin.SessionExpired)
	return h.node.Deleted < op.Return || noticed && n.Step < op.Return
}

// requestTo returns the first change of the znode's data.
func requestTo(history lin.History, z *judging.Znode) (lin.ServerEvent, bool) {
	for _, e := range history.Server {
		if e.Kind == lin.DataChanged && e.Path == z.Path && e.Step >= z.Created &&
			e.Step <= z.Deleted {
			return e, true
		}
	}
	return lin.ServerEvent{}, false
}
