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

// setsTo records a complete set.
func (f *fixture) setsTo(client, members string) {
	op := f.Call(client, ops.Set, members)
	f.Server(lin.ServerEvent{Kind: lin.DataChanged, Client: client, Path: "/t", Data: members})
	f.Ret(op, lin.OpOK, lin.Result{})
}

// waits is a call of wait.
func (f *fixture) waits(client string) int { return f.Call(client, ops.Wait, "") }

// pass lets waits return well.
func (f *fixture) pass(ops ...int) {
	for _, op := range ops {
		f.Ret(op, lin.OpOK, lin.Result{})
	}
}

func TestThresholdBarriers(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(thresholdAtT), []claimTest{
		{Name: "opens, lets the late pass, closes and opens again", Build: func(f *fixture) {
			for range 2 {
				f.setsTo("a", "2")
				f.pass(f.waits("a"), f.waits("b"))
				f.pass(f.waits("c"))
			}
			f.Left = &lin.Leftovers{Watches: []lin.WatchAtRest{{Client: "a", Path: "/t"}}}
		}},
		{Name: "passes before it is set", Bad: lin.Safety,
			Says: "a passed at step 2, but at no moment of its call was the barrier open: it " +
				"was never set", Build: func(f *fixture) {
				f.pass(f.waits("a"))
				f.setsTo("b", "1")
			}},
		{Name: "passes alone", Bad: lin.Safety,
			Says: "a passed at step 5, but at no moment of its call was the barrier open: it " +
				"was set to 2 by a's set (steps 1 to 3), and no more than 1 member came",
			Build: func(f *fixture) {
				f.setsTo("a", "2")
				f.pass(f.waits("a"))
			}},
		{Name: "passes with one who has given up", Bad: lin.Safety, Says: "b passed",
			Build: func(f *fixture) {
				f.setsTo("a", "2")
				f.Ret(f.waits("a"), lin.OpUnknown, lin.Result{})
				f.pass(f.waits("b"))
			}},
		{Name: "passes with one who was cut off", Build: func(f *fixture) {
			f.setsTo("a", "2")
			op := f.waits("a")
			f.Creates("a", 1, "/t/a", "", 1)
			f.Ret(op, lin.OpUnknown, lin.Result{})
			f.pass(f.waits("b"))
			f.Deletes("a", 1, "/t/a", 0)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "passes with oneself", Bad: lin.Safety, Says: "a passed", Build: func(f *fixture) {
			f.setsTo("a", "2")
			op := f.waits("a")
			f.Creates("a", 1, "/t/a", "", 1)
			f.Ret(op, lin.OpUnknown, lin.Result{})
			f.pass(f.waits("a"))
		}},
		{Name: "passes late when it was set anew", Bad: lin.Safety, Says: "c passed",
			Build: func(f *fixture) {
				f.setsTo("a", "2")
				f.pass(f.waits("a"), f.waits("b"))
				f.setsTo("a", "2")
				f.pass(f.waits("c"))
			}},
		{Name: "passes late while it is set anew", Build: func(f *fixture) {
			f.setsTo("a", "2")
			f.pass(f.waits("a"), f.waits("b"))
			set := f.Call("a", ops.Set, "2")
			f.pass(f.waits("c"))
			f.Server(lin.ServerEvent{Kind: lin.DataChanged, Client: "a", Path: "/t", Data: "2"})
			f.Ret(set, lin.OpOK, lin.Result{})
			f.Left = &lin.Leftovers{}
		}},
		{Name: "passes late after it was set anew, seen at the server", Bad: lin.Safety,
			Says: "c passed", Build: func(f *fixture) {
				f.setsTo("a", "2")
				f.pass(f.waits("a"), f.waits("b"))
				set := f.Call("a", ops.Set, "2")
				f.Server(lin.ServerEvent{Kind: lin.DataChanged, Client: "a", Path: "/t", Data: "2"})
				f.pass(f.waits("c"))
				f.Ret(set, lin.OpOK, lin.Result{})
			}},
		{Name: "the slow one passes in the next round", Build: func(f *fixture) {
			f.setsTo("a", "2")
			slow := f.waits("b")
			f.pass(f.waits("a"))
			f.setsTo("a", "3")
			f.pass(slow)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "the number becomes smaller", Build: func(f *fixture) {
			f.setsTo("a", "3")
			first, second := f.waits("b"), f.waits("c")
			f.setsTo("a", "2")
			f.pass(first, second)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "the number becomes greater", Bad: lin.Safety, Says: "passed", Build: func(f *fixture) {
			f.setsTo("a", "2")
			first := f.waits("b")
			f.setsTo("a", "3")
			f.pass(first, f.waits("c"))
		}},
		{Name: "is set twice by one call", Bad: lin.Delivery, Says: "was applied twice",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Set, "1")
				f.Server(lin.ServerEvent{Kind: lin.DataChanged, Client: "a", Path: "/t", Data: "1"})
				f.Server(lin.ServerEvent{Kind: lin.DataChanged, Client: "a", Path: "/t", Data: "1"})
				f.Ret(op, lin.OpOK, lin.Result{})
				f.Left = &lin.Leftovers{}
			}},
		{Name: "waits for others", Build: func(f *fixture) {
			f.setsTo("a", "2")
			f.waits("a")
			f.Left = &lin.Leftovers{}
		}},
		{Name: "never passes", Bad: lin.Liveness, Says: "a's wait (step 4, pending) never returned",
			Build: func(f *fixture) {
				f.setsTo("a", "2")
				f.waits("a")
				f.waits("b")
				f.Left = &lin.Leftovers{}
			}},
		{Name: "never passes what is open", Bad: lin.Liveness, Says: "b's wait",
			Build: func(f *fixture) {
				f.setsTo("a", "1")
				f.pass(f.waits("a"))
				f.waits("b")
				f.Left = &lin.Leftovers{}
			}},
		{Name: "gives up beside enough others", Bad: lin.Liveness,
			Says: "enough had been waiting: 2 members", Build: giveUpAtT},
		{Name: "gives up beside one who was cut off", Build: func(f *fixture) {
			giveUpAtT(f)
			f.H.Notices = append(f.H.Notices,
				lin.Notice{Client: "b", Step: 90, Time: 90 * time.Millisecond, Kind: lin.Disconnected})
		}},
		{Name: "gives up when it was set to more", Build: func(f *fixture) {
			giveUpAtT(f)
			f.H.Ops = append(f.H.Ops,
				lin.Op{Client: "c", Kind: ops.Set, Input: "3", Call: 60, Return: 70,
					CallTime: 60 * time.Millisecond, ReturnTime: 70 * time.Millisecond,
					Outcome: lin.OpOK})
		}},
		{Name: "gives up at an open barrier", Bad: lin.Liveness,
			Says: "the barrier had been open: a had passed at step 6",
			Build: func(f *fixture) {
				f.setsTo("a", "2")
				f.pass(f.waits("a"), f.waits("c"))
				op := f.waits("b")
				f.Step = 101
				f.Ret(op, lin.OpUnknown, lin.Result{})
				f.Left = &lin.Leftovers{}
			}},
		{Name: "something is left", Bad: lin.Orphans, Says: "/t/m is left below /t",
			Build: func(f *fixture) {
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/t"}, {Path: "/t/m"}}}
			}},
	})
}

// giveUpAtT lets two clients wait in vain; the first gives up.
func giveUpAtT(f *fixture) {
	f.setsTo("a", "2")
	a, b := f.waits("a"), f.waits("b")
	f.Step = 101
	f.Ret(a, lin.OpUnknown, lin.Result{})
	f.Ret(b, lin.OpUnknown, lin.Result{})
	f.Left = &lin.Leftovers{}
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
