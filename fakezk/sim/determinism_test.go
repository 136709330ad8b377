package sim

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/testrun"
)

func runTwice(t *testing.T, w World) bool {
	t.Helper()
	first, second := mustRun(t, w), mustRun(t, w)
	if first.Leaked+first.Frozen != "" || len(first.Panics) > 0 {
		t.Fatalf("seed %d plan %v: %v\n%s%s\n%s", w.Seed, w.Plan, first.Panics, first.Leaked,
			first.Frozen, first.Trace)
	}
	if first.Trace.Hash() == second.Trace.Hash() {
		// Not only the trace: all of the Result, but for the numbers of goroutines.
		diff := cmp.Diff(first.Messages(), second.Messages())
		first.Trace, second.Trace = trace.Trace{}, trace.Trace{}
		first.BusyStacks, second.BusyStacks = nil, nil
		diff += cmp.Diff(first, second, cmpopts.IgnoreUnexported(trace.Trace{}, trace.Result{}))
		if diff != "" {
			t.Errorf("seed %d plan %v: results differ:\n%s", w.Seed, w.Plan, diff)
			return false
		}
		return true
	}
	a, b := first.Trace, second.Trace
	n := int64(1)
	for n <= int64(min(a.Len(), b.Len())) && a.Line(n) == b.Line(n) {
		n++
	}
	t.Errorf("seed %d plan %v: traces differ at line %d:\n%s---\n%s", w.Seed, w.Plan, n,
		a.Range(n-8, n+3), b.Range(n-8, n+3))
	return false
}

func TestSameSeedSameTrace(t *testing.T) {
	for seed := range testrun.Pick(uint64(80), 1000) {
		if !runTwice(t, anyWorld(seed)) {
			return
		}
	}
}

// TestTheEndOfADeadProcessIsNotRecorded: it reaches the server when the World has ended, or not, as
// the machine has time for it. A session that it begins then is not in the result.
func TestTheEndOfADeadProcessIsNotRecorded(t *testing.T) {
	r := mustRun(t, anyWorld(10))
	started := map[int64]bool{}
	for _, c := range r.Changes {
		if c.Kind == trace.SessionStarted {
			started[c.Owner] = true
		}
	}
	for session, client := range r.SessionClient {
		if !started[session] {
			t.Errorf("session %d of %s is in the result, and its beginning is not", session, client)
		}
	}
}
