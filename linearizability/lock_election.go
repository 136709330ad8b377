package linearizability

// The kinds of operations of a leader election.
const (
	KindLead   = "lead"   // until it leads; Token is the epoch, the czxid of the leader's znode
	KindResign = "resign" // give leadership up
	KindLeader = "leader" // ask who leads: its name in Output and its epoch in Token, or nobody, which is Empty
)

var leadership = lockKind{
	noun: "leadership", object: "leader election", acquire: KindLead, release: KindResign, capacity: 1, ahead: true,
	model: newLockModel(lockObject),
}

// JudgeElection judges a leader election as [Lock] judges a lock: operations
// of the kinds [KindLead] and [KindResign]. A client that was told of a loss may
// lead again without having resigned. A call may tell of a leadership that was won before
// it, and, as long as the client has not been told so, of one that is lost already.
//
// Answers are judged besides, if the server's log is known: who is named by an
// operation of the kind [KindLeader] has had, at some moment of the call, the
// oldest ephemeral under Path, with its name as the data; and if nobody is, there
// was none.
type Election Lock

func (opts Election) judge(h History, rest *Leftovers) Report {
	c := newLockCase(h, leadership, Lock(opts))
	r := c.judgeHolds(rest)
	if c.log.known {
		r.insert(c.judgeLeaders())
	}
	return r
}

// judgeLeaders holds what clients were told of the leader against the log.
func (c *lockCase) judgeLeaders() Verdict {
	asked := 0
	for _, op := range c.history.Ops {
		if op.Kind != KindLeader || !op.ok() {
			continue
		}
		asked++
		if c.ledDuring(op) {
			continue
		}
		if op.Empty {
			return violated(Answers, []int64{op.Call, op.Return}, "%s was told that nobody leads, but somebody did all the time from step %d to %d",
				op.Client, op.Call, op.Return)
		}
		return violated(Answers, []int64{op.Call, op.Return}, "%s was told that %q leads in epoch %d, which did not at any moment from step %d to %d",
			op.Client, op.Output, op.Token, op.Call, op.Return)
	}
	return fine(Answers, "%s about the leader, each of which was right", count(asked, "answer"))
}

// ledDuring reports whether the answer was right at some step of the call: before
// it, or right after a change.
func (c *lockCase) ledDuring(op Op) bool {
	moments := []int64{op.Call}
	for _, l := range c.log.lives {
		for _, step := range []int64{l.born, l.died} {
			if op.Call <= step && step <= op.Return {
				moments = append(moments, step)
			}
		}
	}
	for _, step := range moments {
		l := c.oldest(step)
		if op.Empty && l == nil || !op.Empty && l != nil && l.czxid == op.Token && l.data == op.Output {
			return true
		}
	}
	return false
}

// oldest returns the oldest ephemeral that is alive at a step, or nil.
func (c *lockCase) oldest(step int64) *life {
	var first *life
	for _, l := range c.log.lives {
		if l.owner != 0 && l.aliveAt(step) && below(c.dir(), l.path) && (first == nil || l.czxid < first.czxid) {
			first = l
		}
	}
	return first
}
