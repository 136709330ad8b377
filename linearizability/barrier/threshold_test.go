package barrier

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

var thresholdAtT = Threshold{Path: "/t", Patience: 50 * time.Millisecond}

// waits is a call of wait.
func (f *fixture) waits(client string) int { return f.Call(client, ops.Wait, "") }

// pass lets waits return well.
func (f *fixture) pass(ops ...int) {
	for _, op := range ops {
		f.Ret(op, lin.OpOK, lin.Result{})
	}
}

func TestThresholdBarriersWithStaleReads(t *testing.T) {
	claims := thresholdAtT
	claims.StaleReads = true
	judgingtest.CheckHistories(t, judgingtest.Always(claims), []claimTest{
		{Name: "passes late when another has set it anew",
			Steps: "a sets 2; a wait(); b wait(); a ok; b ok; a sets 2; c wait() ok; rest"},
		{Name: "passes late when it has set it anew itself", Bad: lin.Safety, Says: "a passed",
			Steps: "a sets 2; a wait(); b wait(); a ok; b ok; a sets 2; a wait() ok"},
	})
}

func TestThresholdBarriers(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(thresholdAtT), []claimTest{
		{Name: "opens, lets the late pass, closes and opens again",
			Steps: "a sets 2; a wait(); b wait(); a ok; b ok; c wait() ok; a sets 2; a wait(); " +
				"b wait(); a ok; b ok; c wait() ok; a watches /t"},
		{Name: "passes before it is set", Bad: lin.Safety,
			Says: "a passed at step 2, but at no moment of its call was the barrier open: it " +
				"was never set", Steps: "a wait() ok; b sets 1"},
		{Name: "passes alone", Bad: lin.Safety,
			Says: "a passed at step 5, but at no moment of its call was the barrier open: it " +
				"was set to 2 by a's set (steps 1 to 3), and no more than 1 member came",
			Steps: "a sets 2; a wait() ok"},
		{Name: "passes with one who has given up", Bad: lin.Safety, Says: "b passed",
			Steps: "a sets 2; a wait() unknown; b wait() ok"},
		{Name: "passes with one who was cut off",
			Steps: "a sets 2; a@1 wait() owns /t/a unknown; b wait() ok; a@1 deletes /t/a; rest"},
		{Name: "passes with oneself", Bad: lin.Safety, Says: "a passed",
			Steps: "a sets 2; a@1 wait() owns /t/a unknown; a wait() ok"},
		{Name: "passes late when it was set anew", Bad: lin.Safety, Says: "c passed",
			Steps: "a sets 2; a wait(); b wait(); a ok; b ok; a sets 2; c wait() ok"},
		{Name: "passes late when it was set anew, and does not claim stale reads", Bad: lin.Safety,
			Says:  "(the claim StaleReads would allow it)",
			Steps: "a sets 2; a wait(); b wait(); a ok; b ok; a sets 2; c wait() ok"},
		{Name: "passes late while it is set anew",
			Steps: "a sets 2; a wait(); b wait(); a ok; b ok; a set(2); c wait() ok; " +
				"a stores /t=2; a ok; rest"},
		{Name: "passes late after it was set anew, seen at the server", Bad: lin.Safety,
			Says: "c passed",
			Steps: "a sets 2; a wait(); b wait(); a ok; b ok; a set(2) stores /t=2; " +
				"c wait() ok; a ok"},
		{Name: "the slow one passes in the next round",
			Steps: "a sets 2; b wait(); a wait() ok; a sets 3; b ok; rest"},
		{Name: "the number becomes smaller",
			Steps: "a sets 3; b wait(); c wait(); a sets 2; b ok; c ok; rest"},
		{Name: "the number becomes greater", Bad: lin.Safety, Says: "passed",
			Steps: "a sets 2; b wait(); a sets 3; c wait(); b ok; c ok"},
		{Name: "is set twice by one call", Bad: lin.Delivery, Says: "was applied twice",
			Steps: "a set(1) stores /t=1 stores /t=1 ok; rest"},
		{Name: "waits for others", Steps: "a sets 2; a wait(); rest"},
		{Name: "never passes", Bad: lin.Liveness, Says: "a's wait (step 4, pending) never returned",
			Steps: "a sets 2; a wait(); b wait(); rest"},
		{Name: "never passes what is open", Bad: lin.Liveness, Says: "b's wait",
			Steps: "a sets 1; a wait() ok; b wait(); rest"},
		{Name: "gives up beside enough others", Bad: lin.Liveness,
			Says:  "2 members had been waiting, and the barrier was set to 2",
			Steps: "a sets 2; a wait(); b wait(); pass 96; a unknown; b unknown; rest"},
		{Name: "gives up beside one who was cut off",
			Steps: "a sets 2; a wait(); b wait(); pass 84; b told disconnected; pass 11; " +
				"a unknown; b unknown; rest"},
		{Name: "gives up when it was set to more",
			Steps: "a sets 2; a wait(); b wait(); pass 54; c set(3); pass 9; c ok; pass 31; " +
				"a unknown; b unknown; rest"},
		{Name: "gives up at an open barrier", Bad: lin.Liveness,
			Says:  "the barrier had been open: a had passed at step 6",
			Steps: "a sets 2; a wait(); c wait(); a ok; c ok; b wait(); pass 93; b unknown; rest"},
		{Name: "something is left", Bad: lin.Orphans, Says: "/t/m is left below /t",
			Steps: "rest /t /t/m"},
	})
}

