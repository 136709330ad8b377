package barrier

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

var doubleAtD = Double{Path: "/d", Patience: 50 * time.Millisecond}

func TestDoubleBarriers(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(doubleAtD), []claimTest{
		{Name: "in and out together, twice",
			Steps: "a enter(2); b enter(2); a ok@1; b ok@2; a leave(); b leave(); a ok; b ok; " +
				"a enter(2); b enter(2); a ok@1; b ok@2; a leave(); b leave(); a ok; b ok; rest"},
		{Name: "one enters, the other gives up", Bad: lin.Liveness,
			Says:  "a entered at step 3 with b, which gave up at step 64, after another 61ms",
			Steps: "a enter(2); b enter(2); a ok; pass 60; b unknown"},
		{Name: "one enters, another is not needed",
			Steps: "a enter(2); b enter(2); c enter(2); a ok; b ok; pass 60; c unknown"},
		{Name: "one enters, the other is cut off",
			Steps: "a enter(2); b enter(2); a ok; pass 60; b told disconnected; b unknown"},
		{Name: "enters alone", Bad: lin.Safety,
			Says:  "a entered at step 2, but at no moment of its call were 2 members there",
			Steps: "a enter(2) ok"},
		{Name: "enters with one who has given up", Bad: lin.Safety, Says: "b entered",
			Steps: "a enter(2) unknown; b enter(2) ok"},
		{Name: "enters with one who was cut off",
			Steps: "a@1 enter(2) owns /d/a unknown; b enter(2) ok; a@1 deletes /d/a; " +
				"b leave() ok; rest"},
		{Name: "enters with oneself", Bad: lin.Safety, Says: "a entered",
			Steps: "a@1 enter(2) owns /d/a unknown; a enter(2) ok"},
		{Name: "enters with one who is in the round before", Bad: lin.Safety,
			Says: "a entered at step 9",
			Steps: "a enter(2); b enter(2); a ok@1; b ok@2; b leave(); a leave() ok; " +
				"a enter(2) ok; b ok"},
		{Name: "leaves alone", Bad: lin.Safety,
			Says:  "a had left at step 6, but b, which entered with it, was inside",
			Steps: "a enter(2); b enter(2); a ok@1; b ok@2; a leave() ok"},
		{Name: "leaves when the other's session has ended",
			Steps: "b@2 starts; a enter(2); b enter(2); a ok@1; b ok@2; b@2 expires; " +
				"a leave() ok; rest"},
		{Name: "never enters", Bad: lin.Liveness,
			Says: "a's enter (step 1, pending) never returned", Steps: "a enter(2); rest"},
		{Name: "a member's place is lost", Bad: lin.Liveness,
			Says: "b's own znode /b-0 went at step 4, when session 0x62 ended, and then b's enter " +
				"(step 2, pending) never returned",
			Steps: "a enter(2); b enter(2) owns b-0; b expires b-0; rest"},
		{Name: "never leaves", Bad: lin.Liveness,
			Says:  "a's leave (step 5, pending) never returned",
			Steps: "a enter(2); b enter(2); a ok@1; b ok@2; a leave(); rest"},
		{Name: "gives up beside the other", Bad: lin.Liveness,
			Says:  "gave up after 101ms, though 2 members",
			Steps: "a enter(2); b enter(2); pass 99; a unknown; b unknown; rest"},
		{Name: "gives up without its place", Bad: lin.Liveness,
			Says:  "a's own znode /a-0 went at step 4, when session 0x61 ended, and then a's enter",
			Steps: "a enter(2) owns a-0; b enter(2); a expires a-0; pass 99; a unknown; b unknown; rest"},
		{Name: "gives up beside one who is in the round before",
			Steps: "a enter(1); b enter(1); a ok@1; b ok@2; a leave() unknown; a enter(1); pass 99; " +
				"a unknown; b leave() ok; rest"},
		{Name: "gives up beside one who had entered before it came",
			Steps: "c enter(1); a enter(1) ok@1; pass 99; c unknown; a leave() ok; rest"},
		{Name: "gives up after the round before", Bad: lin.Liveness,
			Says: "gave up after 100ms, though 1 member",
			Steps: "a enter(1); b enter(1); a ok@1; b ok@2; a leave() unknown; b leave() ok; " +
				"a enter(1); pass 99; a unknown; rest"},
		{Name: "gives up beside one who was cut off",
			Steps: "a enter(2); b enter(2); pass 87; b told disconnected; pass 11; a unknown; " +
				"b unknown; rest"},
		{Name: "something is left", Bad: lin.Orphans, Says: "/d/ready is left below /d",
			Steps: "a enter(2); b enter(2); a ok@1; b ok@2; rest /d /d/ready"},
	})
}

