package linearizability

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability/ops"
)

var counterAtN = Counter{Path: "/n"}

// adds records a complete add of 1 to a counter that stood at value.
func (f *fixture) adds(client string, value int) {
	op := f.call(client, ops.Add, "1")
	f.stores(client, "/n", strconv.Itoa(value+1))
	f.ret(op, OpOK, Result{Output: strconv.Itoa(value + 1)})
}

func TestCounters(t *testing.T) {
	get := func(f *fixture, client, value string) {
		f.ret(f.call(client, ops.Get, ""), OpOK, Result{Output: value})
	}
	checkHistories(t, func(opts Counter) Claims {
		opts.Path = "/n"
		return opts
	}, []historyTest[Counter]{
		{name: "one after the other",
			build: func(f *fixture) { f.adds("a", 0); f.adds("b", 1); get(f, "a", "2") }},
		{name: "stale value", bad: Linearizability, says: "it goes wrong with b: get() -> 0",
			build: func(f *fixture) { f.adds("a", 0); get(f, "b", "0") }},
		{name: "two adds, one value", bad: Linearizability, build: func(f *fixture) {
			f.adds("a", 0)
			f.ret(f.call("b", ops.Add, "1"), OpOK, Result{Output: "1"})
		}},
		{name: "reply lost", build: func(f *fixture) {
			op := f.call("a", ops.Add, "1")
			f.stores("a", "/n", "1")
			f.ret(op, OpUnknown, Result{})
			get(f, "b", "1")
		}},
		{name: "request lost", build: func(f *fixture) {
			f.ret(f.call("a", ops.Add, "1"), OpUnknown, Result{})
			f.adds("b", 0)
		}},
		{name: "applied twice", bad: Delivery,
			says: "a's add (steps 1 to 4) was applied twice: at steps 2 and 3", build: twiceAdded},
		{name: "applied twice, as allowed", opts: Counter{MayRepeat: true}, build: twiceAdded},
		{name: "acknowledged, not applied", bad: Delivery, says: "the server never applied it",
			build: func(f *fixture) {
				f.adds("b", 0)
				f.ret(f.call("a", ops.Add, "1"), OpOK, Result{})
			}},
		{name: "failed, and applied", bad: Delivery, says: "although it said that it was not",
			build: func(f *fixture) {
				op := f.call("a", ops.Add, "1")
				f.stores("a", "/n", "1")
				f.ret(op, OpFailed, Result{})
			}},
		{name: "nobody's change", bad: Delivery,
			says: "b changed the counter from 1 to 7 at step 4", build: func(f *fixture) {
				f.adds("a", 0)
				f.stores("b", "/n", "7")
			}},
		{name: "never returns", bad: Liveness, says: "a's add (step 1, pending) never returned",
			build: func(f *fixture) { f.call("a", ops.Add, "1") }},
	}, atRest)
}

func twiceAdded(f *fixture) {
	op := f.call("a", ops.Add, "1")
	f.stores("a", "/n", "1")
	f.stores("a", "/n", "2")
	f.ret(op, OpOK, Result{})
}

func TestCounterOrphans(t *testing.T) {
	f := &fixture{}
	f.adds("a", 0)
	left := &Leftovers{Nodes: []NodeAtRest{{Path: "/n"}, {Path: "/n/op-1"}}}
	checkReport(t, Judge(f.history(), left, counterAtN), Orphans, "/n/op-1 is left below /n")
	checkReport(t, Judge(f.history(), left,
		Counter{Path: "/n", AllowedAtRest: []string{"/n/op-*"}}), "", "")
}

// randomCounter makes valid histories of a counter.
func randomCounter(t *rapid.T) History {
	value := 0
	s := &simulator{t: t}
	s.begin = func(string) (kind, input string) {
		call := rapid.SampledFrom([][2]string{{ops.Add, "1"}, {ops.Add, "1"}, {ops.Add, "5"},
			{ops.Get, ""}}).Draw(t, "call")
		return call[0], call[1]
	}
	s.apply = func(client, kind, input string) Result {
		if kind == ops.Get {
			s.next()
		} else {
			delta, err := strconv.Atoi(input)
			check.OK(t, err)
			value += delta
			s.stores(client, "/n", strconv.Itoa(value))
		}
		return Result{Output: strconv.Itoa(value)}
	}
	return s.play()
}

func judgeCounterAtN(h History) Report { return Judge(h, &Leftovers{}, counterAtN) }

func TestCorrectCountersAreFoundCorrect(t *testing.T) {
	checkValid(t, randomCounter, judgeCounterAtN)
}

// TestCorrectCountersWithoutLog: unknown adds may have happened or not.
func TestCorrectCountersWithoutLog(t *testing.T) {
	checkWithoutLog(t, randomCounter, judgeCounterAtN)
}

func TestBrokenCountersAreFoundBroken(t *testing.T) {
	checkMutations(t, randomCounter, judgeCounterAtN, []mutation{
		{"results exchanged", swapOutputs(ops.Add, ops.Get), []string{Linearizability}, 90},
		{
			"a change that never happened", dropChange(ops.Add),
			[]string{Delivery, Linearizability}, 0,
		},
		{"applied twice", repeatChange(addAgain, ops.Add), []string{Delivery}, 75},
		{"failed, and applied", sayFailed(ops.Add), []string{Delivery}, 0},
		{"an add after the end", moveBeyond(ops.Add), []string{Delivery, Linearizability}, 0},
		{"a get after the end", moveBeyond(ops.Get), []string{Linearizability}, 50},
		{"a hanging call", neverReturns(ops.Add, ops.Get), []string{Liveness}, 0},
	})
}

// addAgain adds 1 once more, and raises all later values by 1.
func addAgain(h *History, e ServerEvent) ServerEvent {
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
