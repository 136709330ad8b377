package barrier

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

var barrierAtB = Claims{Path: "/b"}

func TestBarriers(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(barrierAtB), []claimTest{
		{Name: "set, waited for and removed",
			Steps: "b wait() ok; a raises; c isset() -> true; b wait(); a lowers; b ok; " +
				"c isset() -> false; rest"},
		{Name: "set when it is up, removed when it is down",
			Steps: "a remove() ok; a raises; b set() ok; a lowers; rest"},
		{Name: "removed and set again while somebody waits",
			Steps: "a raises; b wait(); a lowers; a raises; b ok; rest /b; b watches /b"},
		{Name: "waited for, and watched when it is down", Bad: lin.Orphans,
			Says: "a watch of b on /b", Steps: "a raises; b wait(); a lowers; b ok; b watches /b"},
		{Name: "passed while it is up", Bad: lin.Linearizability,
			Says: "b's wait() (steps 4 to 5), but the barrier was up from step 2 on", Steps: "a raises; b wait() ok"},
		{Name: "seen up while it is down", Bad: lin.Linearizability, Says: "isset() -> true",
			Steps: "b isset() -> true"},
		{Name: "set, which it was not", Bad: lin.Linearizability, Says: "set()",
			Steps: "b raises; b lowers; a set() ok"},
		{Name: "a remove that takes two", Bad: lin.Delivery,
			Says:  "a's remove (steps 4 to 9) was applied twice: at steps 5 and 8",
			Steps: "a raises; a remove() deletes /b; b set() creates /b; a deletes /b; a ok; b ok"},
		{Name: "failed, and removed", Bad: lin.Delivery, Says: "although it said that it was not",
			Steps: "a raises; a remove() deletes /b failed"},
		{Name: "gone by itself", Bad: lin.Delivery,
			Says:  "the server removed the barrier at step 4, and no remove accounts for that",
			Steps: "a raises; server deletes /b"},
		{Name: "waits at a barrier that is down", Bad: lin.Liveness,
			Says:  "b's wait (step 4, pending) never returned",
			Steps: "a raises; b wait(); a lowers; rest"},
		{Name: "waits at a barrier that is up", Steps: "a raises; b wait(); rest /b"},
		{Name: "something is left", Bad: lin.Orphans, Says: "/b/x is left below /b",
			Steps: "a raises; rest /b /b/x"},
	})
}

func TestBarriersWithStaleReads(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/b"
		return opts
	}, []historyTest[Claims]{
		{Name: "not claimed", Bad: lin.Linearizability, Says: "(the claim StaleReads would allow it)",
			Steps: "a raises; b isset() -> false"},
		{Name: "claimed", Opts: Claims{StaleReads: true},
			Steps: "a raises; b isset() -> false; b wait() ok; b isset() -> true; rest /b"},
		{Name: "goes back", Opts: Claims{StaleReads: true}, Bad: lin.Linearizability,
			Says:  "b's isset() -> false (steps 6 to 7) was so at no time since b's isset (steps 4 to 5)",
			Steps: "a raises; b isset() -> true; b isset() -> false"},
		{Name: "passes after its own set", Opts: Claims{StaleReads: true}, Bad: lin.Linearizability,
			Says: "b's wait() (steps 4 to 5) was so at no time", Steps: "b raises; b wait() ok"},
		{Name: "a session of its own for each call", Opts: Claims{StaleReads: true},
			Steps: "b@1 starts; b@2 starts; b raises; b isset() -> false; rest /b"},
	})
}

// randomBarrier makes valid histories of a barrier. A wait that finds the barrier up returns after
// another client removes it.
func randomBarrier(t *rapid.T) lin.History {
	up := false
	f := &fixture{}
	s := &judgingtest.Simulator{Fixture: &f.Fixture, T: t}
	s.Begin = func(string) (kind, input string) {
		return rapid.SampledFrom([]string{ops.Set, ops.Set, ops.Remove, ops.Wait,
			ops.IsSet}).Draw(t, "call"), ""
	}
	s.Apply = func(client, kind, _ string) lin.Result {
		switch {
		case kind == ops.Set && !up:
			s.Creates(client, 0, "/b", "", 0)
			up = true
		case kind == ops.Remove && up:
			s.Deletes(client, 0, "/b", 0)
			up = false
		case kind == ops.Wait && up:
			f.Plays("z lowers")
			up = false
		case kind == ops.IsSet:
			s.Next()
			return lin.Result{Output: strconv.FormatBool(up)}
		}
		s.Next()
		return lin.Result{}
	}
	return s.Play()
}

// judgeBarrierAtB judges a barrier that may be left up.
func judgeBarrierAtB(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, barrierAtB)
}

func TestCorrectBarriersAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomBarrier, judgeBarrierAtB)
}

// TestCorrectBarriersWithoutLog: a change of unknown outcome may have happened or not.
func TestCorrectBarriersWithoutLog(t *testing.T) {
	judgingtest.CheckWithoutLog(t, randomBarrier, judgeBarrierAtB)
}

func TestBrokenBarriersAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomBarrier, judgeBarrierAtB, []mutation{
		{"seen down while it is up", lookWhileUp, []string{lin.Linearizability}, 0},
		{"a change that never happened", judgingtest.DropChange(ops.Set, ops.Remove),
			[]string{lin.Delivery, lin.Linearizability}, 60},
		{ // an earlier call of unknown outcome may have made the change
			"failed, and applied", judgingtest.SayFailed(ops.Set, ops.Remove),
			[]string{lin.Delivery}, 70,
		},
		{"a change after the end", judgingtest.MoveBeyond(ops.Set, ops.Remove),
			[]string{lin.Delivery, lin.Linearizability}, 50},
		{"passed while it is up", passWhileUp, []string{lin.Linearizability}, 0},
		{"nobody's change", strayChange, []string{lin.Delivery}, 0},
		{
			"a hanging call", judgingtest.NeverReturns(ops.Set, ops.Remove, ops.Wait, ops.IsSet),
			[]string{lin.Liveness}, 0,
		},
	})
}

// passWhileUp makes a wait return while the barrier is up.
var passWhileUp = judgingtest.OnEvent(judgingtest.OfKind(lin.NodeCreated),
	func(h *lin.History, e *lin.ServerEvent) {
		h.Ops = append(h.Ops, lin.Op{Client: "y", Kind: ops.Wait, Call: e.Step + 1,
			Return: e.Step + 2, Outcome: lin.OpOK})
	})

// lookWhileUp makes a client see the barrier down while it is up.
func lookWhileUp(t *rapid.T, h *lin.History) bool {
	if !passWhileUp(t, h) {
		return false
	}
	op := &h.Ops[len(h.Ops)-1]
	op.Kind, op.Output = ops.IsSet, "false"
	return true
}

// strayChange makes a client remove the barrier without a call.
var strayChange = judgingtest.OnEvent(judgingtest.OfKind(lin.NodeCreated),
	func(h *lin.History, e *lin.ServerEvent) {
		h.Server = append(h.Server, lin.ServerEvent{Step: e.Step + 1, Kind: lin.NodeDeleted,
			Path: "/b", Client: "y", Session: 'y'})
	})
