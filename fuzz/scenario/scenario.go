package scenario

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// Scenario is everything that decides a run: the workload, the script, the seed, the faults and the
// schedule. Two runs of a Scenario have equal traces, byte for byte.
type Scenario struct {
	Workload Workload
	Script   Script
	Seed     uint64
	Plan     []fault.Fault
	// Schedule orders the messages; the zero value gives each a latency.
	Schedule sim.Schedule
	// On is the running ensemble to play on, in real time; nil for a World.
	On *Ensemble
	// Logs puts into the story what the code logs by package log, by log/slog and by the
	// go-zookeeper client. Otherwise it is dropped. It changes no run.
	Logs bool

	recorded []string                          // the clients, if it was recorded elsewhere
	observed bool                              // see Observed
	stackOf  trace.RequestPoint                // a request to find the senders of, or allRequests
	drawn    func(player, label string, n int) // for tests: called with each draw
}

// Validate returns an error if the script is wrong, alone or for the workload. The error begins
// with the key of a scenario file.
func (s Scenario) Validate() error {
	if err := s.Script.validate(); err != nil {
		return err
	}
	if s.Script.goroutines() > 1 && !s.Workload.Concurrent(s.Script) {
		return fmt.Errorf("goroutines: %d; expected 1: "+
			"an object of %s %s is not used by several goroutines",
			s.Script.Goroutines, s.Workload.Name, s.Workload.Impl)
	}
	return nil
}

// Run plays the scenario and judges it. An error means that the scenario is wrong, for instance
// that its plan names a client that it does not have, or that the code under test does nothing at
// the path of its claims.
func (s Scenario) Run() (*Outcome, error) {
	if err := s.playable(); err != nil {
		return nil, err
	}
	switch {
	case s.On != nil:
		return s.On.play(s)
	case s.Workload.Elsewhere != nil:
		return s.Workload.Elsewhere(s)
	}
	world, players := s.world()
	result, err := world.Run()
	if err != nil {
		return nil, err
	}
	return s.outcome(result, players)
}

// outcome judges a run in a World.
func (s Scenario) outcome(result *trace.Result, players []*Player) (*Outcome, error) {
	o, err := s.judge(result, players, s.Script.lag())
	if err == nil {
		judgeConnections(o)
		o.maker = sync.OnceValue(o.findMaker) // the code that made the znode to blame
	}
	return o, err
}

// playable is Validate for a scenario that is about to run.
func (s Scenario) playable() error {
	if s.Workload.Play == nil || s.Workload.Judge == nil {
		return fmt.Errorf("workload %s %s: Play or Judge is missing", s.Workload.Name,
			s.Workload.Impl)
	}
	return s.Validate()
}

// judge makes the outcome of a run. lag is the time by which a server may be late.
func (s Scenario) judge(
	result *trace.Result, players []*Player, lag time.Duration,
) (o *Outcome, err error) {
	o = &Outcome{Scenario: s, Result: result, Playing: max(0, result.Elapsed-s.settleTime())}
	if result.Frozen != "" {
		return o, nil // the players may still run
	}
	players = everyGoroutine(players)
	o.History = history(result, players)
	why := cutShort(result, o.History, max(s.limit(), result.Elapsed-s.settleTime()))
	if o.CutShort = why != "" || result.Runaway != nil; !o.CutShort {
		o.Rest = s.Workload.Keeps.without(rest(result, o.History, players))
	}
	if o.Reached, err = reached(s.Workload, players); err != nil {
		return nil, err
	}
	o.Optional = optional(players)
	o.Shared = s.Workload.Concurrent(s.Script) && (s.Workload.Handles ||
		slices.ContainsFunc(players, func(p *Player) bool { return p.shared.Load() }))
	o.signals = signals(players)
	o.History.OneServer = s.Script.Servers <= 1 && s.On == nil // there, it may be one of several
	o.Report, err = s.Workload.report(o.evidence(lag))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", s.Workload.Name, s.Workload.Impl, err)
	}
	judgeClosing(&o.Report, o.History, o.Rest)
	if !s.Workload.Deaf {
		judgePromptness(&o.Report, o.History, s.Plan)
	}
	switch {
	case result.Runaway != nil:
		o.Report.Worsen(runawayVerdict(result))
	case o.CutShort:
		o.Report.Verdicts = withoutEnd(o.Report.Verdicts, why)
	default:
		o.Hangs = judgeScripts(&o.Report, result, players, s.limit())
		judgeLeaks(&o.Report, o.Rest)
		judgeWatches(&o.Report, result, o.History)
	}
	tellLastActs(&o.Report, result, o.History)
	return o, nil
}

// evidence is what the judge of the workload gets. lag is the time by which a server may be late.
func (o *Outcome) evidence(lag time.Duration) Evidence {
	return Evidence{History: o.History, Rest: o.Rest, Plan: o.Scenario.Plan, Lag: lag,
		Signals: o.signals, Reached: o.Reached}
}

