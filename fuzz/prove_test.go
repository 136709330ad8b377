package fuzz

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// twoSteps is a workload whose clients read a number and then write the next one. An invariant says
// that they write different ones.
func twoSteps(atomically bool) scenario.Workload {
	return scenario.Workload{
		Name: "own", Nodes: map[string]string{"/n": ""},
		Play: func(p *scenario.Player, _ scenario.Script) {
			p.Persist(func(int) error {
				return p.Do("next", "", func(context.Context) (linearizability.Result, error) {
					data, stat, err := p.Conn().Get("/n")
					if err != nil {
						return linearizability.Result{}, err
					}
					version := int32(-1)
					if atomically {
						version = stat.Version
					}
					next := string(data) + "i"
					_, err = p.Conn().Set("/n", []byte(next), version)
					return linearizability.Result{Output: next}, err
				})
			})
		},
		Judge: scenario.Invariants(scenario.Invariant{Name: "different numbers",
			Holds: func(e scenario.Evidence) error {
				seen := map[string]string{}
				for _, op := range e.History.Ops {
					if other, twice := seen[op.Output]; op.OK() && twice {
						return errSame{op.Client, other}
					}
					if op.OK() {
						seen[op.Output] = op.Client
					}
				}
				return nil
			}}),
	}
}

type errSame struct{ a, b string }

func (e errSame) Error() string { return e.a + " and " + e.b + " have the same" }

// TestProofs: what holds passes. A violation fails as in Test, and so does what is not complete.
func TestProofs(t *testing.T) {
	t.Chdir(t.TempDir())
	Prove(t, twoSteps(true), Bounds{})
	for _, c := range []struct {
		about      string
		atomically bool
		bounds     Bounds
		want       string
	}{
		{"a violation", false, Bounds{}, "invariant is violated: "},
		{"no time", true, Bounds{Faults: 2, Within: time.Nanosecond},
			"zksim: not complete: so far only runs without faults, and not all of them (0 of an " +
				"estimated 0), for 2 clients, 1 round, at most 2 faults"},
	} {
		text := failure(func(tb TB) { Prove(tb, twoSteps(c.atomically), c.bounds) })
		if !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: failed with:\n%s\nwant %s", c.about, text, c.want)
		}
		if c.atomically {
			check.Contains(t, text, "\nto be tried, not finished:\n")
			check.Contains(t, text, "\nto get further, raise Within of fuzz.Bounds")
		}
	}
	goal := twoSteps(true)
	goal.Sometimes = []string{"the moon is full"}
	check.Contains(t, failure(func(tb TB) { Prove(tb, goal, Bounds{}) }),
		`zksim: the goal "the moon is full" was reached in none of `)
}

// TestProofsSayWhatIsSmallest, and what that does not prove.
func TestProofsSayWhatIsSmallest(t *testing.T) {
	t.Chdir(t.TempDir())
	text := failure(func(tb TB) { Prove(tb, twoSteps(false), Bounds{}) })
	check.Contains(t, text, "\nzksim: smallest: it needs no fault\n")
	t.Chdir(t.TempDir()) // without the failure that was saved
	text = failure(func(tb TB) { Prove(tb, lostReply(), Bounds{Clients: 1, Faults: 1}) })
	check.Contains(t, text, "\nzksim: smallest: no run with fewer faults violates anything, "+
		"for 1 client, 1 round\nof the runs with fewer faults:\njudged in each run: liveness, invariant\ntried:\n")
	check.Contains(t, text, "\nnot tried, so not proved:\n")
}

// lostReply is a workload whose calls must not fail.
func lostReply() scenario.Workload {
	w := twoSteps(true)
	w.Judge = scenario.Invariants(scenario.Invariant{Name: "no call fails",
		Holds: func(e scenario.Evidence) error {
			for _, op := range e.History.Ops {
				if !op.OK() {
					return errors.New("a call has failed")
				}
			}
			return nil
		}})
	return w
}

// TestLeftRunOfAProofMayBeAnother than the one that ended the process, and its end says so.
func TestLeftRunOfAProofMayBeAnother(t *testing.T) {
	for kind, want := range map[sim.ScheduleKind]bool{sim.Latencies: false, sim.Turns: true} {
		name := filepath.Join(t.TempDir(), "left-1.yaml")
		check.OK(t, os.WriteFile(name, nil, 0o666))
		var says strings.Builder
		s := scenario.Scenario{Schedule: sim.Schedule{Kind: kind}}
		check.OK(t, removeCleared(name, s, &says))
		check.Equal(t, strings.Contains(says.String(), "may be another run"), want, "%v", kind)
		check.Equal(t, exists(name), false)
	}
}
