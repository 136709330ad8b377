package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

var twoPhaseAtT = TwoPhase{Path: "/t"}

// begins records a complete begin of t1 with sites a and b.
func (f *fixture) begins(client string, deadline time.Duration) {
	op := f.call(client, ops.Begin, BeginInput("t1", []string{"a", "b"}, deadline))
	f.creates(client, 0, "/t/t1", "", 0)
	f.ret(op, OpOK, Result{})
}

// votes records a complete vote of a client for itself.
func (f *fixture) votes(client, vote string) {
	op := f.call(client, ops.Vote, "t1 "+client+" "+vote)
	f.creates(client, 0, "/t/t1/vote-"+client, vote, 0)
	f.ret(op, OpOK, Result{})
}

func (f *fixture) decides(client, decision string) {
	f.creates(client, 0, "/t/t1/decision", decision, 0)
}

// learns records a complete await; the decision "" means that there is no transaction.
func (f *fixture) learns(client, decision string) {
	f.ret(f.call(client, ops.Await, "t1"), OpOK, Result{Output: decision, Empty: decision == ""})
}

// finishes records a complete done.
func (f *fixture) finishes(client string) {
	op := f.call(client, ops.Done, "t1 "+client)
	f.creates(client, 0, "/t/t1/done-"+client, "", 0)
	f.ret(op, OpOK, Result{})
}

