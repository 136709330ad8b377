package twophase

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

var twoPhaseAtT = Claims{Path: "/t"}

// begins records a complete begin of t1 with sites a and b.
func (f *fixture) begins(client string, deadline time.Duration) {
	op := f.Call(client, ops.Begin, BeginInput("t1", []string{"a", "b"}, deadline))
	f.Creates(client, 0, "/t/t1", "", 0)
	f.Ret(op, lin.OpOK, lin.Result{})
}

// votes records a complete vote of a client for itself.
func (f *fixture) votes(client, vote string) {
	op := f.Call(client, ops.Vote, "t1 "+client+" "+vote)
	f.Creates(client, 0, "/t/t1/vote-"+client, vote, 0)
	f.Ret(op, lin.OpOK, lin.Result{})
}

func (f *fixture) decides(client, decision string) {
	f.Creates(client, 0, "/t/t1/decision", decision, 0)
}

// learns records a complete await; the decision "" means that there is no transaction.
func (f *fixture) learns(client, decision string) {
	f.Ret(f.Call(client, ops.Await, "t1"), lin.OpOK, lin.Result{Output: decision, Empty: decision == ""})
}

// finishes records a complete done.
func (f *fixture) finishes(client string) {
	op := f.Call(client, ops.Done, "t1 "+client)
	f.Creates(client, 0, "/t/t1/done-"+client, "", 0)
	f.Ret(op, lin.OpOK, lin.Result{})
}

// forgets records a complete forget that deletes these children in one request.
func (f *fixture) forgets(client string, children ...string) {
	op := f.Call(client, ops.Forget, "t1")
	zxid := f.Step + 1
	for _, child := range children {
		f.Deletes(client, 0, "/t/t1/"+child, 0)
	}
	f.Deletes(client, 0, "/t/t1", 0)
	for i := range f.H.Server {
		if e := &f.H.Server[i]; e.Step >= zxid {
			e.Zxid = zxid // each change is a step, as in a trace
		}
	}
	f.Ret(op, lin.OpOK, lin.Result{})
}

// commits records a committed transaction; both sites have learned the decision.
func (f *fixture) commits() {
	f.begins("a", 0)
	f.votes("a", "yes")
	f.votes("b", "yes")
	f.decides("a", "commit")
	f.learns("a", ops.Commit)
	f.learns("b", ops.Commit)
}

