package linearizability

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

var idsAtI = IDGenerator{Path: "/i", Ordered: true}

// nextID records a complete call.
func (f *fixture) nextID(client string, id int) {
	f.ret(f.call(client, ops.Next, ""), OpOK, Result{Output: strconv.Itoa(id)})
}

// reserves raises the counter.
func (f *fixture) reserves(client string, last int) { f.stores(client, "/i", strconv.Itoa(last)) }

func TestIDs(t *testing.T) {
	checkHistories(t, func(opts IDGenerator) Claims { return opts }, []historyTest[IDGenerator]{
		{name: "two blocks", opts: IDGenerator{Path: "/i"}, build: func(f *fixture) {
			f.reserves("a", 2)
			f.nextID("a", 1)
			f.reserves("b", 4)
			f.nextID("b", 3)
			f.nextID("a", 2)
		}},
		{name: "twice", bad: Safety,
			says: "1 is handed out twice: to a's next (steps 2 to 3) and to a's next (steps 4 to " +
				"5)",
			build: func(f *fixture) {
				f.reserves("a", 2)
				f.nextID("a", 1)
				f.nextID("a", 1)
			}},
		{name: "backwards", bad: Order, says: "got 1, after a's next (steps 2 to 3) had got 2",
			build: func(f *fixture) {
				f.reserves("a", 2)
				f.nextID("a", 2)
				f.nextID("a", 1)
			}},
		{name: "blocks, and claims to be ordered", opts: idsAtI, bad: Order,
			says: "a's next (steps 5 to 6) got 1, after b's", build: func(f *fixture) {
				f.reserves("a", 2)
				f.reserves("b", 4)
				f.nextID("b", 3)
				f.nextID("a", 1)
			}},
		{name: "at the same time", opts: idsAtI, build: func(f *fixture) {
			a, b := f.call("a", ops.Next, ""), f.call("b", ops.Next, "")
			f.reserves("b", 1)
			f.reserves("a", 2)
			f.ret(a, OpOK, Result{Output: "2"})
			f.ret(b, OpOK, Result{Output: "1"})
		}},
		{name: "not reserved", bad: Delivery, says: "got 3, which a had not reserved",
			opts: IDGenerator{Path: "/i"}, build: func(f *fixture) {
				f.reserves("a", 2)
				f.nextID("a", 3)
			}},
		{name: "another's", bad: Delivery, says: "b had not reserved",
			opts: IDGenerator{Path: "/i"}, build: func(f *fixture) {
				f.reserves("a", 2)
				f.nextID("b", 1)
			}},
		{name: "reserved too late", bad: Delivery, says: "a had not reserved",
			opts: IDGenerator{Path: "/i"}, build: func(f *fixture) {
				f.nextID("a", 1)
				f.reserves("a", 2)
			}},
		{name: "never returns", bad: Liveness, says: "never returned",
			build: func(f *fixture) { f.call("a", ops.Next, "") }},
	}, atRest)
	left := &Leftovers{Nodes: []NodeAtRest{{Path: "/i"}, {Path: "/i/add-1"}}}
	checkReport(t, Judge(History{}, left, idsAtI), Orphans, "/i/add-1 is left below /i")
}

// randomIDs makes valid histories of a generator with blocks of one.
func randomIDs(t *rapid.T) History {
	last := 0
	s := &simulator{t: t}
	s.begin = func(string) (kind, input string) { return ops.Next, "" }
	s.apply = func(client, _, _ string) Result {
		last++
		s.reserves(client, last)
		return Result{Output: strconv.Itoa(last)}
	}
	return s.play()
}

func judgeIDsAtI(h History) Report { return Judge(h, &Leftovers{}, idsAtI) }

func TestCorrectIDsAreFoundCorrect(t *testing.T) { checkValid(t, randomIDs, judgeIDsAtI) }

func TestBrokenIDsAreFoundBroken(t *testing.T) {
	checkMutations(t, randomIDs, judgeIDsAtI, []mutation{
		{"results exchanged", swapOutputs(ops.Next), []string{Delivery, Order}, 80},
		{"one number twice", sameIDTwice, []string{Safety}, 0},
		{"not reserved", dropChange(ops.Next), []string{Delivery}, 0},
		{"after the end", moveBeyond(ops.Next), []string{Order}, 50},
		{"a hanging call", neverReturns(ops.Next), []string{Liveness}, 0},
	})
}

func sameIDTwice(t *rapid.T, h *History) bool {
	a := one(t, h.Ops, returned(ops.Next))
	if a == nil {
		return false
	}
	b := one(t, h.Ops, func(op *Op) bool { return returned(ops.Next)(op) && op.Call != a.Call })
	if b != nil {
		b.Output = a.Output
	}
	return b != nil
}