// forgets records a complete forget that deletes these children in one request.
func (f *fixture) forgets(client string, children ...string) {
	op := f.call(client, ops.Forget, "t1")
	zxid := f.step + 1
	for _, child := range children {
		f.deletes(client, 0, "/t/t1/"+child, 0)
	}
	f.deletes(client, 0, "/t/t1", 0)
	for i := range f.h.Server {
		if e := &f.h.Server[i]; e.Step >= zxid {
			e.Zxid = zxid // each change is a step, as in a trace
		}
	}
	f.ret(op, OpOK, Result{})
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
	checkHistories(t, always(twoPhaseAtT), []claimTest{
		{name: "committed, finished and forgotten", build: func(f *fixture) {
			f.learns("b", "")
			f.commits()
			f.finishes("a")
			f.finishes("b")
			f.forgets("b", "decision", "done-a", "done-b", "vote-a", "vote-b")
			f.learns("a", "")
			f.ret(f.call("a", ops.Forget, "t1"), OpOK, Result{})
			f.ret(f.call("a", ops.Done, "t1 a"), OpOK, Result{})
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/t"}}}
		}},
		{name: "aborted for a no, and forgotten at once", build: func(f *fixture) {
			f.begins("a", time.Hour)
			f.votes("b", "no")
			f.decides("a", "abort b votes no")
			f.learns("a", ops.Abort)
			f.votes("a", "yes")
			f.forgets("a", "decision", "vote-a", "vote-b")
			f.left = &Leftovers{}
		}},
		{name: "aborted at the deadline", build: func(f *fixture) {
			f.begins("a", 20*time.Millisecond)
			f.votes("b", "yes")
			op := f.call("b", ops.Await, "t1")
			f.step = 19
			f.decides("b", "abort")
			f.ret(op, OpOK, Result{Output: ops.Abort})
		}},
		{name: "aborted for one who has gone", build: func(f *fixture) {
			f.begins("a", time.Hour)
			f.creates("b", 2, "/t/t1/alive-b", "", 2)
			f.expires(2, "/t/t1/alive-b")
			f.decides("a", "abort")
			f.learns("a", ops.Abort)
		}},
		{name: "committed without a vote", bad: Safety,
			says: "somebody committed t1 at step 7 without the votes of b",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("a", "yes")
				f.decides("a", "commit")
			}},
		{name: "committed after a no", bad: Safety, says: "without the votes of a",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("a", "no")
				f.votes("b", "yes")
				f.decides("a", "commit")
			}},
		{name: "aborted before the deadline", bad: Safety,
			says: "somebody aborted t1 at step 4, 4ms, though nobody had voted no or gone, and " +
				"the deadline is 5ms", build: func(f *fixture) {
				f.begins("a", 5*time.Millisecond)
				f.decides("b", "abort")
			}},
		{name: "aborted without a deadline", bad: Safety, says: "the deadline is 0s",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.step = 100
				f.decides("b", "abort")
			}},
		{name: "aborted for one who has come back at once", bad: Safety,
			says: "somebody aborted t1", build: func(f *fixture) {
				f.begins("a", time.Hour)
				f.creates("b", 2, "/t/t1/alive-b", "", 2)
				f.deletes("b", 2, "/t/t1/alive-b", 0)
				zxid := f.creates("b", 3, "/t/t1/alive-b", "", 3)
				f.h.Server[len(f.h.Server)-2].Zxid = zxid
				f.decides("a", "abort")
			}},
		{name: "aborted for one who has gone after it voted", bad: Safety,
			says: "somebody aborted t1", build: func(f *fixture) {
				f.begins("a", time.Hour)
				f.creates("b", 2, "/t/t1/alive-b", "", 2)
				f.votes("b", "yes")
				f.expires(2, "/t/t1/alive-b")
				f.decides("a", "abort")
			}},
		{name: "a decision that changes", bad: Safety,
			says: "the decision (commit) was taken back or changed in t1 at step 17",
			build: func(f *fixture) {
				f.commits()
				f.step = 16
				f.server(ServerEvent{
					Kind: DataChanged, Path: "/t/t1/decision", Data: "abort", Client: "b",
				})
			}},
		{name: "a decision that is taken back", bad: Safety,
			says: "the decision (commit) was taken back", build: func(f *fixture) {
				f.commits()
				f.deletes("a", 0, "/t/t1/decision", 0)
			}},
		{name: "a vote that changes", bad: Safety,
			says: "what b had said (vote no) was taken back or changed in t1",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("b", "no")
				f.server(ServerEvent{
					Kind: DataChanged, Path: "/t/t1/vote-b", Data: "yes", Client: "b",
				})
			}},
		{name: "finished undecided", bad: Safety,
			says: "a finished happened to t1 at step 5, which is undecided",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.finishes("a")
			}},
		{name: "a stranger's vote", bad: Safety,
			says: "c, which is no site of it, voted in t1 at step 5",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("c", "yes")
			}},
		{name: "sites that change", bad: Safety, says: "somebody changed t1 at step 4",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.server(ServerEvent{Kind: DataChanged, Path: "/t/t1", Client: "b"})
			}},
		{name: "forgotten before all have finished", bad: Safety,
			says: "before b had finished what was committed", build: func(f *fixture) {
				f.commits()
				f.finishes("a")
				f.forgets("a", "decision", "done-a", "vote-a", "vote-b")
			}},
		{name: "forgotten undecided", bad: Safety,
			says: "forget happened to t1 at step 5, which is undecided",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.forgets("a")
			}},
		{name: "begun again", bad: Safety, says: "t1 was begun at step 18, after it was forgotten",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("b", "no")
				f.decides("a", "abort")
				f.forgets("a", "decision", "vote-b")
				f.step = 16
				f.begins("a", 0)
			}},
		{name: "told otherwise", bad: Answers,
			says: "a was told commit of t1 at step 12, and c abort at step 16",
			build: func(f *fixture) {
				f.commits()
				f.learns("c", ops.Abort)
			}},
		{name: "told before it was decided", bad: Answers,
			says: "but the server had no such decision", build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("b", "no")
				f.learns("b", ops.Abort)
				f.decides("a", "abort")
			}},
		{name: "told of what was forgotten", bad: Answers, says: "b was told abort of t1",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("b", "no")
				f.decides("a", "abort")
				f.forgets("a", "decision", "vote-b")
				f.learns("b", ops.Abort)
			}},
		{name: "told that there is none", bad: Answers,
			says: "b was told at step 16 that there is no t1, but there was",
			build: func(f *fixture) {
				f.commits()
				f.learns("b", "")
			}},
		{name: "a vote that is nowhere", bad: Delivery,
			says: "b's vote (steps 4 to 5) of t1 b yes was acknowledged, but the server never " +
				"applied it", build: func(f *fixture) {
				f.begins("a", 0)
				f.ret(f.call("b", ops.Vote, "t1 b yes"), OpOK, Result{})
			}},
		{name: "a vote that was said before", build: func(f *fixture) {
			f.begins("a", 0)
			f.votes("b", "yes")
			f.ret(f.call("b", ops.Vote, "t1 b yes"), OpOK, Result{})
		}},
		{name: "failed, and voted", bad: Delivery,
			says: "was applied at step 5, although it said that it was not",
			build: func(f *fixture) {
				f.begins("a", 0)
				op := f.call("b", ops.Vote, "t1 b yes")
				f.creates("b", 0, "/t/t1/vote-b", "yes", 0)
				f.ret(op, OpFailed, Result{})
			}},
		{name: "a late vote of one who has given up, and fails again", build: func(f *fixture) {
			f.begins("a", 0)
			f.ret(f.call("b", ops.Vote, "t1 b yes"), OpUnknown, Result{})
			op := f.call("b", ops.Vote, "t1 b yes")
			f.creates("b", 0, "/t/t1/vote-b", "yes", 0)
			f.ret(op, OpFailed, Result{})
		}},
		{name: "somebody else's vote", bad: Delivery,
			says: "a vote yes in t1 at step 4, and no call accounts for that",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.creates("a", 0, "/t/t1/vote-b", "yes", 0)
			}},
		{name: "begun by another", bad: Delivery, says: "b's begin", build: func(f *fixture) {
			f.begins("a", 0)
			f.ret(f.call("b", ops.Begin, BeginInput("t1", []string{"a", "b"}, 0)), OpOK, Result{})
		}},
		{name: "not forgotten", bad: Delivery, says: "a's forget", build: func(f *fixture) {
			f.commits()
			f.ret(f.call("a", ops.Forget, "t1"), OpOK, Result{})
		}},
		{name: "not finished", bad: Delivery, says: "a's done", build: func(f *fixture) {
			f.commits()
			f.ret(f.call("a", ops.Done, "t1 a"), OpOK, Result{})
		}},
		{name: "waits for ever", bad: Liveness, says: "b's await (step 4, pending) never returned",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.call("b", ops.Await, "t1")
				f.left = &Leftovers{}
			}},
		{name: "something is left", bad: Orphans, says: "/t/begin-1 is left below /t",
			build: func(f *fixture) {
				f.commits()
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/t"}, {Path: "/t/begin-1"}}}
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
		{name: "told otherwise", bad: Answers, says: "and c abort",
			build: func(f *fixture) { f.commits(); f.learns("c", ops.Abort) }},
		{name: "commit without a vote", bad: Answers,
			says: "a was told commit of t1 at step 8, but a had not voted yes",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("a", "no")
				f.learns("a", ops.Commit)
			}},
		{name: "commit though a vote has failed", bad: Answers, says: "but b had not voted yes",
			build: func(f *fixture) {
				f.begins("a", 0)
				f.votes("a", "yes")
				f.ret(f.call("b", ops.Vote, "t1 b yes"), OpFailed, Result{})
				f.learns("a", ops.Commit)
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			tt.build(f)
			h := f.history()
			h.Server = nil
			checkReport(t, Judge(h, nil, twoPhaseAtT), tt.bad, tt.says)
		})
	}
}