func TestTwoPhaseCommits(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(twoPhaseAtT), []claimTest{
		{Name: "committed, finished and forgotten", Build: func(f *fixture) {
			f.learns("b", "")
			f.commits()
			f.finishes("a")
			f.finishes("b")
			f.forgets("b", "decision", "done-a", "done-b", "vote-a", "vote-b")
			f.learns("a", "")
			f.Ret(f.Call("a", ops.Forget, "t1"), lin.OpOK, lin.Result{})
			f.Ret(f.Call("a", ops.Done, "t1 a"), lin.OpOK, lin.Result{})
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/t"}}}
		}},
		{Name: "aborted for a no, and forgotten at once", Build: func(f *fixture) {
			f.begins("a", time.Hour)
			f.votes("b", "no")
			f.decides("a", "abort b votes no")
			f.learns("a", ops.Abort)
			f.votes("a", "yes")
			f.forgets("a", "decision", "vote-a", "vote-b")
			f.Left = &lin.Leftovers{}
		}},
		{Name: "aborted at the deadline", Build: func(f *fixture) {
			f.begins("a", 20*time.Millisecond)
			f.votes("b", "yes")
			op := f.Call("b", ops.Await, "t1")
			f.Step = 19
			f.decides("b", "abort")
			f.Ret(op, lin.OpOK, lin.Result{Output: ops.Abort})
		}},
		{Name: "aborted for one who has gone", Build: func(f *fixture) {
			f.begins("a", time.Hour)
			f.Creates("b", 2, "/t/t1/alive-b", "", 2)
			f.Expires(2, "/t/t1/alive-b")
			f.decides("a", "abort")
			f.learns("a", ops.Abort)
		}},
		{Name: "committed without a vote", Bad: lin.Safety,
			Says: "somebody committed t1 at step 7 without the votes of b",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("a", "yes")
				f.decides("a", "commit")
			}},
		{Name: "committed after a no", Bad: lin.Safety, Says: "without the votes of a",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("a", "no")
				f.votes("b", "yes")
				f.decides("a", "commit")
			}},
		{Name: "aborted before the deadline", Bad: lin.Safety,
			Says: "somebody aborted t1 at step 4, 4ms, though nobody had voted no or gone, and " +
				"the deadline is 5ms", Build: func(f *fixture) {
				f.begins("a", 5*time.Millisecond)
				f.decides("b", "abort")
			}},
		{Name: "aborted without a deadline", Bad: lin.Safety, Says: "the deadline is 0s",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.Step = 100
				f.decides("b", "abort")
			}},
		{Name: "aborted for one who has come back at once", Bad: lin.Safety,
			Says: "somebody aborted t1", Build: func(f *fixture) {
				f.begins("a", time.Hour)
				f.Creates("b", 2, "/t/t1/alive-b", "", 2)
				f.Deletes("b", 2, "/t/t1/alive-b", 0)
				zxid := f.Creates("b", 3, "/t/t1/alive-b", "", 3)
				f.H.Server[len(f.H.Server)-2].Zxid = zxid
				f.decides("a", "abort")
			}},
		{Name: "aborted for one who has gone after it voted", Bad: lin.Safety,
			Says: "somebody aborted t1", Build: func(f *fixture) {
				f.begins("a", time.Hour)
				f.Creates("b", 2, "/t/t1/alive-b", "", 2)
				f.votes("b", "yes")
				f.Expires(2, "/t/t1/alive-b")
				f.decides("a", "abort")
			}},
		{Name: "a decision that changes", Bad: lin.Safety,
			Says: "the decision (commit) was taken back or changed in t1 at step 17",
			Build: func(f *fixture) {
				f.commits()
				f.Step = 16
				f.Server(lin.ServerEvent{
					Kind: lin.DataChanged, Path: "/t/t1/decision", Data: "abort", Client: "b",
				})
			}},
		{Name: "a decision that is taken back", Bad: lin.Safety,
			Says: "the decision (commit) was taken back", Build: func(f *fixture) {
				f.commits()
				f.Deletes("a", 0, "/t/t1/decision", 0)
			}},
		{Name: "a vote that changes", Bad: lin.Safety,
			Says: "what b had said (vote no) was taken back or changed in t1",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("b", "no")
				f.Server(lin.ServerEvent{
					Kind: lin.DataChanged, Path: "/t/t1/vote-b", Data: "yes", Client: "b",
				})
			}},
		{Name: "finished undecided", Bad: lin.Safety,
			Says: "a finished happened to t1 at step 5, which is undecided",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.finishes("a")
			}},
		{Name: "a stranger's vote", Bad: lin.Safety,
			Says: "c, which is no site of it, voted in t1 at step 5",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("c", "yes")
			}},
		{Name: "sites that change", Bad: lin.Safety, Says: "somebody changed t1 at step 4",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.Server(lin.ServerEvent{Kind: lin.DataChanged, Path: "/t/t1", Client: "b"})
			}},
		{Name: "forgotten before all have finished", Bad: lin.Safety,
			Says: "before b had finished what was committed", Build: func(f *fixture) {
				f.commits()
				f.finishes("a")
				f.forgets("a", "decision", "done-a", "vote-a", "vote-b")
			}},
		{Name: "forgotten undecided", Bad: lin.Safety,
			Says: "forget happened to t1 at step 5, which is undecided",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.forgets("a")
			}},
		{Name: "begun again", Bad: lin.Safety, Says: "t1 was begun at step 18, after it was forgotten",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("b", "no")
				f.decides("a", "abort")
				f.forgets("a", "decision", "vote-b")
				f.Step = 16
				f.begins("a", 0)
			}},
		{Name: "told otherwise", Bad: lin.Answers,
			Says: "a was told commit of t1 at step 12, and c abort at step 16",
			Build: func(f *fixture) {
				f.commits()
				f.learns("c", ops.Abort)
			}},
		{Name: "told before it was decided", Bad: lin.Answers,
			Says: "but the server had no such decision", Build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("b", "no")
				f.learns("b", ops.Abort)
				f.decides("a", "abort")
			}},
		{Name: "told of what was forgotten", Bad: lin.Answers, Says: "b was told abort of t1",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("b", "no")
				f.decides("a", "abort")
				f.forgets("a", "decision", "vote-b")
				f.learns("b", ops.Abort)
			}},
		{Name: "told that there is none", Bad: lin.Answers,
			Says: "b was told at step 16 that there is no t1, but there was",
			Build: func(f *fixture) {
				f.commits()
				f.learns("b", "")
			}},
		{Name: "a vote that is nowhere", Bad: lin.Delivery,
			Says: "b's vote (steps 4 to 5) of t1 b yes was acknowledged, but the server never " +
				"applied it", Build: func(f *fixture) {
				f.begins("a", 0)
				f.Ret(f.Call("b", ops.Vote, "t1 b yes"), lin.OpOK, lin.Result{})
			}},
		{Name: "a vote that was said before", Build: func(f *fixture) {
			f.begins("a", 0)
			f.votes("b", "yes")
			f.Ret(f.Call("b", ops.Vote, "t1 b yes"), lin.OpOK, lin.Result{})
		}},
		{Name: "failed, and voted", Bad: lin.Delivery,
			Says: "was applied at step 5, although it said that it was not",
			Build: func(f *fixture) {
				f.begins("a", 0)
				op := f.Call("b", ops.Vote, "t1 b yes")
				f.Creates("b", 0, "/t/t1/vote-b", "yes", 0)
				f.Ret(op, lin.OpFailed, lin.Result{})
			}},
		{Name: "a late vote of one who has given up, and fails again", Build: func(f *fixture) {
			f.begins("a", 0)
			f.Ret(f.Call("b", ops.Vote, "t1 b yes"), lin.OpUnknown, lin.Result{})
			op := f.Call("b", ops.Vote, "t1 b yes")
			f.Creates("b", 0, "/t/t1/vote-b", "yes", 0)
			f.Ret(op, lin.OpFailed, lin.Result{})
		}},
		{Name: "somebody else's vote", Bad: lin.Delivery,
			Says: "a vote yes in t1 at step 4, and no call accounts for that",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.Creates("a", 0, "/t/t1/vote-b", "yes", 0)
			}},
		{Name: "begun by another", Bad: lin.Delivery, Says: "b's begin", Build: func(f *fixture) {
			f.begins("a", 0)
			f.Ret(f.Call("b", ops.Begin, BeginInput("t1", []string{"a", "b"}, 0)), lin.OpOK, lin.Result{})
		}},
		{Name: "not forgotten", Bad: lin.Delivery, Says: "a's forget", Build: func(f *fixture) {
			f.commits()
			f.Ret(f.Call("a", ops.Forget, "t1"), lin.OpOK, lin.Result{})
		}},
		{Name: "not finished", Bad: lin.Delivery, Says: "a's done", Build: func(f *fixture) {
			f.commits()
			f.Ret(f.Call("a", ops.Done, "t1 a"), lin.OpOK, lin.Result{})
		}},
		{Name: "waits for ever", Bad: lin.Liveness, Says: "b's await (step 4, pending) never returned",
			Build: func(f *fixture) {
				f.begins("a", 0)
				f.Call("b", ops.Await, "t1")
				f.Left = &lin.Leftovers{}
			}},
		{Name: "something is left", Bad: lin.Orphans, Says: "/t/begin-1 is left below /t",
			Build: func(f *fixture) {
				f.commits()
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/t"}, {Path: "/t/begin-1"}}}
			}},
	})
}

