package lock

import (
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// asksWho records a complete call of [ops.Leader].
func (f *fixture) asksWho(client string, r lin.Result) {
	f.Ret(f.Call(client, ops.Leader, ""), lin.OpOK, r)
}

// leads records a complete candidacy of a client; its znode has its name.
func (f *fixture) leads(client string, session int64, path string) int64 {
	op := f.Call(client, ops.Lead, "")
	epoch := f.Creates(client, session, path, client, session)
	f.Ret(op, lin.OpOK, lin.Result{Token: epoch, Session: session})
	return epoch
}

func (f *fixture) resigns(client string, session int64, path string) {
	op := f.Call(client, ops.Resign, "")
	f.Deletes(client, session, path, 1)
	f.Ret(op, lin.OpOK, lin.Result{Session: session})
}

func TestElections(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/lock"
		return Election(opts)
	}, []lockTest{
		{Name: "one after the other, and asked in between", Build: func(f *fixture) {
			f.asksWho("c", lin.Result{Empty: true})
			epoch := f.leads("a", 1, node("a", 0))
			f.asksWho("c", lin.Result{Output: "a", Token: epoch})
			f.resigns("a", 1, node("a", 0))
			f.leads("b", 2, node("b", 1))
			f.resigns("b", 2, node("b", 1))
			f.asksWho("c", lin.Result{Empty: true})
			f.Left = &lin.Leftovers{}
		}},
		{Name: "a new term after a loss, without resigning", Build: func(f *fixture) {
			f.leads("a", 1, node("a", 0))
			f.Expires(1, node("a", 0))
			f.Told("a", lin.SessionExpired)
			f.leads("a", 2, node("a", 1))
			f.resigns("a", 2, node("a", 1))
			f.Left = &lin.Leftovers{}
		}},
		{Name: "lost before the call that tells of it, and not told", Build: func(f *fixture) {
			token := f.Creates("a", 1, node("a", 0), "a", 1)
			f.Expires(1, node("a", 0))
			f.Ret(f.Call("a", ops.Lead, ""), lin.OpOK, lin.Result{Token: token, Session: 1})
			f.Told("a", lin.SessionExpired)
			f.leads("b", 2, node("b", 1))
			f.resigns("b", 2, node("b", 1))
			f.Left = &lin.Leftovers{}
		}},
		{Name: "lost before the call that tells of it, and told", Bad: lin.Safety,
			Says: "was deleted at step 2, and the client was told so (session expired) at step 3",
			Build: func(f *fixture) {
				token := f.Creates("a", 1, node("a", 0), "a", 1)
				f.Expires(1, node("a", 0))
				f.Told("a", lin.SessionExpired)
				f.Ret(f.Call("a", ops.Lead, ""), lin.OpOK, lin.Result{Token: token, Session: 1})
			}},
		{Name: "won before the call, while another led", Bad: lin.Linearizability, Says: "lead",
			Build: func(f *fixture) {
				f.leads("b", 2, node("b", 0))
				token := f.Creates("a", 1, node("a", 1), "a", 1)
				f.Expires(1, node("a", 1))
				f.Ret(f.Call("a", ops.Lead, ""), lin.OpOK, lin.Result{Token: token, Session: 1})
			}},
		{Name: "two lead", Bad: lin.Safety, Says: "a and b own the leadership at once", Build: twoLead},
		{Name: "two believe so", Bad: lin.Belief, Says: "both believe that they hold the leadership",
			Build: twoLead},
		{Name: "two lead, not linearizable", Bad: lin.Linearizability, Says: "lead", Build: twoLead},
		{Name: "without a znode", Bad: lin.Safety,
			Says: "client a returned from lead at step 5 without a znode of its own",
			Build: func(f *fixture) {
				f.leads("b", 2, node("b", 0))
				f.Ret(f.Call("a", ops.Lead, ""), lin.OpOK, lin.Result{Session: 1, Token: 77})
			}},
		{Name: "an older epoch", Bad: lin.Fencing, Says: "turns b away", Build: func(f *fixture) {
			op := f.Call("b", ops.Lead, "")
			old := f.Creates("b", 2, node("b", 0), "b", 2)
			f.leads("a", 1, node("a", 1))
			f.resigns("a", 1, node("a", 1))
			f.Ret(op, lin.OpOK, lin.Result{Session: 2, Token: old})
		}},
		{Name: "overtaken", Opts: Claims{Fair: true}, Bad: lin.Order, Says: "a overtook b",
			Build: func(f *fixture) {
				f.Call("b", ops.Lead, "")
				f.Creates("b", 2, node("b", 0), "b", 2)
				f.leads("a", 1, node("a", 1))
			}},
		{Name: "told of one who led before", Bad: lin.Answers,
			Says: `c was told that "a" leads in epoch 2`, Build: func(f *fixture) {
				epoch := f.leads("a", 1, node("a", 0))
				f.resigns("a", 1, node("a", 0))
				f.asksWho("c", lin.Result{Output: "a", Token: epoch})
			}},
		{Name: "told of one who left meanwhile", Build: func(f *fixture) {
			epoch := f.leads("a", 1, node("a", 0))
			op := f.Call("c", ops.Leader, "")
			f.resigns("a", 1, node("a", 0))
			f.Ret(op, lin.OpOK, lin.Result{Output: "a", Token: epoch})
			f.Left = &lin.Leftovers{}
		}},
		{Name: "told of nobody", Bad: lin.Answers, Says: "c was told that nobody leads",
			Build: func(f *fixture) {
				f.leads("a", 1, node("a", 0))
				f.asksWho("c", lin.Result{Empty: true})
			}},
		{Name: "told of nobody before the first has stored its name", Build: func(f *fixture) {
			op := f.Call("a", ops.Lead, "")
			epoch := f.Creates("a", 1, node("a", 0), "", 1)
			f.asksWho("c", lin.Result{Empty: true})
			f.Server(lin.ServerEvent{
				Kind: lin.DataChanged, Path: node("a", 0), Data: "a", Client: "a", Session: 1,
			})
			f.asksWho("c", lin.Result{Output: "a", Token: epoch})
			f.Ret(op, lin.OpOK, lin.Result{Token: epoch, Session: 1})
			f.resigns("a", 1, node("a", 0))
			f.Left = &lin.Leftovers{}
		}},
		{Name: "told of the second", Bad: lin.Answers, Says: `"b" leads`, Build: func(f *fixture) {
			f.leads("a", 1, node("a", 0))
			f.Call("b", ops.Lead, "")
			f.asksWho("c", lin.Result{Output: "b", Token: f.Creates("b", 2, node("b", 1), "b", 2)})
		}},
		{Name: "never elected", Bad: lin.Liveness, Says: "a's lead (step 1, pending) never returned",
			Build: func(f *fixture) {
				f.Call("a", ops.Lead, "")
				f.Left = &lin.Leftovers{}
			}},
		{Name: "a candidate nobody knows of", Bad: lin.Orphans, Says: "was left by a's lead",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Lead, "")
				czxid := f.Creates("a", 1, node("a", 0), "a", 1)
				f.Ret(op, lin.OpUnknown, lin.Result{})
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{
					{Path: node("a", 0), Owner: 1, Czxid: czxid},
				}}
			}},
		{Name: "two are woken", Opts: Claims{MaxHerd: 1}, Bad: lin.Herd,
			Says: "fired 2 watch notifications", Build: func(f *fixture) {
				f.leads("a", 1, node("a", 0))
				op := f.Call("a", ops.Resign, "")
				f.Deletes("a", 1, node("a", 0), 2)
				f.Ret(op, lin.OpOK, lin.Result{Session: 1})
			}},
	})
}