// walker is a client of a correct threshold barrier.
type walker struct {
	name    string
	state   string // "", waiting, passing, setting, set
	op      int
	members int // of the setting
}

// thresholdScene is a correct threshold barrier and its clients.
type thresholdScene struct {
	fixture
	walkers []*walker
	members int // 0: not set yet
	open    bool
}

// randomThreshold makes valid histories of a barrier with three clients.
func randomThreshold(t *rapid.T) lin.History {
	s := &thresholdScene{walkers: []*walker{{name: "a"}, {name: "b"}, {name: "c"}}}
	for range rapid.IntRange(10, 80).Draw(t, "steps") {
		s.Step += 9
		s.act(t, rapid.SampledFrom(s.walkers).Draw(t, "walker"))
	}
	return s.History()
}

func (s *thresholdScene) act(t *rapid.T, w *walker) {
	switch {
	case w.state == "" && rapid.IntRange(0, 3).Draw(t, "sets") == 0:
		w.members = rapid.IntRange(1, 3).Draw(t, "members")
		w.op, w.state = s.Call(w.name, ops.Set, strconv.Itoa(w.members)), "setting"
	case w.state == "":
		w.op, w.state = s.waits(w.name), "waiting"
	case w.state == "setting":
		s.members, s.open = w.members, false
		s.Server(lin.ServerEvent{Kind: lin.DataChanged, Client: w.name, Path: "/t",
			Data: strconv.Itoa(w.members)})
		w.state = "set"
	case w.state == "set":
		outcome := rapid.SampledFrom([]lin.Outcome{lin.OpOK, lin.OpOK, lin.OpUnknown}).Draw(t, "outcome")
		s.Ret(w.op, outcome, lin.Result{})
		w.state = ""
	case w.state == "passing":
		s.pass(w.op)
		w.state = ""
	case rapid.IntRange(0, 5).Draw(t, "gives up") == 0:
		s.Ret(w.op, lin.OpUnknown, lin.Result{})
		w.state = ""
	default:
		s.look()
		if s.open {
			w.state = "passing"
		}
	}
}

// look opens the barrier if enough wait.
func (s *thresholdScene) look() {
	var waiting []*walker
	for _, w := range s.walkers {
		if w.state == "waiting" {
			waiting = append(waiting, w)
		}
	}
	if s.open || s.members == 0 || len(waiting) < s.members {
		return
	}
	s.open = true
	for _, w := range waiting {
		w.state = "passing"
	}
}

func judgeThresholdAtT(h lin.History) lin.Report {
	return judgingtest.Judge(h, nil, Threshold{Path: "/t"})
}

