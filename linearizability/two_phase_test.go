package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/model"
)

var twoPhaseAtT = TwoPhaseOptions{Path: "/t"}

// begins is a whole, undisturbed begin of t1 with sites a and b.
func (f *film) begins(client string, deadline time.Duration) {
	op := f.call(client, KindBegin, BeginInput("t1", []string{"a", "b"}, deadline))
	f.creates(client, 0, "/t/t1", "", 0)
	f.ret(op, OpOK, Result{})
}

// votes is a whole, undisturbed vote of a client for itself.
func (f *film) votes(client, vote string) {
	op := f.call(client, KindVote, "t1 "+client+" "+vote)
	f.creates(client, 0, "/t/t1/vote-"+client, vote, 0)
	f.ret(op, OpOK, Result{})
}

func (f *film) decides(client, decision string) {
	f.creates(client, 0, "/t/t1/decision", decision, 0)
}

// learns is a whole await, of which nothing is the decision if that is "".
func (f *film) learns(client, decision string) {
	f.ret(f.call(client, KindAwait, "t1"), OpOK, Result{Output: decision, Empty: decision == ""})
}

// finishes is a whole, undisturbed done.
func (f *film) finishes(client string) {
	op := f.call(client, KindDone, "t1 "+client)
	f.creates(client, 0, "/t/t1/done-"+client, "", 0)
	f.ret(op, OpOK, Result{})
}

