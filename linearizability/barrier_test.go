package linearizability

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

var barrierAtB = Barrier{Path: "/b"}

// raises records a complete set of a barrier that is down.
func (f *fixture) raises(client string) {
	op := f.call(client, ops.Set, "")
	f.creates(client, 0, "/b", "", 0)
	f.ret(op, OpOK, Result{})
}

// lowers records a complete removal of a barrier that is up.
func (f *fixture) lowers(client string) {
	op := f.call(client, ops.Remove, "")
	f.deletes(client, 0, "/b", 0)
	f.ret(op, OpOK, Result{})
}

func TestBarriers(t *testing.T) {
	whole := func(f *fixture, client, kind, output string) {
		f.ret(f.call(client, kind, ""), OpOK, Result{Output: output})
	}
	checkHistories(t, always(barrierAtB), []claimTest{
		{name: "set, waited for and removed", build: func(f *fixture) {
			whole(f, "b", ops.Wait, "")
			f.raises("a")
			whole(f, "c", ops.IsSet, "true")
			op := f.call("b", ops.Wait, "")
			f.lowers("a")
			f.ret(op, OpOK, Result{})
			whole(f, "c", ops.IsSet, "false")
			f.left = &Leftovers{}
		}},
		{name: "set when it is up, removed when it is down", build: func(f *fixture) {
			whole(f, "a", ops.Remove, "")
			f.raises("a")
			whole(f, "b", ops.Set, "")
			f.lowers("a")
			f.left = &Leftovers{}
		}},
		{name: "removed and set again while somebody waits", build: func(f *fixture) {
			f.raises("a")
			op := f.call("b", ops.Wait, "")
			f.lowers("a")
			f.raises("a")
			f.ret(op, OpOK, Result{})
			f.left = &Leftovers{
				Nodes: []NodeAtRest{{Path: "/b"}}, Watches: []WatchAtRest{{"b", "/b"}},
			}
		}},
		{name: "waited for, and watched when it is down", bad: Orphans, says: "a watch of b on /b",
			build: func(f *fixture) {
				f.raises("a")
				op := f.call("b", ops.Wait, "")
				f.lowers("a")
				f.ret(op, OpOK, Result{})
				f.left = &Leftovers{Watches: []WatchAtRest{{"b", "/b"}}}
			}},
		{name: "passed while it is up", bad: Linearizability, says: "it goes wrong with b: wait()",
			build: func(f *fixture) {
				f.raises("a")
				whole(f, "b", ops.Wait, "")
			}},
		{name: "seen up while it is down", bad: Linearizability, says: "isset() -> true",
			build: func(f *fixture) {
				whole(f, "b", ops.IsSet, "true")
			}},
		{name: "set, which it was not", bad: Linearizability, says: "set()",
			build: func(f *fixture) {
				f.raises("b")
				f.lowers("b")
				whole(f, "a", ops.Set, "")
			}},
		{name: "a remove that takes two", bad: Delivery,
			says: "a's remove (steps 4 to 9) was applied twice: at steps 5 and 8",
			build: func(f *fixture) {
				f.raises("a")
				op := f.call("a", ops.Remove, "")
				f.deletes("a", 0, "/b", 0)
				again := f.call("b", ops.Set, "")
				f.creates("b", 0, "/b", "", 0)
				f.deletes("a", 0, "/b", 0)
				f.ret(op, OpOK, Result{})
				f.ret(again, OpOK, Result{})
			}},
		{name: "failed, and removed", bad: Delivery, says: "although it said that it was not",
			build: func(f *fixture) {
				f.raises("a")
				op := f.call("a", ops.Remove, "")
				f.deletes("a", 0, "/b", 0)
				f.ret(op, OpFailed, Result{})
			}},
		{name: "gone by itself", bad: Delivery,
			says: "the server removed the barrier at step 4, and no remove accounts for that",
			build: func(f *fixture) {
				f.raises("a")
				f.server(ServerEvent{Kind: NodeDeleted, Path: "/b"})
			}},
		{name: "waits at a barrier that is down", bad: Liveness,
			says: "b's wait (step 4, pending) never returned", build: func(f *fixture) {
				f.raises("a")
				f.call("b", ops.Wait, "")
				f.lowers("a")
				f.left = &Leftovers{}
			}},
		{name: "waits at a barrier that is up", build: func(f *fixture) {
			f.raises("a")
			f.call("b", ops.Wait, "")
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/b"}}}
		}},
		{name: "something is left", bad: Orphans, says: "/b/x is left below /b",
			build: func(f *fixture) {
				f.raises("a")
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/b"}, {Path: "/b/x"}}}
			}},
	})
}

