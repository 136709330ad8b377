package member

import (
	"strings"
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func memberSession(client string) int64 { return int64(client[0]) }

// views records a view.
func (f *fixture) views(client, shown string) {
	f.Ret(f.Call(client, ops.View, ""), lin.OpOK, lin.Result{Output: shown, Empty: shown == ""})
}

// passes lets time pass, a millisecond each step.
func (f *fixture) passes(d time.Duration) { f.Step += int64(d / time.Millisecond) }

func TestGroups(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(Claims{Path: "/m", Within: time.Second}), []claimTest{
		{Name: "come and go",
			Steps: "c seesNobody; a joins a=1; c sees a; b joins b=1; c sees a; c sees a,b; " +
				"a leaves a; b leaves b; c sees b; pass 1000; c seesNobody; rest .; c watches ."},
		{Name: "shows a member who never was", Bad: lin.Answers,
			Says:  "c's view (steps 4 to 5) shows a,x, which was never so",
			Steps: "a joins a=1; c sees a,x"},
		{Name: "shows what never was at one moment", Bad: lin.Answers,
			Says: "shows b, which was never so", Steps: "a joins a=1; b joins b=1; c sees b"},
		{Name: "shows what is to come", Bad: lin.Answers, Says: "never so",
			Steps: "c sees a; a joins a=1"},
		{Name: "goes back", Bad: lin.Answers,
			Says:  "shows nobody, as it was until step 2, after something newer was shown",
			Steps: "a joins a=1; c sees a; c seesNobody"},
		{Name: "others may lag behind", Steps: "a joins a=1; c sees a; b seesNobody"},
		{Name: "does not converge", Bad: lin.Answers,
			Says: "shows nobody, as it was until step 2, 2.002s before the call, and views may " +
				"lag by 1s", Steps: "a joins a=1; pass 2000; c seesNobody"},
		{Name: "keeps the dead", Bad: lin.Answers, Says: "shows a, as it was until step 4",
			Steps: "a join(a=1) owns a=1 unknown; a expires a; pass 2000; c sees a"},
		{Name: "comes back after an expiry",
			Steps: "a joins a=1; a expires a; pass 900; a@98 owns a=1; pass 9000; rest . a"},
		{Name: "comes back too late", Bad: lin.Presence,
			Says: `a has not been there with "1" for 1.101s since step 4, when a's session 0x61 ended, though it had joined ` +
				"(a's join (steps 1 to 3))",
			Steps: "a joins a=1; a expires a; pass 1100; a@98 owns a=1"},
		{Name: "never comes back", Bad: lin.Presence, Says: "has not been there",
			Steps: "a joins a=1; a expires a; pass 1100; c seesNobody"},
		{Name: "acknowledged, not there", Bad: lin.Presence,
			Says:  `a's join (steps 2 to 3) was acknowledged, but a was not there with "1"`,
			Steps: "a starts; a join(a=1) ok"},
		{Name: "an earlier attempt has done it",
			Steps: "a join(a=1) owns a=1 unknown; a join(a=1) ok"},
		{Name: "is still there", Bad: lin.Presence,
			Says:  "a's leave (steps 4 to 5) was acknowledged, but /m/a is still there: a created it at step 2, during a's join (steps 1 to 3)",
			Steps: "a joins a=1; a leave(a) ok@97"},
		{Name: "an expired session's znode is still there",
			Steps: "a joins a=1; a leave(a) ok@98; a expires a; rest"},
		{Name: "is still there, of an unknown session", Bad: lin.Presence, Says: "is still there",
			Steps: "a joins a=1; a leave(a) ok"},
		{Name: "is still there, of no session", Bad: lin.Presence, Says: "is still there",
			Steps: "a join(a=1) creates a=1 ok@97; a leave(a) ok@97"},
		{Name: "of no session, has left",
			Steps: "a join(a=1) creates a=1 ok@97; a leave(a) deletes a ok@97; rest"},
		{Name: "taken by the server without a session", Bad: lin.Presence,
			Says:  "has not been there",
			Steps: "a join(a=1) creates a=1 ok@97; server deletes a; pass 3000"},
		{Name: "taken by the server without a session, and made again",
			Steps: "a join(a=1) creates a=1 ok@97; server deletes a; a creates a=1; pass 3000; " +
				"a leave(a) deletes a ok@97; rest"},
		{Name: "an unknown session was told to have expired",
			Steps: "a joins a=1; a told expired; a leave(a) ok; a expires a; rest"},
		{Name: "comes back after it has left", Bad: lin.Presence,
			Says: "/m/a came back at step 7, though it had left (a's leave (steps 4 to 6)): a " +
				"created it at step 7",
			Steps: "a joins a=1; a leaves a; a owns a=1"},
		{Name: "deleted by another", Bad: lin.Safety,
			Says: "b deleted /m/a at step 4, which was a's", Steps: "a joins a=1; b deletes a!1"},
		{Name: "deleted by the next process of its owner",
			Steps: "a joins a=1; a told died; d join(a=2) deletes a!1 owns a=2 ok"},
		{Name: "deleted by a client that has not joined it", Bad: lin.Safety,
			Says:  "d deleted /m/a at step 5, which was a's",
			Steps: "a joins a=1; a told died; d deletes a!1"},
		{Name: "deleted by a client that joins it before its owner has died", Bad: lin.Safety,
			Says:  "d deleted /m/a at step 5, which was a's",
			Steps: "a joins a=1; d join(a=2) deletes a!1; a told died; d owns a=2; d ok"},
		{Name: "evicted", Steps: "a joins a=1; b evict(a) deletes a!1 ok; a owns a=1"},
		{Name: "evicted for ever", Bad: lin.Presence,
			Says:  "since step 5, after b's evict (steps 4 to 6), though it had joined",
			Steps: "a joins a=1; b evict(a) deletes a!1 ok; pass 1100; c seesNobody"},
		{Name: "evicted while it joins", Bad: lin.Presence,
			Says: `was not there with "1", after b's evict (steps 6 to 8)`,
			Steps: "a join(a=1) owns a=1 unknown; a leave(a) unknown; b evict(a) deletes a!1 ok; " +
				"a join(a=1) ok"},
		{Name: "deletes itself and comes back", Bad: lin.Presence,
			Says: "a deleted its own /m/a at step 6, though it had joined (a's join (steps 1 to 3)) " +
				"and had not left: others saw it go",
			Steps: "a joins a=1; c sees a; a deletes a!1; a owns a=1"},
		{Name: "registers anew after the end of a session, and replaces its node once",
			Steps: "a joins a=1; c sees a; a expires a; a told expired; a@2 owns a=1; " +
				"a@2 deletes a!1; a@2 owns a=1"},
		{Name: "replaces it again", Bad: lin.Presence, Says: "a deleted its own /m/a",
			Steps: "a joins a=1; c sees a; a expires a; a told expired; a@2 owns a=1; " +
				"a@2 deletes a!1; a@2 owns a=1; a@2 deletes a!1; a@2 owns a=1"},
		{Name: "deletes what another session of its own has left",
			Steps: "a joins a=1; a@98 deletes a!1; a@98 owns a=1"},
		{Name: "evicts itself", Steps: "a joins a=1; a evict(a) deletes a!1 ok; a owns a=1"},
		{Name: "deletes itself after its process has died",
			Steps: "a joins a=1; a told died; a deletes a!1; pass 2000"},
		{Name: "left at rest", Bad: lin.Orphans, Says: "/m/a (session 0x61) was left by a's join (steps 1 to 3)",
			Steps: "a joins a=1; a leave(a) unknown; rest . a"},
		{Name: "a view that never returns", Bad: lin.Liveness,
			Says: "c's view (step 1, pending) never returned", Steps: "c view(); rest"},
	}, func(f *fixture) {
		f.passes(2 * time.Second)
		f.views("d", f.shown())
	})
}

