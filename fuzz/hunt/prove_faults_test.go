package hunt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// failing is a scenario that is violated if so many calls fail. Verdicts on runs with fewer failed
// calls are unknown if they are not decided.
func failing(calls int, decided bool) scenario.Scenario {
	s := tiny("get /x", "get /y")
	s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		v := linearizability.Verdict{Property: linearizability.Safety}
		failed := 0
		for _, op := range e.History.Ops {
			if !op.OK() {
				failed++
			}
		}
		switch {
		case failed >= calls:
			v.Status, v.Summary = linearizability.Violated, "too many"
		case !decided:
			v.Status, v.Summary = linearizability.Unknown, "too few"
		}
		return linearizability.Report{Verdicts: []linearizability.Verdict{v}}, nil
	}
	return s
}

// Two mistakes: the plans with the most faults first, and all plans at the same time.
func largest(trees []*tree) int {
	slices.SortStableFunc(trees, func(a, b *tree) int { return len(b.plan) - len(a.plan) })
	return 1
}

func mixed(trees []*tree) int { return len(trees) }

// TestViolationHasTheFewestFaults of all runs, and the proof says so where it knows it.
func TestViolationHasTheFewestFaults(t *testing.T) {
	t.Parallel()
	const fewest = "no run with fewer faults violates anything, for 2 clients, 1 round"
	for _, c := range []struct {
		about   string
		faults  int // that it needs
		decided bool
		next    func(trees []*tree) int // nil for the right one
		want    string
	}{
		{"none", 0, true, nil, "it needs no fault"},
		{"one", 1, true, nil, fewest},
		{"one, and other verdicts are unknown", 1, false, nil, ""},
		{"two", 2, true, nil, fewest},
		{"two, and those with two come first", 2, true, largest, ""},
	} {
		p := newProver(failing(c.faults, c.decided))
		if p.Bounds.Faults = 2; c.next != nil {
			p.next = c.next
		}
		p.plan(nil)
		check.OK(t, p.run(t.Context()))
		if p.Violation == nil {
			t.Fatalf("%s: nothing is violated", c.about)
		}
		check.Equal(t, len(p.Violation.Scenario.Plan), c.faults, "faults: %s", c.about)
		says, _ := p.Smallest(t.Context(), p.Violation)
		check.Equal(t, says, c.want, "%s", c.about)
	}
}

// TestSmallestIsProvedForTheScriptOfTheViolation: of another script than that of the proof, or with
// another seed or number of faults, there is a second proof.
func TestSmallestIsProvedForTheScriptOfTheViolation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about  string
		alone  bool // one client violates something without a fault
		change func(s *scenario.Scenario)
		want   string
		seed   int
	}{
		{"the same", false, func(*scenario.Scenario) {}, "for 2 clients, 1 round", 1},
		{"the same in other words", false, func(s *scenario.Scenario) {
			s.Script.Servers, s.Script.Goroutines = 1, 1
		}, "for 2 clients, 1 round", 1},
		{"one client", false, func(s *scenario.Scenario) { s.Script.Clients = 1 },
			"for 1 client, 1 round", 1},
		{"one client that needs no fault", true, func(s *scenario.Scenario) { s.Script.Clients = 1 },
			"", 0},
		{"another seed", false, func(s *scenario.Scenario) { s.Seed = 2 }, "for 2 clients, 1 round", 2},
		{"a fault too many", false, func(s *scenario.Scenario) {
			s.Plan = append(slices.Clone(s.Plan), s.Plan...)
		}, "", 0},
	} {
		s := failing(1, true)
		judge := s.Workload.Judge
		s.Workload.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
			if c.alone && len(e.History.Ops) < 2 {
				return linearizability.Report{Verdicts: []linearizability.Verdict{{
					Property: linearizability.Safety, Status: linearizability.Violated}}}, nil
			}
			return judge(e)
		}
		p, err := Prove(t.Context(), s, Bounds{Faults: 1})
		check.OK(t, err)
		other := *p.Violation
		c.change(&other.Scenario)
		p.Bounds.Part = Part{2, 50} // the second proof is of all plans all the same
		says, scope := p.Smallest(t.Context(), &other)
		if c.want != "" {
			c.want = "no run with fewer faults violates anything, " + c.want
			check.Contains(t, scope, fmt.Sprintf("than those of seed %d\n", c.seed))
		}
		check.Equal(t, says, c.want, "%s", c.about)
	}
}

// TestProofsTryFewerFaultsFirst, and a mistake in the order is noticed.
func TestProofsTryFewerFaultsFirst(t *testing.T) {
	t.Parallel()
	inOrder := func(next func(trees []*tree) int) bool {
		p := newProver(tiny("store /x", "get /x"))
		if p.Bounds.Faults, p.Bounds.Runs = 2, 1000; next != nil {
			p.next = next
		}
		var faults []int
		p.visit = func(o *scenario.Outcome) { faults = append(faults, len(o.Scenario.Plan)) }
		p.plan(nil)
		check.OK(t, p.run(t.Context()))
		check.Equal(t, slices.Max(faults), 2, "the most faults of a run")
		return slices.IsSorted(faults)
	}
	check.Equal(t, inOrder(nil), true)
	check.Equal(t, inOrder(largest), false, "the plans with the most faults come first")
	check.Equal(t, inOrder(mixed), false, "all plans come at the same time")
}

// TestRunsTooLongForAProofAreAnError, and none is complete.
func TestRunsTooLongForAProofAreAnError(t *testing.T) {
	t.Parallel()
	for script, hint := range map[string]bool{"get /y": false, "get /y, pause": true} {
		s := tiny(strings.Repeat(script+", ", mostEvents/2)+"get /y", "store /x")
		p, err := Prove(t.Context(), s, Bounds{})
		check.Contains(t, fmt.Sprint(err), "too long for a proof", script)
		check.Equal(t, strings.Contains(fmt.Sprint(err), "pause and try again"), hint, script)
		check.Equal(t, p.Complete, false, script)
	}
}
