package linearizability

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

var doubleAtD = DoubleBarrier{Path: "/d", Patience: 50 * time.Millisecond}

// departs records a complete leave.
func (f *fixture) departs(client string) { f.ret(f.call(client, ops.Leave, ""), OpOK, Result{}) }

// enterTogether lets a and b enter a barrier for two.
func enterTogether(f *fixture) {
	a, b := f.call("a", ops.Enter, "2"), f.call("b", ops.Enter, "2")
	f.ret(a, OpOK, Result{Session: 1})
	f.ret(b, OpOK, Result{Session: 2})
}

func TestDoubleBarriers(t *testing.T) {
	checkHistories(t, always(doubleAtD), []claimTest{
		{name: "in and out together, twice", build: func(f *fixture) {
			for range 2 {
				enterTogether(f)
				a, b := f.call("a", ops.Leave, ""), f.call("b", ops.Leave, "")
				f.ret(a, OpOK, Result{})
				f.ret(b, OpOK, Result{})
			}
			f.left = &Leftovers{}
		}},
		{name: "one enters, the other gives up", bad: Liveness,
			says: "a entered at step 3 with b, which gave up at step 64, after another 61ms",
			build: func(f *fixture) {
				a, b := f.call("a", ops.Enter, "2"), f.call("b", ops.Enter, "2")
				f.ret(a, OpOK, Result{})
				f.step += 60
				f.ret(b, OpUnknown, Result{})
			}},
		{name: "one enters, another is not needed", build: func(f *fixture) {
			a := f.call("a", ops.Enter, "2")
			b, c := f.call("b", ops.Enter, "2"), f.call("c", ops.Enter, "2")
			f.ret(a, OpOK, Result{})
			f.ret(b, OpOK, Result{})
			f.step += 60
			f.ret(c, OpUnknown, Result{})
		}},
		{name: "one enters, the other is cut off", build: func(f *fixture) {
			a, b := f.call("a", ops.Enter, "2"), f.call("b", ops.Enter, "2")
			f.ret(a, OpOK, Result{})
			f.step += 60
			f.told("b", Disconnected)
			f.ret(b, OpUnknown, Result{})
		}},
		{name: "enters alone", bad: Safety,
			says: "a entered at step 2, but at no moment of its call were 2 members there",
			build: func(f *fixture) {
				f.ret(f.call("a", ops.Enter, "2"), OpOK, Result{})
			}},
		{name: "enters with one who has given up", bad: Safety, says: "b entered",
			build: func(f *fixture) {
				f.ret(f.call("a", ops.Enter, "2"), OpUnknown, Result{})
				f.ret(f.call("b", ops.Enter, "2"), OpOK, Result{})
			}},
		{name: "enters with one who was cut off", build: func(f *fixture) {
			op := f.call("a", ops.Enter, "2")
			f.creates("a", 1, "/d/a", "", 1)
			f.ret(op, OpUnknown, Result{})
			f.ret(f.call("b", ops.Enter, "2"), OpOK, Result{})
			f.deletes("a", 1, "/d/a", 0)
			f.departs("b")
			f.left = &Leftovers{}
		}},
		{name: "enters with oneself", bad: Safety, says: "a entered", build: func(f *fixture) {
			op := f.call("a", ops.Enter, "2")
			f.creates("a", 1, "/d/a", "", 1)
			f.ret(op, OpUnknown, Result{})
			f.ret(f.call("a", ops.Enter, "2"), OpOK, Result{})
		}},
		{name: "enters with one who is in the round before", bad: Safety,
			says: "a entered at step 9", build: func(f *fixture) {
				enterTogether(f)
				b := f.call("b", ops.Leave, "")
				f.departs("a")
				f.ret(f.call("a", ops.Enter, "2"), OpOK, Result{})
				f.ret(b, OpOK, Result{})
			}},
		{name: "leaves alone", bad: Safety,
			says: "a had left at step 6, but b, which entered with it, was inside",
			build: func(f *fixture) {
				enterTogether(f)
				f.departs("a")
			}},
		{name: "leaves when the other's session has ended", build: func(f *fixture) {
			f.starts("b", 2)
			enterTogether(f)
			f.expires(2)
			f.departs("a")
			f.left = &Leftovers{}
		}},
		{name: "never enters", bad: Liveness, says: "a's enter (step 1, pending) never returned",
			build: func(f *fixture) {
				f.call("a", ops.Enter, "2")
				f.left = &Leftovers{}
			}},
		{name: "never leaves", bad: Liveness, says: "a's leave (step 5, pending) never returned",
			build: func(f *fixture) {
				enterTogether(f)
				f.call("a", ops.Leave, "")
				f.left = &Leftovers{}
			}},
		{name: "gives up beside the other", bad: Liveness,
			says: "gave up after 101ms, though 2 members", build: giveUpTogether},
		{name: "gives up beside one who was cut off", build: func(f *fixture) {
			giveUpTogether(f)
			f.h.Notices = append(f.h.Notices,
				Notice{Client: "b", Step: 90, Time: 90 * time.Millisecond, Kind: Disconnected})
		}},
		{name: "something is left", bad: Orphans, says: "/d/ready is left below /d",
			build: func(f *fixture) {
				enterTogether(f)
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/d"}, {Path: "/d/ready"}}}
			}},
	})
}

