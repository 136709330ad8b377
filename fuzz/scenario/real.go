package scenario

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// RunReal is Run against a real ZooKeeper: the same script, the same faults by a proxy, the same
// judge. The scripts are played pace times faster than virtual time, 8 times if pace is 0: a
// session of four seconds lasts half a second of the clock. The servers are a standalone one, or
// all of one ensemble; their number takes the place of Script.Servers. They must have a tick of two
// seconds divided by the pace, and look for empty containers every minute divided by the pace. No
// other client may use them meanwhile, and they lose all their znodes.
//
// Two runs differ. If the machine is so busy that a run is stalled for more than half a second of
// its own time, a violation of a property with a time limit proves nothing: its verdict is unknown.
// Only a script that never ends still violates liveness.
// Waits that use the clock itself, such as the pauses of a retry policy, appear longer in the
// history by the factor of the pace. An error means the same as in Run, or that the server could
// not be used; see [realworld.World].
func (s Scenario) RunReal(ctx context.Context, servers []realworld.Server, pace int) (*Outcome,
	error) {
	s.Script.Servers = len(servers)
	if err := s.playableReal(); err != nil {
		return nil, err
	}
	world, players := s.realWorld(servers, pace)
	result, err := world.Run(ctx)
	if err != nil {
		return nil, err
	}
	return s.judgeReal(result, players)
}

// playableReal is playable for a run against a real ZooKeeper.
func (s Scenario) playableReal() error {
	if err := s.playable(); err != nil {
		return err
	}
	if s.Script.goroutines() > 1 || s.Script.Careless {
		return fmt.Errorf("goroutines: %d, careless: %v; expected one goroutine "+
			"and no careless script: they need a World",
			s.Script.goroutines(), s.Script.Careless)
	}
	if s.Schedule.Kind != sim.Latencies {
		return fmt.Errorf("schedule: %s; expected latencies: "+
			"the messages of a real server cannot be ordered", s.Schedule)
	}
	return nil
}

// realWorld is the world of a run against a real ZooKeeper. The run makes the players.
func (s Scenario) realWorld(servers []realworld.Server, pace int) (realworld.World, []*Player) {
	players := make([]*Player, s.Script.Clients)
	w := realworld.World{
		Servers: servers, Plan: s.Plan, Pace: cmp.Or(pace, defaultPace),
		SessionTimeout: SessionTimeout, Limit: s.limit(), Settle: s.settleTime(),
	}
	for i, name := range s.Script.ClientNames() {
		w.Clients = append(w.Clients,
			realworld.Actor{Name: name, Run: func(ctx context.Context, c *realworld.Client) {
				p := newPlayer(ctx, realClient{c}, i, s.Seed)
				players[i] = p
				p.play(s)
			}})
	}
	return w, players
}

// judgeReal is judge for a run against a real ZooKeeper.
func (s Scenario) judgeReal(result *trace.Result, players []*Player) (*Outcome, error) {
	plan := s.Plan
	s.Plan = asItWas(plan, result.Down)
	o, err := s.judge(result, players, s.Script.realLag())
	if err != nil {
		return nil, err
	}
	o.Scenario.Plan = plan
	o.excuse()
	o.excuseServers()
	return o, nil
}

// realLag is lag for a real ZooKeeper. A leader drops a follower that lags for longer than the
// syncLimit, five ticks as a rule. A single server may stall without an excuse for the run.
func (s Script) realLag() time.Duration {
	if s.Servers > 1 {
		return 5 * tickTime
	}
	return maxStalled
}

// defaultPace is how many times faster than virtual time scripts are played against a real server.
const defaultPace = 8

// asItWas is a plan whose restarts take as long as those of the run. The judge's patience
// depends on it.
func asItWas(plan []fault.Fault, down time.Duration) []fault.Fault {
	plan = slices.Clone(plan)
	for i := range plan {
		switch plan[i].Kind {
		case fault.Restart, fault.Elect, fault.FailoverLose, fault.FailoverKeep:
			plan[i].For = max(plan[i].For, down)
		}
	}
	return plan
}

// maxStalled is how long a real run may have been stalled if properties with a time limit are to be
// judged, and maxStalledBusy if a script has not ended, which had minutes.
const (
	maxStalled     = 500 * time.Millisecond
	maxStalledBusy = 5 * time.Second
)

// timely are the properties with a time limit.
var timely = []string{linearizability.Liveness, linearizability.Belief, linearizability.View,
	linearizability.Presence}

// excuse makes violations of properties with a time limit unknown if the run was stalled. Liveness
// stays violated by a script that has not ended, unless the run was stalled for very long.
func (o *Outcome) excuse() {
	r := o.Result
	if r.Stalled <= maxStalled {
		return
	}
	for i, v := range o.Report.Verdicts {
		hangs := v.Property == linearizability.Liveness && len(r.Busy) > 0 &&
			r.Stalled <= maxStalledBusy
		if v.Status == linearizability.Violated && slices.Contains(timely, v.Property) && !hangs {
			o.Report.Verdicts[i].Status = linearizability.Unknown
			o.Report.Verdicts[i].Summary = fmt.Sprintf("the machine was too busy for %s: %s",
				r.Stalled, v.Summary)
		}
	}
}