// forgets is a whole, undisturbed forget of these children, in one request.
func (f *film) forgets(client string, children ...string) {
	op := f.call(client, KindForget, "t1")
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

// commits is a transaction of which both have heard that it was committed.
func (f *film) commits() {
	f.begins("a", 0)
	f.votes("a", "yes")
	f.votes("b", "yes")
	f.decides("a", "commit")
	f.learns("a", CommitOutput)
	f.learns("b", CommitOutput)
}

func TestTwoPhaseCommits(t *testing.T) {
	tests := []struct {
		name      string
		shoot     func(f *film) *Rest
		bad, says string
	}{
		{name: "committed, finished and forgotten", shoot: func(f *film) *Rest {
			f.learns("b", "")
			f.commits()
			f.finishes("a")
			f.finishes("b")
			f.forgets("b", "decision", "done-a", "done-b", "vote-a", "vote-b")
			f.learns("a", "")
			f.ret(f.call("a", KindForget, "t1"), OpOK, Result{})
			f.ret(f.call("a", KindDone, "t1 a"), OpOK, Result{})
			return &Rest{Nodes: []NodeAtRest{{Path: "/t"}}}
		}},
		{name: "aborted for a no, and forgotten at once", shoot: func(f *film) *Rest {
			f.begins("a", time.Hour)
			f.votes("b", "no")
			f.decides("a", "abort b votes no")
			f.learns("a", AbortOutput)
			f.votes("a", "yes")
			f.forgets("a", "decision", "vote-a", "vote-b")
			return &Rest{}
		}},
		{name: "aborted at the deadline", shoot: func(f *film) *Rest {
			f.begins("a", 20*time.Millisecond)
			f.votes("b", "yes")
			op := f.call("b", KindAwait, "t1")
			f.step = 19
			f.decides("b", "abort")
			f.ret(op, OpOK, Result{Output: AbortOutput})
			return nil
		}},
		{name: "aborted for one who has gone", shoot: func(f *film) *Rest {
			f.begins("a", time.Hour)
			f.creates("b", 2, "/t/t1/alive-b", "", 2)
			f.expires(2, "/t/t1/alive-b")
			f.decides("a", "abort")
			f.learns("a", AbortOutput)
			return nil
		}},
		{name: "committed without a vote", bad: Safety, says: "somebody committed t1 at step 7 without the votes of b", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.votes("a", "yes")
			f.decides("a", "commit")
			return nil
		}},
		{name: "committed after a no", bad: Safety, says: "without the votes of a", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.votes("a", "no")
			f.votes("b", "yes")
			f.decides("a", "commit")
			return nil
		}},
		{name: "aborted before the deadline", bad: Safety, says: "somebody aborted t1 at step 4, 4ms, though nobody had voted no or gone, and the deadline is 5ms", shoot: func(f *film) *Rest {
			f.begins("a", 5*time.Millisecond)
			f.decides("b", "abort")
			return nil
		}},
		{name: "aborted without a deadline", bad: Safety, says: "the deadline is 0s", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.step = 100
			f.decides("b", "abort")
			return nil
		}},
		{name: "aborted for one who has come back at once", bad: Safety, says: "somebody aborted t1", shoot: func(f *film) *Rest {
			f.begins("a", time.Hour)
			f.creates("b", 2, "/t/t1/alive-b", "", 2)
			f.deletes("b", 2, "/t/t1/alive-b", 0)
			zxid := f.creates("b", 3, "/t/t1/alive-b", "", 3)
			f.h.Server[len(f.h.Server)-2].Zxid = zxid
			f.decides("a", "abort")
			return nil
		}},
		{name: "aborted for one who has gone after it voted", bad: Safety, says: "somebody aborted t1", shoot: func(f *film) *Rest {
			f.begins("a", time.Hour)
			f.creates("b", 2, "/t/t1/alive-b", "", 2)
			f.votes("b", "yes")
			f.expires(2, "/t/t1/alive-b")
			f.decides("a", "abort")
			return nil
		}},
		{name: "a decision that changes", bad: Safety, says: "the decision (commit) was taken back or changed in t1 at step 17", shoot: func(f *film) *Rest {
			f.commits()
			f.step = 16
			f.server(ServerEvent{Kind: DataChanged, Path: "/t/t1/decision", Data: "abort", Client: "b"})
			return nil
		}},
		{name: "a decision that is taken back", bad: Safety, says: "the decision (commit) was taken back", shoot: func(f *film) *Rest {
			f.commits()
			f.deletes("a", 0, "/t/t1/decision", 0)
			return nil
		}},
		{name: "a vote that changes", bad: Safety, says: "what b had said (vote no) was taken back or changed in t1", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.votes("b", "no")
			f.server(ServerEvent{Kind: DataChanged, Path: "/t/t1/vote-b", Data: "yes", Client: "b"})
			return nil
		}},
		{name: "finished undecided", bad: Safety, says: "a finished happened to t1 at step 5, which is undecided", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.finishes("a")
			return nil
		}},
		{name: "a stranger's vote", bad: Safety, says: "c, which is no site of it, voted in t1 at step 5", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.votes("c", "yes")
			return nil
		}},
		{name: "sites that change", bad: Safety, says: "somebody changed t1 at step 4", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.server(ServerEvent{Kind: DataChanged, Path: "/t/t1", Client: "b"})
			return nil
		}},
		{name: "forgotten before all have finished", bad: Safety, says: "before b had finished what was committed", shoot: func(f *film) *Rest {
			f.commits()
			f.finishes("a")
			f.forgets("a", "decision", "done-a", "vote-a", "vote-b")
			return nil
		}},
		{name: "forgotten undecided", bad: Safety, says: "forget happened to t1 at step 5, which is undecided", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.forgets("a")
			return nil
		}},
		{name: "begun again", bad: Safety, says: "t1 was begun at step 18, after it was forgotten", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.votes("b", "no")
			f.decides("a", "abort")
			f.forgets("a", "decision", "vote-b")
			f.step = 16
			f.begins("a", 0)
			return nil
		}},
		{name: "told otherwise", bad: Answers, says: "a was told commit of t1 at step 12, and c abort at step 16", shoot: func(f *film) *Rest {
			f.commits()
			f.learns("c", AbortOutput)
			return nil
		}},
		{name: "told before it was decided", bad: Answers, says: "but the server had no such decision", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.votes("b", "no")
			f.learns("b", AbortOutput)
			f.decides("a", "abort")
			return nil
		}},
		{name: "told of what was forgotten", bad: Answers, says: "b was told abort of t1", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.votes("b", "no")
			f.decides("a", "abort")
			f.forgets("a", "decision", "vote-b")
			f.learns("b", AbortOutput)
			return nil
		}},
		{name: "told that there is none", bad: Answers, says: "b was told at step 16 that there is no t1, but there was", shoot: func(f *film) *Rest {
			f.commits()
			f.learns("b", "")
			return nil
		}},
		{name: "a vote that is nowhere", bad: Delivery, says: "b's vote (steps 4 to 5) of t1 b yes was acknowledged, but the server never applied it", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.ret(f.call("b", KindVote, "t1 b yes"), OpOK, Result{})
			return nil
		}},
		{name: "a vote that was said before", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.votes("b", "yes")
			f.ret(f.call("b", KindVote, "t1 b yes"), OpOK, Result{})
			return nil
		}},
		{name: "failed, and voted", bad: Delivery, says: "was applied at step 5, although it said that it was not", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			op := f.call("b", KindVote, "t1 b yes")
			f.creates("b", 0, "/t/t1/vote-b", "yes", 0)
			f.ret(op, OpFailed, Result{})
			return nil
		}},
		{name: "a late vote of one who has given up, and fails again", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.ret(f.call("b", KindVote, "t1 b yes"), OpUnknown, Result{})
			op := f.call("b", KindVote, "t1 b yes")
			f.creates("b", 0, "/t/t1/vote-b", "yes", 0)
			f.ret(op, OpFailed, Result{})
			return nil
		}},
		{name: "somebody else's vote", bad: Delivery, says: "a vote yes in t1 at step 4, and no call accounts for that", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.creates("a", 0, "/t/t1/vote-b", "yes", 0)
			return nil
		}},
		{name: "begun by another", bad: Delivery, says: "b's begin", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.ret(f.call("b", KindBegin, BeginInput("t1", []string{"a", "b"}, 0)), OpOK, Result{})
			return nil
		}},
		{name: "not forgotten", bad: Delivery, says: "a's forget", shoot: func(f *film) *Rest {
			f.commits()
			f.ret(f.call("a", KindForget, "t1"), OpOK, Result{})
			return nil
		}},
		{name: "not finished", bad: Delivery, says: "a's done", shoot: func(f *film) *Rest {
			f.commits()
			f.ret(f.call("a", KindDone, "t1 a"), OpOK, Result{})
			return nil
		}},
		{name: "waits for ever", bad: Liveness, says: "b's await (step 4, pending) never returned", shoot: func(f *film) *Rest {
			f.begins("a", 0)
			f.call("b", KindAwait, "t1")
			return &Rest{}
		}},
		{name: "something is left", bad: Orphans, says: "/t/begin-1 is left below /t", shoot: func(f *film) *Rest {
			f.commits()
			return &Rest{Nodes: []NodeAtRest{{Path: "/t"}, {Path: "/t/begin-1"}}}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &film{}
			rest := tt.shoot(f)
			checkReport(t, JudgeTwoPhase(f.history(), rest, twoPhaseAtT), tt.bad, tt.says)
		})
	}
}

