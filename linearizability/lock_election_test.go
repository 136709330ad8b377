package linearizability

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

// asksWho records a complete call of [ops.Leader].
func (f *fixture) asksWho(client string, r Result) {
	f.ret(f.call(client, ops.Leader, ""), OpOK, r)
}

// leads records a complete candidacy of a client; its znode has its name.
func (f *fixture) leads(client string, session int64, path string) int64 {
	op := f.call(client, ops.Lead, "")
	epoch := f.creates(client, session, path, client, session)
	f.ret(op, OpOK, Result{Token: epoch, Session: session})
	return epoch
}

func (f *fixture) resigns(client string, session int64, path string) {
	op := f.call(client, ops.Resign, "")
	f.deletes(client, session, path, 1)
	f.ret(op, OpOK, Result{Session: session})
}

func TestElections(t *testing.T) {
	checkHistories(t, func(opts Lock) Claims {
		opts.Path = "/lock"
		return Election(opts)
	}, []lockTest{
		{name: "one after the other, and asked in between", build: func(f *fixture) {
			f.asksWho("c", Result{Empty: true})
			epoch := f.leads("a", 1, node("a", 0))
			f.asksWho("c", Result{Output: "a", Token: epoch})
			f.resigns("a", 1, node("a", 0))
			f.leads("b", 2, node("b", 1))
			f.resigns("b", 2, node("b", 1))
			f.asksWho("c", Result{Empty: true})
			f.left = &Leftovers{}
		}},
		{name: "a new term after a loss, without resigning", build: func(f *fixture) {
			f.leads("a", 1, node("a", 0))
			f.expires(1, node("a", 0))
			f.told("a", SessionExpired)
			f.leads("a", 2, node("a", 1))
			f.resigns("a", 2, node("a", 1))
			f.left = &Leftovers{}
		}},
		{name: "lost before the call that tells of it, and not told", build: func(f *fixture) {
			token := f.creates("a", 1, node("a", 0), "a", 1)
			f.expires(1, node("a", 0))
			f.ret(f.call("a", ops.Lead, ""), OpOK, Result{Token: token, Session: 1})
			f.told("a", SessionExpired)
			f.leads("b", 2, node("b", 1))
			f.resigns("b", 2, node("b", 1))
			f.left = &Leftovers{}
		}},
		{name: "lost before the call that tells of it, and told", bad: Safety,
			says: "was deleted at step 2, and the client was told so (session expired) at step 3",
			build: func(f *fixture) {
				token := f.creates("a", 1, node("a", 0), "a", 1)
				f.expires(1, node("a", 0))
				f.told("a", SessionExpired)
				f.ret(f.call("a", ops.Lead, ""), OpOK, Result{Token: token, Session: 1})
			}},
		{name: "won before the call, while another led", bad: Linearizability, says: "lead",
			build: func(f *fixture) {
				f.leads("b", 2, node("b", 0))
				token := f.creates("a", 1, node("a", 1), "a", 1)
				f.expires(1, node("a", 1))
				f.ret(f.call("a", ops.Lead, ""), OpOK, Result{Token: token, Session: 1})
			}},
		{name: "two lead", bad: Safety, says: "a and b own the leadership at once", build: twoLead},
		{name: "two believe so", bad: Belief, says: "both believe that they hold the leadership",
			build: twoLead},
		{name: "two lead, not linearizable", bad: Linearizability, says: "lead", build: twoLead},
		{name: "without a znode", bad: Safety,
			says: "client a returned from lead at step 5 without a znode of its own",
			build: func(f *fixture) {
				f.leads("b", 2, node("b", 0))
				f.ret(f.call("a", ops.Lead, ""), OpOK, Result{Session: 1, Token: 77})
			}},
		{name: "an older epoch", bad: Fencing, says: "turns b away", build: func(f *fixture) {
			op := f.call("b", ops.Lead, "")
			old := f.creates("b", 2, node("b", 0), "b", 2)
			f.leads("a", 1, node("a", 1))
			f.resigns("a", 1, node("a", 1))
			f.ret(op, OpOK, Result{Session: 2, Token: old})
		}},
		{name: "overtaken", opts: Lock{Fair: true}, bad: Order, says: "a overtook b",
			build: func(f *fixture) {
				f.call("b", ops.Lead, "")
				f.creates("b", 2, node("b", 0), "b", 2)
				f.leads("a", 1, node("a", 1))
			}},
		{name: "told of one who led before", bad: Answers,
			says: `c was told that "a" leads in epoch 2`, build: func(f *fixture) {
				epoch := f.leads("a", 1, node("a", 0))
				f.resigns("a", 1, node("a", 0))
				f.asksWho("c", Result{Output: "a", Token: epoch})
			}},
		{name: "told of one who left meanwhile", build: func(f *fixture) {
			epoch := f.leads("a", 1, node("a", 0))
			op := f.call("c", ops.Leader, "")
			f.resigns("a", 1, node("a", 0))
			f.ret(op, OpOK, Result{Output: "a", Token: epoch})
			f.left = &Leftovers{}
		}},
		{name: "told of nobody", bad: Answers, says: "c was told that nobody leads",
			build: func(f *fixture) {
				f.leads("a", 1, node("a", 0))
				f.asksWho("c", Result{Empty: true})
			}},
		{name: "told of nobody before the first has stored its name", build: func(f *fixture) {
			op := f.call("a", ops.Lead, "")
			epoch := f.creates("a", 1, node("a", 0), "", 1)
			f.asksWho("c", Result{Empty: true})
			f.server(ServerEvent{
				Kind: DataChanged, Path: node("a", 0), Data: "a", Client: "a", Session: 1,
			})
			f.asksWho("c", Result{Output: "a", Token: epoch})
			f.ret(op, OpOK, Result{Token: epoch, Session: 1})
			f.resigns("a", 1, node("a", 0))
			f.left = &Leftovers{}
		}},
		{name: "told of the second", bad: Answers, says: `"b" leads`, build: func(f *fixture) {
			f.leads("a", 1, node("a", 0))
			f.call("b", ops.Lead, "")
			f.asksWho("c", Result{Output: "b", Token: f.creates("b", 2, node("b", 1), "b", 2)})
		}},
		{name: "never elected", bad: Liveness, says: "a's lead (step 1, pending) never returned",
			build: func(f *fixture) {
				f.call("a", ops.Lead, "")
				f.left = &Leftovers{}
			}},
		{name: "a candidate nobody knows of", bad: Orphans, says: "was left by a's lead",
			build: func(f *fixture) {
				op := f.call("a", ops.Lead, "")
				czxid := f.creates("a", 1, node("a", 0), "a", 1)
				f.ret(op, OpUnknown, Result{})
				f.left = &Leftovers{Nodes: []NodeAtRest{
					{Path: node("a", 0), Owner: 1, Czxid: czxid},
				}}
			}},
		{name: "two are woken", opts: Lock{MaxHerd: 1}, bad: Herd,
			says: "fired 2 watch notifications", build: func(f *fixture) {
				f.leads("a", 1, node("a", 0))
				op := f.call("a", ops.Resign, "")
				f.deletes("a", 1, node("a", 0), 2)
				f.ret(op, OpOK, Result{Session: 1})
			}},
	})
}