// giveUpTogether lets two wait in vain.
func giveUpTogether(f *fixture) {
	a, b := f.call("a", ops.Enter, "2"), f.call("b", ops.Enter, "2")
	f.step = 101
	f.ret(a, OpUnknown, Result{})
	f.ret(b, OpUnknown, Result{})
	f.left = &Leftovers{}
}

// guest is a client of a correct double barrier.
type guest struct {
	name  string
	state string // "", waiting, admitted, inside, leaving
	op    int
	group int
}

// randomDoubleBarrier makes valid histories of a barrier for two, among three.
func randomDoubleBarrier(t *rapid.T) History {
	f := &fixture{}
	guests := []*guest{{name: "a"}, {name: "b"}, {name: "c"}}
	groups := 0
	for range rapid.IntRange(10, 80).Draw(t, "steps") {
		f.step += 9
		g := rapid.SampledFrom(guests).Draw(t, "guest")
		switch {
		case g.state == "":
			g.op, g.state = f.call(g.name, ops.Enter, "2"), "waiting"
		case g.state == "waiting" && rapid.IntRange(0, 5).Draw(t, "gives up") == 0:
			f.ret(g.op, OpUnknown, Result{})
			g.state = ""
		case g.state == "waiting":
			groups = admit(guests, g, groups)
		case g.state == "admitted":
			f.ret(g.op, OpOK, Result{})
			g.state = "inside"
		case g.state == "inside":
			g.op, g.state = f.call(g.name, ops.Leave, ""), "leaving"
		case othersAreGone(guests, g):
			f.ret(g.op, OpOK, Result{})
			g.state = ""
		}
	}
	return f.history()
}

// admit makes a group of two waiting guests.
func admit(guests []*guest, g *guest, groups int) int {
	for _, other := range guests {
		if other != g && other.state == "waiting" {
			groups++
			g.state, other.state, g.group, other.group = "admitted", "admitted", groups, groups
			break
		}
	}
	return groups
}

func othersAreGone(guests []*guest, g *guest) bool {
	for _, other := range guests {
		if other != g && other.group == g.group &&
			(other.state == "admitted" || other.state == "inside") {
			return false
		}
	}
	return true
}

func judgeDoubleAtD(h History) Report {
	return Judge(h, nil, DoubleBarrier{Path: "/d"})
}

func TestCorrectDoubleBarriersAreFoundCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := randomDoubleBarrier(t)
		if r := judgeDoubleAtD(h); r.Status() == Violated {
			t.Fatalf("%s\n%s", r, dump(h))
		}
	})
}

func TestBrokenDoubleBarriersAreFoundBroken(t *testing.T) {
	checkMutations(t, randomDoubleBarrier, judgeDoubleAtD, []mutation{
		{"one who enters alone", enterAlone, []string{Safety}, 0},
		{"one who leaves at once", leaveAtOnce, []string{Safety}, 0},
	})
	checkMutations(t, randomDoubleBarrier,
		func(h History) Report { return Judge(h, &Leftovers{}, doubleAtD) }, []mutation{
			{"a hanging call", neverReturns(ops.Enter, ops.Leave), []string{Liveness}, 0},
		})
}

// enterAlone appends a client that enters alone.
func enterAlone(_ *rapid.T, h *History) bool {
	for i, op := range h.Ops {
		if op.pending() { // no other client may be there
			h.Ops[i].Outcome, h.Ops[i].Return = OpUnknown, h.End
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		h.Ops = append(h.Ops, Op{Client: name, Kind: ops.Leave, Call: h.End + 1, Return: -1})
	}
	h.Ops = append(h.Ops, Op{Client: "z", Kind: ops.Enter, Input: "2", Call: h.End + 5,
		Return: h.End + 6, Outcome: OpOK})
	return true
}

// leaveAtOnce appends two clients that enter together; one leaves while the other stays.
func leaveAtOnce(_ *rapid.T, h *History) bool {
	enterAlone(nil, h)
	h.Ops = append(h.Ops,
		Op{
			Client: "y", Kind: ops.Enter, Input: "2", Call: h.End + 5, Return: h.End + 7,
			Outcome: OpOK,
		},
		Op{Client: "z", Kind: ops.Leave, Call: h.End + 8, Return: h.End + 9, Outcome: OpOK})
	return true
}
