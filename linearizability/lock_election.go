package linearizability

import (
	"slices"

	"github.com/zksim/zksim/linearizability/ops"
)

// Election claims to be a leader election, judged as a [Lock] with the calls [ops.Lead] and
// [ops.Resign]. A client that learned of a loss may lead again without a resign. A call may return
// a leadership that was won before the call, or one that is lost already without the client's
// knowledge.
//
// With the server's log, answers are judged, too. A leader named by [ops.Leader] owned, at some
// moment of the call, the oldest ephemeral within Path, with its name as the data. An empty answer
// means that at some moment there was no such znode, or that it had no data: a candidate may store
// its name when it becomes the leader.
type Election Lock

func (claims Election) judge(h History, left *Leftovers) Report {
	t := newLockTable(h, leadership, Lock(claims))
	r := judgeLock(t, left)
	if t.log.known {
		r.add(judgeLeaderAnswers(t))
	}
	return r
}

var leadership = lockKind{
	noun: "leadership", object: "leader election", acquire: ops.Lead, release: ops.Resign,
	capacity: 1, betweenCalls: true, model: newLockModel(lockObject),
}

// judgeLeaderAnswers compares the answers of [ops.Leader] with the log.
func judgeLeaderAnswers(t lockTable) Verdict {
	asked := 0
	for _, op := range t.history.Ops {
		if op.Kind != ops.Leader || !op.ok() {
			continue
		}
		asked++
		if ledDuring(t, op) {
			continue
		}
		steps := []int64{op.Call, op.Return}
		if op.Empty {
			return violated(Answers, steps,
				"%s was told that nobody leads, but somebody did all the time from step %d to %d",
				op.Client, op.Call, op.Return)
		}
		return violated(Answers, steps,
			"%s was told that %q leads in epoch %d, which did not at any moment from step %d to %d",
			op.Client, op.Output, op.Token, op.Call, op.Return)
	}
	return fine(Answers, "%s about the leader, each of which was right", count(asked, "answer"))
}

// ledDuring reports whether the answer was right at some step of the call: at its first step, or
// right after a change.
func ledDuring(t lockTable, op Op) bool {
	moments := []int64{op.Call}
	for _, z := range t.log.znodes {
		for _, step := range []int64{z.created, z.deleted} {
			if op.Call <= step && step <= op.Return {
				moments = append(moments, step)
			}
		}
	}
	for _, e := range t.history.Server {
		if e.Kind == DataChanged && op.Call <= e.Step && e.Step <= op.Return {
			moments = append(moments, e.Step)
		}
	}
	return slices.ContainsFunc(moments, func(step int64) bool {
		return t.isAnswer(op, t.nodes.oldest(step, ""), step) ||
			t.isAnswer(op, t.nodes.oldest(step, lastNumber), step)
	})
}

// lastNumber ends the names of all further children of a directory whose numbers are used up. Their
// order is unknown, so a candidate with this number may lead or withdraw.
const lastNumber = "2147483647"

// isAnswer reports whether an answer is right at a step. leader is the znode of the leader at that
// step, or nil.
func (t lockTable) isAnswer(op Op, leader *znode, step int64) bool {
	if op.Empty {
		return leader == nil || t.dataAt(leader, step) == ""
	}
	return leader != nil && leader.czxid == op.Token && t.dataAt(leader, step) == op.Output
}

// dataAt is the data of a znode at a step.
func (t lockTable) dataAt(z *znode, step int64) string {
	data := z.data
	for _, e := range t.history.Server {
		if e.Kind == DataChanged && e.Path == z.path && z.created <= e.Step && e.Step <= step {
			data = e.Data
		}
	}
	return data
}