func twoLead(f *fixture) {
	f.leads("a", 1, node("a", 0))
	f.leads("b", 2, node("b", 1))
}

// randomElection makes valid histories with calls of [ops.Leader].
func randomElection(t *rapid.T) lin.History {
	h := randomHolds(t, leadership, "").Sorted()
	c := newTable(h, leadership, fairLock)
	for step := int64(1); step < h.End; step += int64(rapid.IntRange(15, 60).Draw(t, "pause")) {
		op := lin.Op{Client: "q", Kind: ops.Leader, Call: step,
			Return: step + int64(rapid.IntRange(0, 3).Draw(t, "takes")), Outcome: lin.OpOK, Empty: true}
		if l := c.nodes.oldest(step, ""); l != nil {
			op.Empty, op.Output, op.Token = false, l.Data, l.Czxid
		}
		h.Ops = append(h.Ops, op)
	}
	return h
}

func judgeFairElection(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Election(fairLock))
}

func TestCorrectElectionsAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomElection, judgeFairElection)
}

func TestBrokenElectionsAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomElection, judgeFairElection,
		append(lockMutations(leadership, 0),
			mutation{"a leader of another time", wrongLeader, []string{lin.Answers}, 0}))
}

// wrongLeader gives an answer that was right at another time only.
func wrongLeader(t *rapid.T, h *lin.History) bool {
	c := newTable(*h, leadership, fairLock)
	op := judgingtest.One(t, h.Ops, judgingtest.Returned(ops.Leader))
	if op == nil {
		return false
	}
	l := judgingtest.One(t, c.log.Znodes, func(l **judging.Znode) bool {
		return (*l).Deleted < op.Call || (*l).Created > op.Return
	})
	if l == nil {
		return false
	}
	op.Empty, op.Output, op.Token = false, (*l).Data, (*l).Czxid
	return true
}
