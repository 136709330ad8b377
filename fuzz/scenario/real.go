package scenario

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/linearizability"
)

// DefaultPace is how many times faster than virtual time scripts are played against a real server:
// a session of four seconds lasts half a second of the clock.
const DefaultPace = 8

// TickTime is the tick that a real server must have at a pace. A pace of 0 means
// DefaultPace.
func TickTime(pace int) time.Duration { return tickTime / time.Duration(paceOr(pace)) }

func paceOr(pace int) int {
	if pace == 0 {
		return DefaultPace
	}
	return pace
}

// RunReal is Run against a real ZooKeeper: the same script, the same faults by a proxy, the same
// judge. No other client may use the server meanwhile, and the server loses all its znodes. Two
// runs differ. The tick of the server is that of [TickTime], and it looks for empty containers
// every minute divided by the pace. A pace of 0 means DefaultPace. Waits that use the clock itself,
// such as the pauses of a retry policy, appear longer in the history by the factor of the pace. An
// error means the same as in Run, or that the server could not be used; see [fakezk.RealWorld].
func (s Scenario) RunReal(ctx context.Context, server realworld.Server, pace int) (*Outcome,
	error) {
	if err := s.playable(); err != nil {
		return nil, err
	}
	if s.Script.GoroutineCount() > 1 || s.Script.Careless {
		return nil, fmt.Errorf("goroutines: %d, careless: %v; expected one goroutine "+
			"and no careless script: they need a World",
			s.Script.GoroutineCount(), s.Script.Careless)
	}
	if s.Schedule.Kind != sim.Latencies {
		return nil, fmt.Errorf("schedule: %s; expected latencies: "+
			"the messages of a real server cannot be ordered", s.Schedule)
	}
	players := make([]*Player, s.Script.Clients)
	w := realworld.World{
		Server: server, Plan: s.Plan, Pace: paceOr(pace),
		SessionTimeout: SessionTimeout, Limit: s.limit(), Settle: s.settle(),
	}
	for i, name := range s.Script.ClientNames() {
		w.Clients = append(w.Clients,
			realworld.Actor{Name: name, Run: func(ctx context.Context, c *realworld.Client) {
				p := newPlayer(ctx, realClient{c}, i, s.Seed)
				players[i] = p
				s.Workload.Play(p, s.Script)
			}})
	}
	result, err := w.Run(ctx)
	if err != nil {
		return nil, err
	}
	plan := s.Plan
	s.Plan = asItWas(plan, result.Down)
	o, err := s.judge(result, players)
	if err == nil {
		o.Scenario.Plan = plan
	}
	return o, err
}

// asItWas is a plan whose restarts take as long as they took in the run. The judge's patience
// depends on it.
func asItWas(plan []fault.Fault, down time.Duration) []fault.Fault {
	plan = slices.Clone(plan)
	for i := range plan {
		if plan[i].Kind == fault.Restart {
			plan[i].For = max(plan[i].For, down)
		}
	}
	return plan
}

// maxStalled is how long a real run may have been stalled if properties with a time limit are to be
// judged.
const maxStalled = 500 * time.Millisecond

// timely are the properties with a time limit.
var timely = []string{linearizability.Liveness, linearizability.Belief, linearizability.View,
	linearizability.Presence}

// Disturbed reports whether a real run proves nothing because the machine was too busy: a property
// with a time limit is violated, and the run was stalled for more than half a second of its own
// time. See [fakezk.Result].
func (o *Outcome) Disturbed() bool {
	return o.Result.Stalled > maxStalled && slices.Contains(timely, o.Property())
}