// judgeThresholdUnseen judges by the calls alone.
func judgeThresholdUnseen(h lin.History) lin.Report {
	h.Server = nil
	return judgeThresholdAtT(h)
}

func TestCorrectThresholdBarriersAreFoundCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := randomThreshold(t)
		for _, r := range []lin.Report{judgeThresholdAtT(h), judgeThresholdUnseen(h)} {
			if r.Status() == lin.Violated {
				t.Fatalf("%s\n%s", r, judgingtest.Dump(h))
			}
		}
	})
}

func TestBrokenThresholdBarriersAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomThreshold, judgeThresholdAtT, []mutation{
		{"one who passes before all", passFirst, []string{lin.Safety}, 0},
		{"one who passes what was set anew", passAnew, []string{lin.Safety}, 0},
		{"a set that is applied again", judgingtest.RepeatChange(setAgain, ops.Set), []string{lin.Delivery}, 0},
		{"sets that were never made", dropSets, []string{lin.Safety}, 0},
	})
	judgingtest.CheckMutations(t, randomThreshold, judgeThresholdUnseen, []mutation{
		{"one who passes before all", passFirst, []string{lin.Safety}, 0},
		{"one who passes what was set anew", passAnew, []string{lin.Safety},
			65}, // a set in doubt may come after it
	})
	judgingtest.CheckMutations(t, randomThreshold,
		func(h lin.History) lin.Report {
			return judgingtest.Judge(h, &lin.Leftovers{},
				thresholdAtT)
		}, []mutation{
			{"a hanging set", judgingtest.NeverReturns(ops.Set), []string{lin.Liveness}, 0},
			{"one who never passes", waitForEver, []string{lin.Liveness}, 0},
		})
}

func setAgain(h *lin.History, e lin.ServerEvent) lin.ServerEvent {
	e.Step++
	return e
}

// passFirst lets a client pass before the first event.
func passFirst(_ *rapid.T, h *lin.History) bool {
	h.Ops = append(h.Ops, lin.Op{Client: "z", Kind: ops.Wait, Call: -9, Return: -8, Outcome: lin.OpOK})
	for i := range h.Ops {
		h.Ops[i].Call += 10
		if h.Ops[i].Return >= 0 || h.Ops[i].Client == "z" {
			h.Ops[i].Return += 10
		}
	}
	for i := range h.Server {
		h.Server[i].Step += 10
	}
	return true
}

// settle ends all calls.
func settle(h *lin.History) {
	for i, op := range h.Ops {
		if op.Pending() {
			h.Ops[i].Outcome, h.Ops[i].Return = lin.OpFailed, h.End
		}
	}
}

// passAnew appends a set to two members, and lets one client pass.
func passAnew(_ *rapid.T, h *lin.History) bool {
	settle(h)
	h.Ops = append(h.Ops,
		lin.Op{
			Client: "z", Kind: ops.Set, Input: "2", Call: h.End + 1, Return: h.End + 3,
			Outcome: lin.OpOK,
		},
		lin.Op{Client: "z", Kind: ops.Wait, Call: h.End + 4, Return: h.End + 5, Outcome: lin.OpOK})
	return true
}

// dropSets removes all sets from a history in which a client has passed.
func dropSets(_ *rapid.T, h *lin.History) bool {
	h.Ops = slices.DeleteFunc(h.Ops, func(op lin.Op) bool { return op.Kind == ops.Set })
	return slices.ContainsFunc(h.Ops, func(op lin.Op) bool { return op.OK() })
}

// waitForEver appends a wait that returns and one that does not.
func waitForEver(_ *rapid.T, h *lin.History) bool {
	settle(h)
	h.Ops = append(h.Ops,
		lin.Op{
			Client: "z", Kind: ops.Set, Input: "1", Call: h.End + 1, Return: h.End + 3,
			Outcome: lin.OpOK,
		},
		lin.Op{Client: "z", Kind: ops.Wait, Call: h.End + 4, Return: h.End + 5, Outcome: lin.OpOK},
		lin.Op{Client: "y", Kind: ops.Wait, Call: h.End + 6, Return: -1})
	return true
}
