package linearizability

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

var thresholdAtT = ThresholdBarrier{Path: "/t", Patience: 50 * time.Millisecond}

// setsTo records a complete set.
func (f *fixture) setsTo(client, members string) {
	op := f.call(client, ops.Set, members)
	f.server(ServerEvent{Kind: DataChanged, Client: client, Path: "/t", Data: members})
	f.ret(op, OpOK, Result{})
}

// waits is a call of wait.
func (f *fixture) waits(client string) int { return f.call(client, ops.Wait, "") }

// pass lets waits return well.
func (f *fixture) pass(ops ...int) {
	for _, op := range ops {
		f.ret(op, OpOK, Result{})
	}
}

func TestThresholdBarriers(t *testing.T) {
	checkHistories(t, always(thresholdAtT), []claimTest{
		{name: "opens, lets the late pass, closes and opens again", build: func(f *fixture) {
			for range 2 {
				f.setsTo("a", "2")
				f.pass(f.waits("a"), f.waits("b"))
				f.pass(f.waits("c"))
			}
			f.left = &Leftovers{Watches: []WatchAtRest{{"a", "/t"}}}
		}},
		{name: "passes before it is set", bad: Safety,
			says: "a passed at step 2, but at no moment of its call was the barrier open: it " +
				"was never set", build: func(f *fixture) {
				f.pass(f.waits("a"))
				f.setsTo("b", "1")
			}},
		{name: "passes alone", bad: Safety,
			says: "a passed at step 5, but at no moment of its call was the barrier open: it " +
				"was set to 2 by a's set (steps 1 to 3), and no more than 1 member came",
			build: func(f *fixture) {
				f.setsTo("a", "2")
				f.pass(f.waits("a"))
			}},
		{name: "passes with one who has given up", bad: Safety, says: "b passed",
			build: func(f *fixture) {
				f.setsTo("a", "2")
				f.ret(f.waits("a"), OpUnknown, Result{})
				f.pass(f.waits("b"))
			}},
		{name: "passes with one who was cut off", build: func(f *fixture) {
			f.setsTo("a", "2")
			op := f.waits("a")
			f.creates("a", 1, "/t/a", "", 1)
			f.ret(op, OpUnknown, Result{})
			f.pass(f.waits("b"))
			f.deletes("a", 1, "/t/a", 0)
			f.left = &Leftovers{}
		}},
		{name: "passes with oneself", bad: Safety, says: "a passed", build: func(f *fixture) {
			f.setsTo("a", "2")
			op := f.waits("a")
			f.creates("a", 1, "/t/a", "", 1)
			f.ret(op, OpUnknown, Result{})
			f.pass(f.waits("a"))
		}},
		{name: "passes late when it was set anew", bad: Safety, says: "c passed",
			build: func(f *fixture) {
				f.setsTo("a", "2")
				f.pass(f.waits("a"), f.waits("b"))
				f.setsTo("a", "2")
				f.pass(f.waits("c"))
			}},
		{name: "passes late while it is set anew", build: func(f *fixture) {
			f.setsTo("a", "2")
			f.pass(f.waits("a"), f.waits("b"))
			set := f.call("a", ops.Set, "2")
			f.pass(f.waits("c"))
			f.server(ServerEvent{Kind: DataChanged, Client: "a", Path: "/t", Data: "2"})
			f.ret(set, OpOK, Result{})
			f.left = &Leftovers{}
		}},
		{name: "passes late after it was set anew, seen at the server", bad: Safety,
			says: "c passed", build: func(f *fixture) {
				f.setsTo("a", "2")
				f.pass(f.waits("a"), f.waits("b"))
				set := f.call("a", ops.Set, "2")
				f.server(ServerEvent{Kind: DataChanged, Client: "a", Path: "/t", Data: "2"})
				f.pass(f.waits("c"))
				f.ret(set, OpOK, Result{})
			}},
		{name: "the slow one passes in the next round", build: func(f *fixture) {
			f.setsTo("a", "2")
			slow := f.waits("b")
			f.pass(f.waits("a"))
			f.setsTo("a", "3")
			f.pass(slow)
			f.left = &Leftovers{}
		}},
		{name: "the number becomes smaller", build: func(f *fixture) {
			f.setsTo("a", "3")
			first, second := f.waits("b"), f.waits("c")
			f.setsTo("a", "2")
			f.pass(first, second)
			f.left = &Leftovers{}
		}},
		{name: "the number becomes greater", bad: Safety, says: "passed", build: func(f *fixture) {
			f.setsTo("a", "2")
			first := f.waits("b")
			f.setsTo("a", "3")
			f.pass(first, f.waits("c"))
		}},
		{name: "is set twice by one call", bad: Delivery, says: "was applied twice",
			build: func(f *fixture) {
				op := f.call("a", ops.Set, "1")
				f.server(ServerEvent{Kind: DataChanged, Client: "a", Path: "/t", Data: "1"})
				f.server(ServerEvent{Kind: DataChanged, Client: "a", Path: "/t", Data: "1"})
				f.ret(op, OpOK, Result{})
				f.left = &Leftovers{}
			}},
		{name: "waits for others", build: func(f *fixture) {
			f.setsTo("a", "2")
			f.waits("a")
			f.left = &Leftovers{}
		}},
		{name: "never passes", bad: Liveness, says: "a's wait (step 4, pending) never returned",
			build: func(f *fixture) {
				f.setsTo("a", "2")
				f.waits("a")
				f.waits("b")
				f.left = &Leftovers{}
			}},
		{name: "never passes what is open", bad: Liveness, says: "b's wait",
			build: func(f *fixture) {
				f.setsTo("a", "1")
				f.pass(f.waits("a"))
				f.waits("b")
				f.left = &Leftovers{}
			}},
		{name: "gives up beside enough others", bad: Liveness,
			says: "enough had been waiting: 2 members", build: giveUpAtT},
		{name: "gives up beside one who was cut off", build: func(f *fixture) {
			giveUpAtT(f)
			f.h.Notices = append(f.h.Notices,
				Notice{Client: "b", Step: 90, Time: 90 * time.Millisecond, Kind: Disconnected})
		}},
		{name: "gives up when it was set to more", build: func(f *fixture) {
			giveUpAtT(f)
			f.h.Ops = append(f.h.Ops,
				Op{Client: "c", Kind: ops.Set, Input: "3", Call: 60, Return: 70,
					CallTime: 60 * time.Millisecond, ReturnTime: 70 * time.Millisecond,
					Outcome: OpOK})
		}},
		{name: "gives up at an open barrier", bad: Liveness,
			says: "the barrier had been open: a had passed at step 6",
			build: func(f *fixture) {
				f.setsTo("a", "2")
				f.pass(f.waits("a"), f.waits("c"))
				op := f.waits("b")
				f.step = 101
				f.ret(op, OpUnknown, Result{})
				f.left = &Leftovers{}
			}},
		{name: "something is left", bad: Orphans, says: "/t/m is left below /t",
			build: func(f *fixture) {
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/t"}, {Path: "/t/m"}}}
			}},
	})
}

