package gallery_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// unnamed is a workload as if its code had dialed by itself: the harness does not know the session
// of a call.
func unnamed(w scenario.Workload) scenario.Workload {
	play := w.Play
	w.Play = func(p *scenario.Player, s scenario.Script) {
		p.NameSession(func() int64 { return 0 })
		play(p, s)
	}
	return w
}

// savedOf is the scenario of an exhibit.
func savedOf(t *testing.T, e gallery.Exhibit) scenario.Scenario {
	t.Helper()
	file, err := saved.Load(scenarioOf(e.Slug), gallery.Catalogue().Find)
	check.OK(t, err)
	return file.Scenario
}

// showsWithAnotherSeed reports whether some seed lets a scenario violate a property, with faults
// some milliseconds earlier or later: the seed draws the servers that code reaches when it dials by
// itself, and its messages take other times.
func showsWithAnotherSeed(t *testing.T, s scenario.Scenario, property string) bool {
	t.Helper()
	plan := s.Plan
	for s.Seed = range 3000 {
		draw := rand.New(rand.NewPCG(s.Seed, 0))
		s.Plan = slices.Clone(plan)
		for i := range s.Plan {
			if at := &s.Plan[i].At; *at > 0 {
				*at = max(time.Millisecond, *at+time.Duration(draw.IntN(100)-50)*time.Millisecond)
			}
		}
		if run(t, s).Property() == property {
			return true
		}
	}
	return false
}

// TestExhibitsShowWhenTheyDial by themselves, as old code does, and their right twins are right.
func TestExhibitsShowWhenTheyDial(t *testing.T) {
	if !sim.Overlaid {
		t.Skip("a dial needs zksim go")
	}
	for _, e := range stories(t) {
		t.Run(e.Slug, func(t *testing.T) {
			t.Parallel()
			s := savedOf(t, e)
			s.Workload = dialing(s.Workload)
			if run(t, s).Property() != e.Property { // its messages take other times
				if !testrun.Full() {
					t.Skip("its scenario needs the connection of the harness; -full hunts it")
				}
				if why := notByDial[e.Slug]; why != "" {
					t.Skip(why)
				}
				if !showsWithAnotherSeed(t, s, e.Property) {
					e.Wrong = dialing(e.Wrong)
					h, err := e.Find(t.Context(), 1, gallery.MaxRuns)
					check.OK(t, err)
					check.Equal(t, h.Found(), true, "in %d scenarios", h.Runs)
				}
			}
			s.Workload = dialing(e.Right)
			if o := run(t, s); o.Status() != linearizability.OK && !leaves(o) {
				t.Errorf("the right recipe: %s", o.Story())
			}
		})
	}
}

// TestExhibitsShowWithoutTheSessionOfACall: what is judged of a recipe does not depend on how it
// has got its connection.
func TestExhibitsShowWithoutTheSessionOfACall(t *testing.T) {
	for _, e := range stories(t) {
		t.Run(e.Slug, func(t *testing.T) {
			t.Parallel()
			s := savedOf(t, e)
			s.Workload = unnamed(s.Workload)
			if o := run(t, s); o.Property() != e.Property {
				t.Errorf("%q is violated; want %q\n%s", o.Property(), e.Property, o.Story())
			}
			s.Workload = unnamed(e.Right)
			if o := run(t, s); o.Status() != linearizability.OK {
				t.Errorf("the right recipe: %s", o.Story())
			}
		})
	}
}
