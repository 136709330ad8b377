package lock

import (
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestElections(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/lock"
		return Election(opts)
	}, []lockTest{
		{Name: "one after the other, and asked in between",
			Steps: "c leader() empty; a leads a-0; c leader() ok#4 -> a; a resigns a-0; " +
				"b leads b-1; b resigns b-1; c leader() empty; rest"},
		{Name: "a new term after a loss, without resigning",
			Steps: "a leads a-0; a expires a-0; a told expired; a@2 leads a-1; a@2 resigns a-1; " +
				"rest"},
		{Name: "a new term through the same znode after a loss",
			Steps: "a leads a-0; a told disconnected; a told lost; a told connected; " +
				"a lead() ok@1#2; a resigns a-0; b leads b-1; b resigns b-1; rest"},
		{Name: "a new term through the same znode after a loss, without tokens",
			Steps: "a lead() owns a-0=a ok#0; a told disconnected; a told lost; a lead() ok@1#0; " +
				"a resigns a-0; rest"},
		{Name: "the server takes a candidate without a session", Bad: lin.Safety,
			Says:  "the server deleted a's znode /lock/x (a TTL node or a container)",
			Steps: "a lead() creates x=a ok#2; server deletes x"},
		{Name: "a new term through the same znode, and another leads", Bad: lin.Safety,
			Says:  "a and b own the leadership at once",
			Steps: "a leads a-0; a told disconnected; a told lost; a lead() ok@1#2; b leads b-1"},
		{Name: "a new term through the same znode, and another believes so", Bad: lin.Belief,
			Says:  "a and b both believe that they hold the leadership",
			Steps: "a leads a-0; a told disconnected; a told lost; a lead() ok@1#2; b leads b-1"},
		{Name: "a new term with an older token than another's since", Bad: lin.Fencing,
			Says: "turns a away",
			Steps: "a leads a-0; a told disconnected; a told lost; b leads b-1; b resigns b-1; " +
				"a lead() ok@1#2; a resigns a-0"},
		{Name: "after a new term through the same znode it is left", Bad: lin.Orphans,
			Says: "was left by a's lead",
			Steps: "a leads a-0; a told disconnected; a told lost; a lead() ok@1#2; " +
				"a resign() unknown; rest a-0"},
		{Name: "lost before the call that tells of it, and not told",
			Steps: "a owns a-0=a; a expires a-0; a lead() ok@1#1; a told expired; b leads b-1; " +
				"b resigns b-1; rest"},
		{Name: "lost before the call that tells of it, and told", Bad: lin.Safety,
			Says:  "was deleted at step 2, and the client was told so (session expired) at step 3",
			Steps: "a owns a-0=a; a expires a-0; a told expired; a lead() ok@1#1"},
		{Name: "won before the call, while another led", Bad: lin.Linearizability, Says: "lead",
			Steps: "b leads b-0; a owns a-1=a; a expires a-1; a lead() ok@1#4"},
		{Name: "two lead", Bad: lin.Safety, Says: "a and b own the leadership at once",
			Steps: "a leads a-0; b leads b-1"},
		{Name: "two believe so", Bad: lin.Belief,
			Says: "both believe that they hold the leadership", Steps: "a leads a-0; b leads b-1"},
		{Name: "two lead, not linearizable", Bad: lin.Linearizability, Says: "lead",
			Steps: "a leads a-0; b leads b-1"},
		{Name: "without a znode", Bad: lin.Safety,
			Says:  "client a returned from lead at step 5 without a znode of its own",
			Steps: "b leads b-0; a lead() ok@1#77"},
		{Name: "an older epoch", Bad: lin.Fencing, Says: "turns b away",
			Steps: "b lead() owns b-0=b; a leads a-1; a resigns a-1; b ok"},
		{Name: "overtaken", Opts: Claims{Fair: true}, Bad: lin.Order, Says: "a overtook b",
			Steps: "b lead() owns b-0=b; a leads a-1"},
		{Name: "told of one who led before", Bad: lin.Answers,
			Says:  `c was told that "a" leads in epoch 2`,
			Steps: "a leads a-0; a resigns a-0; c leader() ok#2 -> a"},
		{Name: "told of one who led before, and stale reads are not claimed", Bad: lin.Answers,
			Says:  "(the claim StaleReads would allow it)",
			Steps: "a leads a-0; a resigns a-0; c leader() ok#2 -> a"},
		{Name: "told of one who led before, as claimed", Opts: Claims{StaleReads: true},
			Steps: "a leads a-0; a resigns a-0; c leader() ok#2 -> a; rest"},
		{Name: "told of itself after it has resigned", Opts: Claims{StaleReads: true},
			Bad: lin.Answers, Says: `a was told that "a" leads in epoch 2`,
			Steps: "a leads a-0; a resigns a-0; a leader() ok#2 -> a"},
		{Name: "told of one who left meanwhile",
			Steps: "a leads a-0; c leader(); a resigns a-0; c ok#2 -> a; rest"},
		{Name: "told of nobody", Bad: lin.Answers, Says: "c was told that nobody leads",
			Steps: "a leads a-0; c leader() empty"},
		{Name: "told of nobody before the first has stored its name",
			Steps: "a lead() owns a-0; c leader() empty; a stores a-0=a; c leader() ok#2 -> a; " +
				"a ok; a resigns a-0; rest"},
		{Name: "told of nobody while the first is not told that it leads",
			Steps: "a lead() owns a-0=a; c leader() empty; a ok; a resigns a-0; rest"},
		{Name: "told of nobody while the leader resigns",
			Steps: "a leads a-0; a resign(); c leader() empty; a deletes a-0!1; a ok; rest"},
		{Name: "told of nobody after the leader has learned of a loss",
			Steps: "a leads a-0; a told disconnected; a told lost; c leader() empty; a resigns a-0; rest"},
		{Name: "told of nobody though the first is told that it leads", Bad: lin.Answers,
			Says:  "c was told that nobody leads",
			Steps: "a lead() owns a-0=a; a ok; c leader() empty; a resigns a-0; rest"},
		{Name: "told of nobody though the second waits", Bad: lin.Answers,
			Says:  "c was told that nobody leads",
			Steps: "a leads a-0; b lead() owns b-1=b; c leader() empty"},
		{Name: "told of the second", Bad: lin.Answers, Says: `"b" leads`,
			Steps: "a leads a-0; b lead() owns b-1=b; c leader() ok#5 -> b"},
		{Name: "never elected", Bad: lin.Liveness,
			Says: "a's lead (step 1, pending) never returned", Steps: "a lead(); rest"},
		{Name: "a candidate nobody knows of", Bad: lin.Orphans, Says: "was left by a's lead",
			Steps: "a lead() owns a-0=a unknown; rest a-0"},
		{Name: "two are woken", Opts: Claims{MaxHerd: 1}, Bad: lin.Herd,
			Says: "fired 2 watch notifications", Steps: "a leads a-0; a resign() deletes a-0!2 ok"},
	})
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
