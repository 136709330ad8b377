package lock

import (
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// Election claims to be a leader election, judged as a [Claims] with the calls [ops.Lead] and
// [ops.Resign]. A client that learned of a loss may lead again without a resign. A call may return
// a leadership that was won before the call, or one that is lost already without the client's
// knowledge.
//
// With the server's log, answers are judged, too. A leader named by [ops.Leader] owned, at some
// moment of the call, the oldest ephemeral within Path, with its name as the data. An empty answer
// means that at some moment there was no such znode, or that it had no data: a candidate may store
// its name when it becomes the leader. It may publish its name in another znode, too. So an empty
// answer is also right until the owner's call of [ops.Lead] has returned, and once the owner has
// called [ops.Resign] or has learned of a loss.
type Election Claims

// Properties implements [lin.Claims].
func (claims Election) Properties() []string {
	return Claims(claims).with(lin.Answers)
}

// Judge implements [lin.Claims].
func (claims Election) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	claims.StaleReads = judging.StaleReads(h, claims.StaleReads)
	t := newTable(h, leadership, Claims(claims))
	r := judge(t, left)
	if !t.log.Known {
		return r
	}
	r.Add(judgeLeaderAnswers(t))
	if !claims.StaleReads {
		claims.StaleReads = true
		judging.NameStaleReads(&r, h, left, claims)
	}
	return r
}

var leadership = kind{
	noun: "leadership", object: "leader election", acquire: ops.Lead, release: ops.Resign,
	capacity: 1, betweenCalls: true, model: newKindModel(mutexModel),
}

// judgeLeaderAnswers compares the answers of [ops.Leader] with the log.
func judgeLeaderAnswers(t table) lin.Verdict {
	asked := 0
	for _, op := range t.history.Ops {
		if op.Kind != ops.Leader || !op.OK() {
			continue
		}
		asked++
		if ledDuring(t, op) {
			continue
		}
		steps := []int64{op.Call, op.Return}
		if op.Empty {
			return judging.Violated(lin.Answers, steps,
				"%s was told that nobody leads, but somebody did all the time from step %d to %d",
				op.Client, op.Call, op.Return)
		}
		return judging.Violated(lin.Answers, steps,
			"%s was told that %q leads in epoch %d, but it led at no moment from step %d to %d",
			op.Client, op.Output, op.Token, op.Call, op.Return)
	}
	return judging.Fine(lin.Answers, "%s about the leader, each of which was right", judging.Count(asked, "answer"))
}

// ledDuring reports whether the answer was right at some step of the call: at its first step, or
// right after a change. An answer that may be stale may have been right before the call.
func ledDuring(t table, op lin.Op) bool {
	from := op.Call
	if t.claims.StaleReads {
		from = t.lastOwn(op)
	}
	moments := []int64{from}
	for _, z := range t.log.Znodes {
		for _, step := range []int64{z.Created, z.Deleted} {
			if from <= step && step <= op.Return {
				moments = append(moments, step)
			}
		}
	}
	for _, e := range t.history.Server {
		if e.Kind == lin.DataChanged && from <= e.Step && e.Step <= op.Return {
			moments = append(moments, e.Step)
		}
	}
	return slices.ContainsFunc(moments, func(step int64) bool {
		return t.isAnswer(op, t.nodes.oldest(step, ""), step) ||
			t.isAnswer(op, t.nodes.oldest(step, lastNumber), step)
	})
}

// lastOwn is the step of the last change that a lead or a resign of a client made, if that returned
// before a call of the client, or 0.
func (t table) lastOwn(op lin.Op) (step int64) {
	if !judging.HasOneSession(t.history, op.Client) {
		return 0
	}
	for _, h := range t.holds {
		if h.node == nil || h.lock.Client != op.Client {
			continue
		}
		if h.lock.OK() && h.lock.Return <= op.Call {
			step = max(step, h.node.Created)
		}
		if h.unlock != nil && h.unlock.OK() && h.unlock.Return <= op.Call &&
			h.node.Deleted <= h.unlock.Return {
			step = max(step, h.node.Deleted)
		}
	}
	return step
}

// lastNumber ends the names of all further children of a directory whose numbers are used up. Their
// order is unknown, so a candidate with this number may lead or withdraw.
const lastNumber = "2147483647"

// isAnswer reports whether an answer is right at a step. leader is the znode of the leader at that
// step, or nil.
func (t table) isAnswer(op lin.Op, leader *judging.Znode, step int64) bool {
	if op.Empty {
		return leader == nil || t.dataAt(leader, step) == "" || !t.believesToLead(leader, step)
	}
	return leader != nil && leader.Czxid == op.Token && t.dataAt(leader, step) == op.Output
}

// believesToLead reports whether the owner of a znode was told that it leads through it, and has
// neither given the leadership up nor learned of a loss, at a step.
func (t table) believesToLead(z *judging.Znode, step int64) bool {
	return slices.ContainsFunc(t.holds, func(h *hold) bool {
		return h.node == z && h.lock.Return <= step && step < h.beliefEnd
	})
}

// dataAt is the data of a znode at a step.
func (t table) dataAt(z *judging.Znode, step int64) string {
	data := z.Data
	for _, e := range t.history.Server {
		if e.Kind == lin.DataChanged && e.Path == z.Path && z.Created <= e.Step && e.Step <= step {
			data = e.Data
		}
	}
	return data
}