func twoLead(f *fixture) {
	f.leads("a", 1, node("a", 0))
	f.leads("b", 2, node("b", 1))
}

// randomElection makes valid histories with calls of [ops.Leader].
func randomElection(t *rapid.T) History {
	h := randomHolds(t, leadership, "").sorted()
	c := newLockTable(h, leadership, fairLock)
	for step := int64(1); step < h.End; step += int64(rapid.IntRange(15, 60).Draw(t, "pause")) {
		op := Op{Client: "q", Kind: ops.Leader, Call: step,
			Return: step + int64(rapid.IntRange(0, 3).Draw(t, "takes")), Outcome: OpOK, Empty: true}
		if l := c.nodes.oldest(step, ""); l != nil {
			op.Empty, op.Output, op.Token = false, l.data, l.czxid
		}
		h.Ops = append(h.Ops, op)
	}
	return h
}

func judgeFairElection(h History) Report { return Judge(h, &Leftovers{}, Election(fairLock)) }

func TestCorrectElectionsAreFoundCorrect(t *testing.T) {
	checkValid(t, randomElection, judgeFairElection)
}

func TestBrokenElectionsAreFoundBroken(t *testing.T) {
	checkMutations(t, randomElection, judgeFairElection, append(lockMutations(leadership, 0),
		mutation{"a leader of another time", wrongLeader, []string{Answers}, 0}))
}

// wrongLeader gives an answer that was right at another time only.
func wrongLeader(t *rapid.T, h *History) bool {
	c := newLockTable(*h, leadership, fairLock)
	op := one(t, h.Ops, returned(ops.Leader))
	if op == nil {
		return false
	}
	l := one(t, c.log.znodes, func(l **znode) bool {
		return (*l).deleted < op.Call || (*l).created > op.Return
	})
	if l == nil {
		return false
	}
	op.Empty, op.Output, op.Token = false, (*l).data, (*l).czxid
	return true
}
