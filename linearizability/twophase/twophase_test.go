package twophase

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/model"
)

var twoPhaseAtT = Claims{Path: "/t"}

func TestTwoPhaseCommits(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(twoPhaseAtT), []claimTest{
		{Name: "committed, finished and forgotten",
			Steps: "b await(t1) empty; a begins 0s; a votes yes; b votes yes; " +
				"a creates decision=commit; a learns commit; b learns commit; a finishes; " +
				"b finishes; b forgets decision,done-a,done-b,vote-a,vote-b,.; " +
				"a await(t1) empty; a forget(t1) ok; a done(t1 a) ok; rest /t"},
		{Name: "aborted for a no, and forgotten at once", Build: func(f *fixture) {
			f.Plays("a begins 1h0m0s; b votes no")
			f.Creates("a", 0, "/t/t1/decision", "abort b votes no", 0)
			f.Plays("a learns abort; a votes yes; a forgets decision,vote-a,vote-b,.; rest")
		}},
		{Name: "aborted at the deadline",
			Steps: "a begins 20ms; b votes yes; b await(t1); pass 12; b creates decision=abort; " +
				"b -> abort"},
		{Name: "aborted for one who has gone",
			Steps: "a begins 1h0m0s; b@2 owns alive-b; b@2 expires alive-b; " +
				"a creates decision=abort; a learns abort"},
		{Name: "committed without a vote", Bad: lin.Safety,
			Says:  "a committed t1 at step 7 without the votes of b",
			Steps: "a begins 0s; a votes yes; a creates decision=commit"},
		{Name: "committed after a no", Bad: lin.Safety, Says: "without the votes of a",
			Steps: "a begins 0s; a votes no; b votes yes; a creates decision=commit"},
		{Name: "aborted before the deadline", Bad: lin.Safety,
			Says: "b aborted t1 at step 4, at 4ms, though nobody had voted no or gone, and " +
				"the deadline is 5ms", Steps: "a begins 5ms; b creates decision=abort"},
		{Name: "aborted without a deadline", Bad: lin.Safety, Says: "the deadline is 0s",
			Steps: "a begins 0s; pass 97; b creates decision=abort"},
		{Name: "aborted for one who has come back at once", Bad: lin.Safety,
			Says: "a aborted t1",
			Steps: "a begins 1h0m0s; b@2 owns alive-b; b@2 deletes alive-b; " +
				"b@3 owns alive-b; a creates decision=abort",
			Build: func(f *fixture) { f.H.Server[2].Zxid = f.H.Server[3].Zxid }},
		{Name: "aborted for one who has gone after it voted", Bad: lin.Safety,
			Says: "a aborted t1",
			Steps: "a begins 1h0m0s; b@2 owns alive-b; b votes yes; b@2 expires alive-b; " +
				"a creates decision=abort"},
		{Name: "a decision that changes", Bad: lin.Safety,
			Says: "the decision (commit) was taken back or changed in t1 at step 17",
			Steps: "a begins 0s; a votes yes; b votes yes; a creates decision=commit; " +
				"a learns commit; b learns commit; pass 2; b stores decision=abort"},
		{Name: "a decision that is taken back", Bad: lin.Safety,
			Says: "the decision (commit) was taken back",
			Steps: "a begins 0s; a votes yes; b votes yes; a creates decision=commit; " +
				"a learns commit; b learns commit; a deletes decision"},
		{Name: "a vote that changes", Bad: lin.Safety,
			Says:  "what b had said (vote no) was taken back or changed in t1",
			Steps: "a begins 0s; b votes no; b stores vote-b=yes"},
		{Name: "finished undecided", Bad: lin.Safety,
			Says:  "a finished happened to t1 at step 5, which is undecided",
			Steps: "a begins 0s; a finishes"},
		{Name: "a stranger's vote", Bad: lin.Safety,
			Says:  "c, which is no site of it, voted in t1 at step 5",
			Steps: "a begins 0s; c votes yes"},
		{Name: "sites that change", Bad: lin.Safety, Says: "b changed t1 at step 4",
			Steps: "a begins 0s; b stores .="},
		{Name: "forgotten before all have finished", Bad: lin.Safety,
			Says: "before b had finished what was committed",
			Steps: "a begins 0s; a votes yes; b votes yes; a creates decision=commit; " +
				"a learns commit; b learns commit; a finishes; " +
				"a forgets decision,done-a,vote-a,vote-b,."},
		{Name: "forgotten undecided", Bad: lin.Safety,
			Says:  "forget happened to t1 at step 5, which is undecided",
			Steps: "a begins 0s; a forgets ."},
		{Name: "begun again", Bad: lin.Safety,
			Says: "t1 was begun at step 18, after it was forgotten",
			Steps: "a begins 0s; b votes no; a creates decision=abort; " +
				"a forgets decision,vote-b,.; pass 4; a begins 0s"},
		{Name: "told otherwise", Bad: lin.Answers,
			Says: "a was told commit of t1 at step 12, and c abort at step 16",
			Steps: "a begins 0s; a votes yes; b votes yes; a creates decision=commit; " +
				"a learns commit; b learns commit; c learns abort"},
		{Name: "told before it was decided", Bad: lin.Answers,
			Says:  "but the server had no such decision",
			Steps: "a begins 0s; b votes no; b learns abort; a creates decision=abort"},
		{Name: "told of what was forgotten", Bad: lin.Answers, Says: "b was told abort of t1",
			Steps: "a begins 0s; b votes no; a creates decision=abort; " +
				"a forgets decision,vote-b,.; b learns abort"},
		{Name: "told that there is none", Bad: lin.Answers,
			Says: "b was told at step 16 that there is no t1, but there was",
			Steps: "a begins 0s; a votes yes; b votes yes; a creates decision=commit; " +
				"a learns commit; b learns commit; b await(t1) empty"},
		{Name: "a vote that is nowhere", Bad: lin.Delivery,
			Says: "b's vote (steps 4 to 5) of t1 b yes was acknowledged, but the server never " +
				"applied it", Steps: "a begins 0s; b vote(t1 b yes) ok"},
		{Name: "a vote that was said before",
			Steps: "a begins 0s; b votes yes; b vote(t1 b yes) ok"},
		{Name: "failed, and voted", Bad: lin.Delivery,
			Says:  "was applied at step 5, although it said that it was not",
			Steps: "a begins 0s; b vote(t1 b yes) creates vote-b=yes failed"},
		{Name: "a late vote of one who has given up, and fails again",
			Steps: "a begins 0s; b vote(t1 b yes) unknown; " +
				"b vote(t1 b yes) creates vote-b=yes failed"},
		{Name: "somebody else's vote", Bad: lin.Delivery,
			Says:  "a vote yes in t1 at step 4, and no call accounts for that",
			Steps: "a begins 0s; a creates vote-b=yes"},
		{Name: "begun by another", Bad: lin.Delivery, Says: "b's begin",
			Steps: "a begins 0s; b begin(t1 a,b 0s) ok"},
		{Name: "not forgotten", Bad: lin.Delivery, Says: "a's forget",
			Steps: "a begins 0s; a votes yes; b votes yes; a creates decision=commit; " +
				"a learns commit; b learns commit; a forget(t1) ok"},
		{Name: "not finished", Bad: lin.Delivery, Says: "a's done",
			Steps: "a begins 0s; a votes yes; b votes yes; a creates decision=commit; " +
				"a learns commit; b learns commit; a done(t1 a) ok"},
		{Name: "waits for ever", Bad: lin.Liveness,
			Says:  "b's await (step 4, pending) never returned",
			Steps: "a begins 0s; b await(t1); rest"},
		{Name: "something is left", Bad: lin.Orphans, Says: "/t/begin-1 is left below /t",
			Steps: "a begins 0s; a votes yes; b votes yes; a creates decision=commit; " +
				"a learns commit; b learns commit; rest /t /t/begin-1"},
	})
}