// TestTwoPhaseWithoutLog: what was told is judged by itself.
func TestTwoPhaseWithoutLog(t *testing.T) {
	for _, tt := range []struct {
		name      string
		shoot     func(f *film)
		bad, says string
	}{
		{name: "committed", shoot: (*film).commits},
		{name: "told otherwise", bad: Answers, says: "and c abort", shoot: func(f *film) { f.commits(); f.learns("c", AbortOutput) }},
		{name: "commit without a vote", bad: Answers, says: "a was told commit of t1 at step 8, but a had not voted yes", shoot: func(f *film) {
			f.begins("a", 0)
			f.votes("a", "no")
			f.learns("a", CommitOutput)
		}},
		{name: "commit though a vote has failed", bad: Answers, says: "but b had not voted yes", shoot: func(f *film) {
			f.begins("a", 0)
			f.votes("a", "yes")
			f.ret(f.call("b", KindVote, "t1 b yes"), OpFailed, Result{})
			f.learns("a", CommitOutput)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &film{}
			tt.shoot(f)
			h := f.history()
			h.Server = nil
			checkReport(t, JudgeTwoPhase(h, nil, twoPhaseAtT), tt.bad, tt.says)
		})
	}
}

// TestTwoPhaseOfAnotherLayout: that of the guide, whose coordinator makes the nodes
// that the sites write into.
func TestTwoPhaseOfAnotherLayout(t *testing.T) {
	opts := TwoPhaseOptions{Path: "/t", Read: func(name, data string) (model.TransactionKind, string, bool) {
		kind, says := map[string]model.TransactionKind{"commit": model.VoteYes, "abort": model.VoteNo}[data]
		return kind, name, says
	}}
	shoot := func(votes ...string) History {
		f := &film{}
		f.begins("a", 0)
		f.creates("a", 0, "/t/t1/b", "", 0)
		op := f.call("b", KindVote, "t1 b yes")
		for _, vote := range votes {
			f.server(ServerEvent{Kind: DataChanged, Path: "/t/t1/b", Data: vote, Client: "b"})
		}
		f.ret(op, OpOK, Result{})
		return f.history()
	}
	checkReport(t, JudgeTwoPhase(shoot("commit"), nil, opts), "", "")
	checkReport(t, JudgeTwoPhase(shoot("commit", "commit"), nil, opts), "", "")
	checkReport(t, JudgeTwoPhase(shoot("commit", "abort"), nil, opts), Safety, "what b had said (vote yes) was taken back or changed")
	checkReport(t, JudgeTwoPhase(shoot(), nil, opts), Delivery, "was acknowledged")
}