// giveUpAtT lets two clients wait in vain; the first gives up.
func giveUpAtT(f *fixture) {
	f.setsTo("a", "2")
	a, b := f.waits("a"), f.waits("b")
	f.step = 101
	f.ret(a, OpUnknown, Result{})
	f.ret(b, OpUnknown, Result{})
	f.left = &Leftovers{}
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
func randomThreshold(t *rapid.T) History {
	s := &thresholdScene{walkers: []*walker{{name: "a"}, {name: "b"}, {name: "c"}}}
	for range rapid.IntRange(10, 80).Draw(t, "steps") {
		s.step += 9
		s.act(t, rapid.SampledFrom(s.walkers).Draw(t, "walker"))
	}
	return s.history()
}

func (s *thresholdScene) act(t *rapid.T, w *walker) {
	switch {
	case w.state == "" && rapid.IntRange(0, 3).Draw(t, "sets") == 0:
		w.members = rapid.IntRange(1, 3).Draw(t, "members")
		w.op, w.state = s.call(w.name, ops.Set, strconv.Itoa(w.members)), "setting"
	case w.state == "":
		w.op, w.state = s.waits(w.name), "waiting"
	case w.state == "setting":
		s.members, s.open = w.members, false
		s.server(ServerEvent{Kind: DataChanged, Client: w.name, Path: "/t",
			Data: strconv.Itoa(w.members)})
		w.state = "set"
	case w.state == "set":
		outcome := rapid.SampledFrom([]Outcome{OpOK, OpOK, OpUnknown}).Draw(t, "outcome")
		s.ret(w.op, outcome, Result{})
		w.state = ""
	case w.state == "passing":
		s.pass(w.op)
		w.state = ""
	case rapid.IntRange(0, 5).Draw(t, "gives up") == 0:
		s.ret(w.op, OpUnknown, Result{})
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

func judgeThresholdAtT(h History) Report {
	return Judge(h, nil, ThresholdBarrier{Path: "/t"})
}

// judgeThresholdUnseen judges by the calls alone.
func judgeThresholdUnseen(h History) Report {
	h.Server = nil
	return judgeThresholdAtT(h)
}

func TestCorrectThresholdBarriersAreFoundCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := randomThreshold(t)
		for _, r := range []Report{judgeThresholdAtT(h), judgeThresholdUnseen(h)} {
			if r.Status() == Violated {
				t.Fatalf("%s\n%s", r, dump(h))
			}
		}
	})
}