// TestTwoPhaseWithStaleReads: an answer may be of any moment before its end, and of none after it.
func TestTwoPhaseWithStaleReads(t *testing.T) {
	const forgotten = "a begins 0s; b votes no; a creates decision=abort; " +
		"a forgets decision,vote-b,.; b learns abort"
	judgingtest.CheckHistories(t, judgingtest.Always(twoPhaseAtT), []claimTest{
		{Name: "not claimed", Bad: lin.Answers, Says: "(the claim StaleReads would allow it)",
			Steps: forgotten},
	})
	stale := Claims{Path: "/t", StaleReads: true}
	judgingtest.CheckHistories(t, judgingtest.Always(stale), []claimTest{
		{Name: "claimed", Steps: forgotten},
		{Name: "of a begin that is not seen",
			Steps: "a begins 0s; a votes yes; b await(t1) empty"},
		{Name: "before it was decided", Bad: lin.Answers,
			Says:  "but the server had no such decision",
			Steps: "a begins 0s; b votes no; b learns abort; a creates decision=abort"},
	})
}

// TestTwoPhaseWithoutLog: the answers are judged without a log.
func TestTwoPhaseWithoutLog(t *testing.T) {
	committed := "a begins 0s; a votes yes; b votes yes; a creates decision=commit; " +
		"a learns commit; b learns commit"
	judgingtest.CheckHistories(t, judgingtest.Always(twoPhaseAtT), []claimTest{
		{Name: "committed", Steps: committed + "; unlogged"},
		{Name: "told otherwise", Bad: lin.Answers, Says: "and c abort",
			Steps: committed + "; c learns abort; unlogged"},
		{Name: "commit without a vote", Bad: lin.Answers,
			Says:  "a was told commit of t1 at step 8, but a had not voted yes",
			Steps: "a begins 0s; a votes no; a learns commit; unlogged"},
		{Name: "commit though a vote has failed", Bad: lin.Answers, Says: "but b had not voted yes",
			Steps: "a begins 0s; a votes yes; b vote(t1 b yes) failed; a learns commit; unlogged"},
	})
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
	judgingtest.CheckHistories(t, judgingtest.Always(opts), []claimTest{
		{Name: "one vote", Steps: "a begins 0s; a creates b; b vote(t1 b yes) stores b=commit ok"},
		{Name: "the same again",
			Steps: "a begins 0s; a creates b; b vote(t1 b yes) stores b=commit stores b=commit ok"},
		{Name: "another one", Bad: lin.Safety,
			Says:  "what b had said (vote yes) was taken back or changed",
			Steps: "a begins 0s; a creates b; b vote(t1 b yes) stores b=commit stores b=abort ok"},
		{Name: "none", Bad: lin.Delivery, Says: "was acknowledged",
			Steps: "a begins 0s; a creates b; b vote(t1 b yes) ok"},
	})
}