// TestTwoPhaseWithoutLog: the answers are judged without a log.
func TestTwoPhaseWithoutLog(t *testing.T) {
	for _, tt := range []struct {
		name      string
		build     func(f *fixture)
		bad, says string
	}{
		{name: "committed", build: (*fixture).commits},
		{name: "told otherwise", bad: lin.Answers, says: "and c abort",
			build: func(f *fixture) { f.commits(); f.learns("c", ops.Abort) }},
		{name: "commit without a vote", bad: lin.Answers,
			says: "a was told commit of t1 at step 8, but a had not voted yes",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("a", "no")
				f.learns("a", ops.Commit)
			}},
		{name: "commit though a vote has failed", bad: lin.Answers, says: "but b had not voted yes",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("a", "yes")
				f.Ret(f.Call("b", ops.Vote, "t1 b yes"), lin.OpFailed, lin.Result{})
				f.learns("a", ops.Commit)
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			tt.build(f)
			h := f.History()
			h.Server = nil
			judgingtest.CheckReport(t, judgingtest.Judge(h, nil, twoPhaseAtT), tt.bad, tt.says)
		})
	}
}

// TestTwoPhaseOfAnotherLayout uses the layout of the ZooKeeper guide: the coordinator creates the
// znodes that the sites write.
func TestTwoPhaseOfAnotherLayout(t *testing.T) {
	opts := Claims{Path: "/t",
		Read: func(name, data string) (model.TransactionKind, string, bool) {
			kind, says := map[string]model.TransactionKind{"commit": model.VoteYes,
				"abort": model.VoteNo}[data]
			return kind, name, says
		}}
	build := func(votes ...string) lin.History {
		f := &fixture{}
		f.begins("a", 0)
		f.Creates("a", 0, "/t/t1/b", "", 0)
		op := f.Call("b", ops.Vote, "t1 b yes")
		for _, vote := range votes {
			f.Server(lin.ServerEvent{Kind: lin.DataChanged, Path: "/t/t1/b", Data: vote, Client: "b"})
		}
		f.Ret(op, lin.OpOK, lin.Result{})
		return f.History()
	}
	judgingtest.CheckReport(t, judgingtest.Judge(build("commit"), nil, opts), "", "")
	judgingtest.CheckReport(t, judgingtest.Judge(build("commit", "commit"), nil, opts), "", "")
	judgingtest.CheckReport(t, judgingtest.Judge(build("commit", "abort"), nil, opts), lin.Safety,
		"what b had said (vote yes) was taken back or changed")
	judgingtest.CheckReport(t, judgingtest.Judge(build(), nil, opts), lin.Delivery, "was acknowledged")
}