func TestBrokenThresholdBarriersAreFoundBroken(t *testing.T) {
	checkMutations(t, randomThreshold, judgeThresholdAtT, []mutation{
		{"one who passes before all", passFirst, []string{Safety}, 0},
		{"one who passes what was set anew", passAnew, []string{Safety}, 0},
		{"a set that is applied again", repeatChange(setAgain, ops.Set), []string{Delivery}, 0},
		{"sets that were never made", dropSets, []string{Safety}, 0},
	})
	checkMutations(t, randomThreshold, judgeThresholdUnseen, []mutation{
		{"one who passes before all", passFirst, []string{Safety}, 0},
		{"one who passes what was set anew", passAnew, []string{Safety},
			65}, // a set in doubt may come after it
	})
	checkMutations(t, randomThreshold,
		func(h History) Report { return Judge(h, &Leftovers{}, thresholdAtT) }, []mutation{
			{"a hanging set", neverReturns(ops.Set), []string{Liveness}, 0},
			{"one who never passes", waitForEver, []string{Liveness}, 0},
		})
}

func setAgain(h *History, e ServerEvent) ServerEvent {
	e.Step++
	return e
}

// passFirst lets a client pass before the first event.
func passFirst(_ *rapid.T, h *History) bool {
	h.Ops = append(h.Ops, Op{Client: "z", Kind: ops.Wait, Call: -9, Return: -8, Outcome: OpOK})
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
func settle(h *History) {
	for i, op := range h.Ops {
		if op.pending() {
			h.Ops[i].Outcome, h.Ops[i].Return = OpFailed, h.End
		}
	}
}

// passAnew appends a set to two members, and lets one client pass.
func passAnew(_ *rapid.T, h *History) bool {
	settle(h)
	h.Ops = append(h.Ops,
		Op{
			Client: "z", Kind: ops.Set, Input: "2", Call: h.End + 1, Return: h.End + 3,
			Outcome: OpOK,
		},
		Op{Client: "z", Kind: ops.Wait, Call: h.End + 4, Return: h.End + 5, Outcome: OpOK})
	return true
}

// dropSets removes all sets from a history in which a client has passed.
func dropSets(_ *rapid.T, h *History) bool {
	h.Ops = slices.DeleteFunc(h.Ops, func(op Op) bool { return op.Kind == ops.Set })
	return slices.ContainsFunc(h.Ops, func(op Op) bool { return op.ok() })
}

// waitForEver appends a wait that returns and one that does not.
func waitForEver(_ *rapid.T, h *History) bool {
	settle(h)
	h.Ops = append(h.Ops,
		Op{
			Client: "z", Kind: ops.Set, Input: "1", Call: h.End + 1, Return: h.End + 3,
			Outcome: OpOK,
		},
		Op{Client: "z", Kind: ops.Wait, Call: h.End + 4, Return: h.End + 5, Outcome: OpOK},
		Op{Client: "y", Kind: ops.Wait, Call: h.End + 6, Return: -1})
	return true
}
