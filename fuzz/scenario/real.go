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

// DefaultPace is how much faster than they say scripts are played against a real
// server: a session of four seconds lasts half a second of the clock.
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

// RunReal is Run against a real ZooKeeper, which nobody else may use meanwhile and
// which loses all its znodes: the same script, the same faults by a proxy, the same
// judge. Two runs differ. The server's tick is that of [TickTime], it looks for
// empty containers every minute divided by the pace, and a pace of 0 means
// DefaultPace; what goes by the clock itself, such as the pauses of a retry policy,
// is slower by the pace than the history says. An error means what it means in Run,
// or that the server could not be used; see [fakezk.RealWorld].
func (s Scenario) RunReal(ctx context.Context, server realworld.Server, pace int) (*Outcome,
	error) {
	if err := s.playable(); err != nil {
		return nil, err
	}
	if s.Script.GoroutineCount() > 1 || s.Script.Careless {
		return nil, fmt.Errorf("goroutines: %d, careless: %v; expected one goroutine and no careless script: they need a World", s.Script.GoroutineCount(), s.Script.Careless)
	}
	if s.Schedule.Kind != sim.Latencies {
		return nil, fmt.Errorf("schedule: %s; expected latencies: nobody can order the messages of a real server", s.Schedule)
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

// asItWas is a plan whose restarts take as long as they did, by which patience is to
// be judged.
func asItWas(plan []fault.Fault, down time.Duration) []fault.Fault {
	plan = slices.Clone(plan)
	for i := range plan {
		if plan[i].Kind == fault.Restart {
			plan[i].For = max(plan[i].For, down)
		}
	}
	return plan
}

// maxStalled is how long a real run may have been stalled for what has to happen
// within some time to be judged by it.
const maxStalled = 500 * time.Millisecond

// timely are the properties by which something has to happen within some time.
var timely = []string{linearizability.Liveness, linearizability.Belief, linearizability.View,
	linearizability.Presence}

// Disturbed reports whether the outcome of a real run says nothing, as the machine
// was too busy: something that has to happen within some time did not, and the run
// had been stalled for half a second of its own time. See [fakezk.Result].
func (o *Outcome) Disturbed() bool {
	return o.Result.Stalled > maxStalled && slices.Contains(timely, o.Property())
}
