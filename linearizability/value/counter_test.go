package value

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

var counterAtN = Counter{Path: "/n"}

// adds records a complete add of 1 to a counter that stood at value.
func (f *fixture) adds(client string, value int) {
	op := f.Call(client, ops.Add, "1")
	f.Stores(client, "/n", strconv.Itoa(value+1))
	f.Ret(op, lin.OpOK, lin.Result{Output: strconv.Itoa(value + 1)})
}

func TestCounters(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Counter) lin.Claims {
		opts.Path = "/n"
		return opts
	}, []historyTest[Counter]{
		{Name: "one after the other",
			Steps: "a add(1) stores /n=1 -> 1; b add(1) stores /n=2 -> 2; a get() -> 2"},
		{Name: "stale value", Bad: lin.Linearizability, Says: "b's get() -> 0 (steps 4 to 5), but the counter was 1 from step 2 on",
			Steps: "a add(1) stores /n=1 -> 1; b get() -> 0"},
		{Name: "stale value of a counter that does not claim it", Bad: lin.Linearizability,
			Says:  "(the claim StaleReads would allow it)",
			Steps: "a add(1) stores /n=1 -> 1; b get() -> 0"},
		{Name: "stale value, as claimed", Opts: Counter{StaleReads: true},
			Steps: "a add(1) stores /n=1 -> 1; b get() -> 0; b get() -> 1; b get() -> 1"},
		{Name: "older than the client's own add", Opts: Counter{StaleReads: true},
			Bad: lin.Linearizability, Says: "b's get() -> 0 (steps 4 to 5) was so at no time since " +
				"b's add (steps 1 to 3)", Steps: "b add(1) stores /n=1 -> 1; b get() -> 0"},
		{Name: "older than the client's last read", Opts: Counter{StaleReads: true},
			Bad: lin.Linearizability, Says: "since b's get (steps 4 to 5)",
			Steps: "a add(1) stores /n=1 -> 1; b get() -> 1; b get() -> 0"},
		{Name: "never so", Opts: Counter{StaleReads: true}, Bad: lin.Linearizability,
			Says:  "b's get() -> 2 (steps 4 to 5) was never so",
			Steps: "a add(1) stores /n=1 -> 1; b get() -> 2"},
		{Name: "newer than the call", Opts: Counter{StaleReads: true}, Bad: lin.Linearizability,
			Says: "was never so", Steps: "b get() -> 1; a add(1) stores /n=1 -> 1"},
		{Name: "a result that was never stored", Bad: lin.Linearizability,
			Says: "a's add(1), which stored 1 and returned 28, took effect at step 2, but the counter was 0 " +
				"from the beginning on",
			Steps: "a add(1) stores /n=1 -> 28"},
		{Name: "two adds, one value", Bad: lin.Linearizability,
			Says:  "b's add (steps 4 to 5) was acknowledged, but the server never applied it",
			Steps: "a add(1) stores /n=1 -> 1; b add(1) -> 1"},
		{Name: "reply lost", Steps: "a add(1) stores /n=1 unknown; b get() -> 1"},
		{Name: "request lost", Steps: "a add(1) unknown; b add(1) stores /n=1 -> 1"},
		{Name: "applied twice", Bad: lin.Delivery,
			Says:  "a's add (steps 1 to 4) was applied twice: at steps 2 and 3",
			Steps: "a add(1) stores /n=1 stores /n=2 ok"},
		{Name: "applied twice, as allowed", Opts: Counter{MayRepeat: true},
			Steps: "a add(1) stores /n=1 stores /n=2 ok"},
		{Name: "acknowledged, not applied", Bad: lin.Delivery, Says: "the server never applied it",
			Steps: "b add(1) stores /n=1 -> 1; a add(1) ok"},
		{Name: "failed, and applied", Bad: lin.Delivery, Says: "although it said that it was not",
			Steps: "a add(1) stores /n=1 failed"},
		{Name: "failed beside one that was applied",
			Steps: "a add(1); a add(1); a stores /n=1; a failed; a -> 1"},
		{Name: "failed after one in doubt, which was applied late",
			Steps: "a add(1) unknown; a add(1) stores /n=1 failed"},
		{Name: "failed beside one that was applied, both applied", Bad: lin.Delivery,
			Says:  "although it said that it was not",
			Steps: "a add(1) stores /n=1 -> 1; a add(1) stores /n=2 failed"},
		{Name: "in doubt, beside one that was acknowledged and ends later",
			Steps: "a add(1); a add(1); a stores /n=1; a unknown; a -> 1"},
		{Name: "nobody's change", Bad: lin.Delivery,
			Says:  "b changed the counter from 1 to 7 at step 4, and no add accounts for that",
			Steps: "a add(1) stores /n=1 -> 1; b stores /n=7"},
		{Name: "written over", Bad: lin.Delivery,
			Says: "b changed the counter from 1 to -1 at step 5, during b's add (steps 4 to 6), and " +
				"no add accounts for that", Steps: "a add(1) stores /n=1 -> 1; b add(1) stores /n=-1 ok"},
		{Name: "written over what came meanwhile", Bad: lin.Delivery,
			Says: "no add accounts for that: its add(1) wrote over what was added after it had read 2, " +
				"which was so until step 6",
			Steps: "a add(2) stores /n=2 -> 2; b add(1); a add(7) stores /n=9 -> 9; b stores /n=3 ok"},
		{Name: "never returns", Bad: lin.Liveness, Says: "a's add (step 1, pending) never returned",
			Steps: "a add(1)"},
	}, judgingtest.AtRest[fixture])
}

