package fuzz

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
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
			"zksim: not complete: 0 of an estimated 0 runs without a fault, none with one, " +
				"for 2 clients, 1 round, at most 2 faults"},
	} {
		text := failure(func(tb TB) { Prove(tb, twoSteps(c.atomically), c.bounds) })
		if !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: failed with:\n%s\nwant %s", c.about, text, c.want)
		}
	}
}