// shown is the right view at the end.
func (f *fixture) shown() string {
	c := newTable(f.History().Sorted(), Claims{Path: "/m"})
	return c.truth.names[len(c.truth.names)-1].value
}

// TestMembershipWithoutALog: without a log there are no violations.
func TestMembershipWithoutALog(t *testing.T) {
	f := &fixture{}
	f.views("c", "a,b")
	f.Ret(f.Call("a", ops.Join, "a=1"), lin.OpOK, lin.Result{})
	h := f.History()
	h.Server = nil
	judgingtest.CheckReport(t, judgingtest.Judge(h, &lin.Leftovers{}, Claims{Path: "/m", Within: 1}), "", "")
}

// TestUpdatesThatReplace: an update deletes and creates the instance only by a claim.
func TestUpdatesThatReplace(t *testing.T) {
	const steps = "a joins a=1; a update(a=2) deletes a!1 owns a=2 ok"
	for _, claims := range []Claims{{Path: "/m"}, {Path: "/m", Replaces: true}} {
		tests := []claimTest{{Name: "in an update", Steps: steps},
			{Name: "and once more", Bad: lin.Presence,
				Says:  "a deleted its own /m/a at step 8, though it had joined",
				Steps: steps + "; a deletes a!1; a owns a=2"}}
		if !claims.Replaces {
			tests[0].Bad, tests[0].Says = lin.Presence, "a deleted its own /m/a at step 5"
			tests = tests[:1]
		}
		judgingtest.CheckHistories(t, judgingtest.Always(claims), tests)
	}
}

// TestInstancesWithNamesOfTheirOwn has znodes whose data is the name of the instance.
func TestInstancesWithNamesOfTheirOwn(t *testing.T) {
	claims := Claims{Path: "/m", Within: time.Second,
		Instance: func(path, znode string) (name, data string, ok bool) {
			return strings.Cut(znode, ":")
		}, Data: true}
	judgingtest.CheckHistories(t, judgingtest.Always(claims), []claimTest{
		{Name: "one znode after another",
			Steps: "a join(a=1) owns s/n-1=a:1 ok; b join(b=1) owns s/n-2=b:1 ok; " +
				"c sees a=1,b=1; b leave(b) deletes s/n-2!1 ok; c sees a=1"},
		{Name: "two znodes of one instance",
			Steps: "a join(a=1) owns s/n-1=a:1 ok; a owns s/n-2=a:1; a deletes s/n-1!1; " +
				"pass 2000; c sees a=1"},
		{Name: "gone with its last znode", Bad: lin.Answers,
			Says:  "c's view (steps 2007 to 2008) shows a=1, as it was until step 5",
			Steps: "a join(a=1) owns s/n-1=a:1 ok; a leave(a) deletes s/n-1!1 ok; pass 2000; c sees a=1"},
	})
}