func TestCounterOrphans(t *testing.T) {
	f := &fixture{}
	f.adds("a", 0)
	left := &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/n"}, {Path: "/n/op-1"}}}
	judgingtest.CheckReport(t, judgingtest.Judge(f.History(), left, counterAtN), lin.Orphans, "/n/op-1 is left below /n")
	judgingtest.CheckReport(t, judgingtest.Judge(f.History(), left,
		Counter{Path: "/n", AllowedAtRest: []string{"/n/op-*"}}), "", "")
}

// randomCounter makes valid histories of a counter.
func randomCounter(t *rapid.T) lin.History {
	value := 0
	s := &judgingtest.Simulator{Fixture: &judgingtest.Fixture{}, T: t}
	s.Begin = func(string) (kind, input string) {
		call := rapid.SampledFrom([][2]string{{ops.Add, "1"}, {ops.Add, "1"}, {ops.Add, "5"},
			{ops.Get, ""}}).Draw(t, "call")
		return call[0], call[1]
	}
	s.Apply = func(client, kind, input string) lin.Result {
		if kind == ops.Get {
			s.Next()
		} else {
			delta, err := strconv.Atoi(input)
			check.OK(t, err)
			value += delta
			s.Stores(client, "/n", strconv.Itoa(value))
		}
		return lin.Result{Output: strconv.Itoa(value)}
	}
	return s.Play()
}

func judgeCounterAtN(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, counterAtN)
}

func TestCorrectCountersAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomCounter, judgeCounterAtN)
}

// TestCorrectCountersWithoutLog: unknown adds may have happened or not.
func TestCorrectCountersWithoutLog(t *testing.T) {
	judgingtest.CheckWithoutLog(t, randomCounter, judgeCounterAtN)
}

func TestBrokenCountersAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomCounter, judgeCounterAtN, []mutation{
		{"results exchanged", judgingtest.SwapOutputs(ops.Add, ops.Get), []string{lin.Linearizability}, 90},
		{
			"a change that never happened", judgingtest.DropChange(ops.Add),
			[]string{lin.Delivery, lin.Linearizability}, 0,
		},
		{"applied twice", judgingtest.RepeatChange(addAgain, ops.Add), []string{lin.Delivery}, 75},
		{ // an earlier add of unknown outcome may have made the change
			"failed, and applied", judgingtest.SayFailed(ops.Add), []string{lin.Delivery}, 70,
		},
		{"an add after the end", judgingtest.MoveBeyond(ops.Add), []string{lin.Delivery, lin.Linearizability}, 0},
		{"a get after the end", judgingtest.MoveBeyond(ops.Get), []string{lin.Linearizability}, 50},
		{"a hanging call", judgingtest.NeverReturns(ops.Add, ops.Get), []string{lin.Liveness}, 0},
	})
}

// addAgain adds 1 once more, and raises all later values by 1.
func addAgain(h *lin.History, e lin.ServerEvent) lin.ServerEvent {
	i := slices.Index(h.Server, e)
	value, _ := strconv.Atoi(e.Data)
	before := 0
	if i > 0 {
		before, _ = strconv.Atoi(h.Server[i-1].Data)
	}
	delta := value - before
	for j := i + 1; j < len(h.Server); j++ {
		n, _ := strconv.Atoi(h.Server[j].Data)
		h.Server[j].Data = strconv.Itoa(n + delta)
	}
	e.Data = strconv.Itoa(value + delta)
	return e
}