// TestTwoPhaseOfAnotherLayout uses the layout of the ZooKeeper guide: the coordinator creates the
// znodes that the sites write.
func TestTwoPhaseOfAnotherLayout(t *testing.T) {
	opts := TwoPhase{Path: "/t",
		Read: func(name, data string) (model.TransactionKind, string, bool) {
			kind, says := map[string]model.TransactionKind{"commit": model.VoteYes,
				"abort": model.VoteNo}[data]
			return kind, name, says
		}}
	build := func(votes ...string) History {
		f := &fixture{}
		f.begins("a", 0)
		f.creates("a", 0, "/t/t1/b", "", 0)
		op := f.call("b", ops.Vote, "t1 b yes")
		for _, vote := range votes {
			f.server(ServerEvent{Kind: DataChanged, Path: "/t/t1/b", Data: vote, Client: "b"})
		}
		f.ret(op, OpOK, Result{})
		return f.history()
	}
	checkReport(t, Judge(build("commit"), nil, opts), "", "")
	checkReport(t, Judge(build("commit", "commit"), nil, opts), "", "")
	checkReport(t, Judge(build("commit", "abort"), nil, opts), Safety,
		"what b had said (vote yes) was taken back or changed")
	checkReport(t, Judge(build(), nil, opts), Delivery, "was acknowledged")
}