// everyGoroutine lists the players of all goroutines of the clients that have begun.
func everyGoroutine(clients []*Player) []*Player {
	var all []*Player
	for _, p := range clients {
		for ; p != nil; p = p.before {
			all = append(all, p.all()...)
		}
	}
	return all
}

func signals(players []*Player) bool {
	return slices.ContainsFunc(players, func(p *Player) bool { return p.signals })
}

// optional has the optional methods that players have noted.
func optional(players []*Player) map[string]bool {
	all := map[string]bool{}
	for _, p := range players {
		for method, called := range p.optional {
			all[method] = all[method] || called
		}
	}
	return all
}

// reached lists the goals that players have reached. A goal that the workload does not declare is
// an error: a test would not notice that it is never reached.
func reached(w Workload, players []*Player) ([]string, error) {
	var goals []string
	for _, p := range players {
		goals = append(goals, p.reached...)
	}
	slices.Sort(goals)
	goals = slices.Compact(goals)
	for _, goal := range goals {
		if !slices.Contains(w.Sometimes, goal) {
			return nil, fmt.Errorf("%s %s: the goal %q was reached, "+
				"which is none of Workload.Sometimes: %q", w.Name, w.Impl, goal, w.Sometimes)
		}
	}
	return goals, nil
}

// withoutEnd replaces the verdict on liveness by that of a run that was cut short: unknown, with
// the reason.
func withoutEnd(verdicts []linearizability.Verdict, why string) []linearizability.Verdict {
	verdicts = slices.DeleteFunc(slices.Clone(verdicts), func(v linearizability.Verdict) bool {
		return v.Property == linearizability.Liveness && v.Status != linearizability.Violated
	})
	if slices.ContainsFunc(verdicts, func(v linearizability.Verdict) bool {
		return v.Property == linearizability.Liveness
	}) {
		return verdicts
	}
	return append(verdicts, linearizability.Verdict{
		Property: linearizability.Liveness, Status: linearizability.Unknown, Summary: why,
	})
}

// world describes the run. The list of players is filled in while it runs.
func (s Scenario) world() (sim.World, []*Player) {
	players := make([]*Player, s.Script.Clients)
	w := sim.World{
		Seed:           s.Seed,
		Nodes:          s.Workload.Nodes,
		Next:           s.Workload.Next,
		Plan:           s.Plan,
		Schedule:       s.Schedule,
		Server:         sim.Settings{TickTime: tickTime},
		Servers:        s.Script.Servers,
		SessionTimeout: SessionTimeout,
		Limit:          s.limit(),
		Overtime:       overtime * time.Duration(1+len(s.Plan)), // a fault may spoil one poll
		Settle:         s.settleTime(),
		Freeze:         s.Workload.Freeze,
		Logs:           s.Logs, ClientBuffer: frames(s.Seed), Senders: s.stackOf == allRequests,
	}
	w.StackOf.Client, w.StackOf.Number = s.stackOf.Client, s.stackOf.Number
	var heard *tally
	if s.Schedule.Kind == sim.Latencies {
		heard = &tally{of: map[string]int{}}
	}
	for i, name := range s.Script.ClientNames() {
		w.Clients = append(w.Clients,
			sim.Actor{Name: name, Run: func(ctx context.Context, c *sim.Client) {
				p := newPlayer(ctx, worldClient{c.Goroutine(0)}, i, s.Seed)
				p.careless, p.faults, p.drawn = s.Script.Careless, len(s.Plan), s.drawn
				p.heard = heard
				if players[i] != nil {
					p.succeed(players[i])
				}
				players[i] = p
				p.play(s)
			}})
	}
	return w, players
}

// settleTime is the time for which the World goes on after the scripts.
func (s Scenario) settleTime() time.Duration {
	if slices.ContainsFunc(s.Plan, func(f fault.Fault) bool { return f.Kind == fault.Blackhole }) {
		return settleBlackhole
	}
	return settle
}

// limit is the virtual time that the scripts get.
func (s Scenario) limit() time.Duration {
	limit := baseLimit + slowness(s.Seed)
	if s.Workload.Length != nil {
		limit += s.Workload.Length(s.Script)
	}
	for _, f := range s.Plan {
		limit += f.For + f.At
	}
	return limit
}

// String is the scenario in one line.
func (s Scenario) String() string {
	if s.recorded != nil || s.observed {
		return s.elsewhere()
	}
	text := fmt.Sprintf("%s %s, %s, seed: %d", s.Workload.Name, s.Workload.Impl, s.Script, s.Seed)
	if s.Schedule.Kind != sim.Latencies {
		text += ", schedule: " + s.Schedule.String()
	}
	return text
}

// virtualTime is a virtual time in milliseconds as text.
func virtualTime(d time.Duration) string { return d.Round(time.Millisecond).String() }