// randomBarrier makes valid histories of a barrier. A wait that finds the barrier up returns after
// another client removes it.
func randomBarrier(t *rapid.T) History {
	up := false
	s := &simulator{t: t}
	s.begin = func(string) (kind, input string) {
		return rapid.SampledFrom([]string{ops.Set, ops.Set, ops.Remove, ops.Wait,
			ops.IsSet}).Draw(t, "call"), ""
	}
	s.apply = func(client, kind, _ string) Result {
		switch {
		case kind == ops.Set && !up:
			s.creates(client, 0, "/b", "", 0)
			up = true
		case kind == ops.Remove && up:
			s.deletes(client, 0, "/b", 0)
			up = false
		case kind == ops.Wait && up:
			s.lowers("z")
			up = false
		case kind == ops.IsSet:
			s.next()
			return Result{Output: strconv.FormatBool(up)}
		}
		s.next()
		return Result{}
	}
	return s.play()
}

// judgeBarrierAtB judges a barrier that may be left up.
func judgeBarrierAtB(h History) Report { return Judge(h, &Leftovers{}, barrierAtB) }

func TestCorrectBarriersAreFoundCorrect(t *testing.T) {
	checkValid(t, randomBarrier, judgeBarrierAtB)
}

// TestCorrectBarriersWithoutLog: a change of unknown outcome may have happened or not.
func TestCorrectBarriersWithoutLog(t *testing.T) {
	checkWithoutLog(t, randomBarrier, judgeBarrierAtB)
}

func TestBrokenBarriersAreFoundBroken(t *testing.T) {
	checkMutations(t, randomBarrier, judgeBarrierAtB, []mutation{
		{"seen down while it is up", lookWhileUp, []string{Linearizability}, 0},
		{"a change that never happened", dropChange(ops.Set, ops.Remove),
			[]string{Delivery, Linearizability}, 60},
		{"failed, and applied", sayFailed(ops.Set, ops.Remove), []string{Delivery}, 0},
		{"a change after the end", moveBeyond(ops.Set, ops.Remove),
			[]string{Delivery, Linearizability}, 50},
		{"passed while it is up", passWhileUp, []string{Linearizability}, 0},
		{"nobody's change", strayChange, []string{Delivery}, 0},
		{
			"a hanging call", neverReturns(ops.Set, ops.Remove, ops.Wait, ops.IsSet),
			[]string{Liveness}, 0,
		},
	})
}

// passWhileUp makes a wait return while the barrier is up.
func passWhileUp(t *rapid.T, h *History) bool {
	e := one(t, h.Server, func(e *ServerEvent) bool { return e.Kind == NodeCreated })
	if e == nil {
		return false
	}
	h.Ops = append(h.Ops, Op{Client: "y", Kind: ops.Wait, Call: e.Step + 1, Return: e.Step + 2,
		Outcome: OpOK})
	return true
}

// lookWhileUp makes a client see the barrier down while it is up.
func lookWhileUp(t *rapid.T, h *History) bool {
	if !passWhileUp(t, h) {
		return false
	}
	op := &h.Ops[len(h.Ops)-1]
	op.Kind, op.Output = ops.IsSet, "false"
	return true
}

// strayChange makes a client remove the barrier without a call.
func strayChange(t *rapid.T, h *History) bool {
	e := one(t, h.Server, func(e *ServerEvent) bool { return e.Kind == NodeCreated })
	if e == nil {
		return false
	}
	h.Server = append(h.Server, ServerEvent{Step: e.Step + 1, Kind: NodeDeleted, Path: "/b",
		Client: "y", Session: 'y'})
	return true
}
