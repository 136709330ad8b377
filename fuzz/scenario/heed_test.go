package scenario_test

import (
	"context"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestALossCountsUntilTheRelease: one that comes between a hold and the call of its release is
// recorded; one that the release causes is not.
func TestALossCountsUntilTheRelease(t *testing.T) {
	for _, c := range []struct {
		about string
		lose  string
		want  int
	}{
		{"in the hold", "hold", 1},
		{"between the hold and the release", "pause", 1},
		{"in the release", "release", 0},
		{"never", "", 0},
	} {
		w := scenario.Workload{Name: "own", Impl: "mine", Judge: scenario.Invariants(),
			Play: func(p *scenario.Player, _ scenario.Script) {
				lost := make(chan struct{})
				if c.lose == "hold" {
					close(lost)
				}
				p.Begin(ops.Lock, "").OK(linearizability.Result{})
				p.Hold("hold", lost)
				p.BeginWithin(ops.Use, "").OK(linearizability.Result{})
				p.Pause(time.Millisecond)
				if c.lose == "pause" {
					close(lost)
				}
				_ = p.Call(ops.Unlock, "", func(context.Context) error {
					if c.lose == "release" {
						close(lost)
					}
					p.Pause(time.Millisecond)
					return nil
				})
			}}
		one := scenario.Script{Clients: 1, Rounds: 1}
		o, err := scenario.Scenario{Workload: w, Script: one}.Run()
		check.OK(t, err)
		losses := 0
		for _, n := range o.History.Notices {
			if n.Kind == linearizability.LockLost {
				losses++
			}
		}
		if losses != c.want {
			t.Errorf("%s: %d losses\n%s", c.about, losses, o.Result.Trace)
		}
	}
}

// TestARequestWithoutAnAnswerIsNoted with the loss that a lease signals then.
func TestARequestWithoutAnAnswerIsNoted(t *testing.T) {
	for _, c := range []struct {
		about, plan string
		want        bool
	}{
		{"answered", "", false},
		{"delayed", "delay 400ms client=a op=exists request=2", true},
		{"delayed by less", "delay 20ms client=a op=exists request=2", false},
	} {
		w := scenario.Workload{Name: "own", Impl: "mine", Judge: scenario.Invariants(),
			Play: func(p *scenario.Player, _ scenario.Script) {
				if _, _, err := p.Conn().Exists("/"); err != nil {
					return
				}
				lost := make(chan struct{})
				p.Begin(ops.Lock, "").OK(linearizability.Result{})
				p.AtCall(p.Heed(0, lost))
				done := make(chan struct{})
				go func() {
					defer close(done)
					_, _, _ = p.Conn().Exists("/lease")
				}()
				p.Pause(200 * time.Millisecond)
				close(lost)
				_ = p.Call(ops.Unlock, "", func(context.Context) error { return nil })
				<-done
			}}
		s := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}}
		if c.plan != "" {
			f, err := fault.Parse(c.plan)
			check.OK(t, err)
			s.Plan = []fault.Fault{f}
		}
		o, err := s.Run()
		check.OK(t, err)
		noted := false
		for _, n := range o.History.Notices {
			noted = noted || n.Kind == linearizability.Unanswered
		}
		if noted != c.want {
			t.Errorf("%s: noted %v\n%s", c.about, noted, o.Result.Trace)
		}
	}
}