// guest is a client of a correct double barrier.
type guest struct {
	name  string
	state string // "", waiting, admitted, inside, leaving
	op    int
	group int
}

// randomDoubleBarrier makes valid histories of a barrier for two, among three.
func randomDoubleBarrier(t *rapid.T) lin.History {
	f := &fixture{}
	guests := []*guest{{name: "a"}, {name: "b"}, {name: "c"}}
	groups := 0
	for range rapid.IntRange(10, 80).Draw(t, "steps") {
		f.Step += 9
		g := rapid.SampledFrom(guests).Draw(t, "guest")
		switch {
		case g.state == "":
			g.op, g.state = f.Call(g.name, ops.Enter, "2"), "waiting"
		case g.state == "waiting" && rapid.IntRange(0, 5).Draw(t, "gives up") == 0:
			f.Ret(g.op, lin.OpUnknown, lin.Result{})
			g.state = ""
		case g.state == "waiting":
			groups = admit(guests, g, groups)
		case g.state == "admitted":
			f.Ret(g.op, lin.OpOK, lin.Result{})
			g.state = "inside"
		case g.state == "inside":
			g.op, g.state = f.Call(g.name, ops.Leave, ""), "leaving"
		case othersAreGone(guests, g):
			f.Ret(g.op, lin.OpOK, lin.Result{})
			g.state = ""
		}
	}
	return f.History()
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

func judgeDoubleAtD(h lin.History) lin.Report {
	return judgingtest.Judge(h, nil, Double{Path: "/d"})
}

func TestCorrectDoubleBarriersAreFoundCorrect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := randomDoubleBarrier(t)
		if r := judgeDoubleAtD(h); r.Status() == lin.Violated {
			t.Fatalf("%s\n%s", r, judgingtest.Dump(h))
		}
	})
}

func TestBrokenDoubleBarriersAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomDoubleBarrier, judgeDoubleAtD, []mutation{
		{"one who enters alone", enterAlone, []string{lin.Safety}, 0},
		{"one who leaves at once", leaveAtOnce, []string{lin.Safety}, 0},
	})
	judgingtest.CheckMutations(t, randomDoubleBarrier,
		func(h lin.History) lin.Report {
			return judgingtest.Judge(h, &lin.Leftovers{},
				doubleAtD)
		}, []mutation{
			{"a hanging call", judgingtest.NeverReturns(ops.Enter, ops.Leave), []string{lin.Liveness}, 0},
		})
}

// enterAlone appends a client that enters alone.
func enterAlone(_ *rapid.T, h *lin.History) bool {
	for i, op := range h.Ops {
		if op.Pending() { // no other client may be there
			h.Ops[i].Outcome, h.Ops[i].Return = lin.OpUnknown, h.End
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		h.Ops = append(h.Ops, lin.Op{Client: name, Kind: ops.Leave, Call: h.End + 1, Return: -1})
	}
	h.Ops = append(h.Ops, lin.Op{Client: "z", Kind: ops.Enter, Input: "2", Call: h.End + 5,
		Return: h.End + 6, Outcome: lin.OpOK})
	return true
}

// leaveAtOnce appends two clients that enter together; one leaves while the other stays.
func leaveAtOnce(_ *rapid.T, h *lin.History) bool {
	enterAlone(nil, h)
	h.Ops = append(h.Ops,
		lin.Op{
			Client: "y", Kind: ops.Enter, Input: "2", Call: h.End + 5, Return: h.End + 7,
			Outcome: lin.OpOK,
		},
		lin.Op{Client: "z", Kind: ops.Leave, Call: h.End + 8, Return: h.End + 9, Outcome: lin.OpOK})
	return true
}
