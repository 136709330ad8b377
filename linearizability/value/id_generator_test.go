package value

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

var idsAtI = IDGenerator{Path: "/i", Ordered: true}

// reserves raises the counter.
func (f *fixture) reserves(client string, last int) { f.Stores(client, "/i", strconv.Itoa(last)) }

func TestIDs(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts IDGenerator) lin.Claims { return opts },
		[]historyTest[IDGenerator]{
			{Name: "two blocks", Opts: IDGenerator{Path: "/i"},
				Steps: "a stores /i=2; a next() -> 1; b stores /i=4; b next() -> 3; a next() -> 2"},
			{Name: "the counter is the first number that is free", Opts: IDGenerator{Path: "/i"},
				Steps: "a stores /i=2; a next() -> 0; b stores /i=4; b next() -> 2; a next() -> 1"},
			{Name: "the last number and the first that is free", Opts: IDGenerator{Path: "/i"},
				Bad: lin.Delivery, Says: "got 0, which a had not reserved",
				Steps: "a stores /i=2; a next() -> 0; a next() -> 1; a next() -> 2"},
			{Name: "twice", Bad: lin.Safety,
				Says: "1 is handed out twice: to a's next (steps 2 to 3) and to a's next " +
					"(steps 4 to 5)", Steps: "a stores /i=2; a next() -> 1; a next() -> 1"},
			{Name: "twice, as the counter was removed", Opts: IDGenerator{Path: "/i"}, Bad: lin.Safety,
				Says: "1 is handed out twice: to a's next (steps 2 to 3) and to b's next (steps 6 to " +
					"7), as the server deleted /i at step 4 and the numbers began anew",
				Steps: "a creates /i=2; a next() -> 1; server deletes /i; b creates /i=2; " +
					"b next() -> 1"},
			{Name: "twice, as both reserved without a look, of an unknown counter", Bad: lin.Safety,
				Says:  `as a wrote "2" into /i at step 3, and b the same over it at step 6`,
				Steps: "a creates /i=0; a next() stores /i=2 -> 1; b next() stores /i=2 -> 1"},
			{Name: "backwards", Bad: lin.Order,
				Says:  "got 1, after a's next (steps 2 to 3) had got 2",
				Steps: "a stores /i=2; a next() -> 2; a next() -> 1"},
			{Name: "blocks, and claims to be ordered", Opts: idsAtI, Bad: lin.Order,
				Says:  "a's next (steps 5 to 6) got 1, after b's",
				Steps: "a stores /i=2; b stores /i=4; b next() -> 3; a next() -> 1"},
			{Name: "at the same time", Opts: idsAtI,
				Steps: "a next(); b next() stores /i=1; a stores /i=2; a -> 2; b -> 1"},
			{Name: "not reserved", Opts: IDGenerator{Path: "/i"}, Bad: lin.Delivery,
				Says: "got 3, which a had not reserved", Steps: "a stores /i=2; a next() -> 3"},
			{Name: "another's", Opts: IDGenerator{Path: "/i"}, Bad: lin.Delivery,
				Says:  "got 1, which b had not reserved: a reserved 1 to 2 at step 1",
				Steps: "a stores /i=2; b next() -> 1"},
			{Name: "reserved too late", Opts: IDGenerator{Path: "/i"}, Bad: lin.Delivery,
				Says:  "a had not reserved: a reserved 1 to 2 at step 3, which was too late",
				Steps: "a next() -> 1; a stores /i=2"},
			{Name: "never returns", Bad: lin.Liveness, Says: "never returned", Steps: "a next()"},
		}, judgingtest.AtRest[fixture])
	left := &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/i"}, {Path: "/i/add-1"}}}
	judgingtest.CheckReport(t, judgingtest.Judge(lin.History{}, left, idsAtI), lin.Orphans, "/i/add-1 is left below /i")
}

// randomIDs makes valid histories of a generator with blocks of one.
func randomIDs(t *rapid.T) lin.History {
	last := 0
	f := &fixture{}
	s := &judgingtest.Simulator{Fixture: &f.Fixture, T: t}
	s.Begin = func(string) (kind, input string) { return ops.Next, "" }
	s.Apply = func(client, _, _ string) lin.Result {
		last++
		f.reserves(client, last)
		return lin.Result{Output: strconv.Itoa(last)}
	}
	return s.Play()
}

func judgeIDsAtI(h lin.History) lin.Report { return judgingtest.Judge(h, &lin.Leftovers{}, idsAtI) }

func TestCorrectIDsAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomIDs,
		judgeIDsAtI)
}

func TestBrokenIDsAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomIDs, judgeIDsAtI, []mutation{
		{"results exchanged", judgingtest.SwapOutputs(ops.Next), []string{lin.Delivery, lin.Order}, 80},
		{"one number twice", sameIDTwice, []string{lin.Safety}, 0},
		{"not reserved", judgingtest.DropChange(ops.Next), []string{lin.Delivery}, 0},
		{"after the end", judgingtest.MoveBeyond(ops.Next), []string{lin.Order}, 50},
		{"a hanging call", judgingtest.NeverReturns(ops.Next), []string{lin.Liveness}, 0},
	})
}

var sameIDTwice = judgingtest.OnTwoCalls(judgingtest.Returned(ops.Next),
	func(a, b *lin.Op) bool { return a.Call != b.Call },
	func(a, b *lin.Op) { b.Output = a.Output })
