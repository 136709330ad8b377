package sim

import (
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
	"github.com/zksim/zksim/fakezk/trace"
)

const (
	// patrol is the time between two looks of the watchdog at the number of steps.
	patrol = 20 * time.Millisecond
	// firstLook is the number of looks without a step after which it looks at the stacks. In a
	// program of zksim go no dial by TCP is one on the real network.
	firstLook = 5
)

// watch waits for the run to end. When no step is made for the time of World.Freeze, it gives up
// and returns the stacks of the run. It waits for a quarter of that time only if nothing in the run
// can go on: all goroutines wait, and one of them for a mutex. If a goroutine waits for the real
// network, it gives up after 100 ms: the next wait would be as long.
func (s *simulation) watch(ended <-chan *bubble.Failure) (*bubble.Failure, string) {
	every := min(s.world.Freeze/4, patrol)
	patience := int(s.world.Freeze / every)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last, idle := int64(-1), 0; ; {
		select {
		case failure := <-ended:
			return failure, ""
		case <-tick.C:
		}
		if steps := s.steps.Load(); steps != last {
			last, idle = steps, 0
			continue
		}
		idle++
		if numGoroutine() >= tooMany {
			s.exitOnGoroutines()
		}
		early := idle == firstLook && !Overlaid
		if !early && idle != patience/4 && idle < patience {
			continue
		}
		stacks := s.bubbleStacks()
		if idle >= patience || onNetwork(stacks) || idle >= patience/4 && lockedUp(stacks) {
			return nil, stacks
		}
	}
}

// result builds the Result of the run. A run that has frozen may still go on: only its journal, and
// what was known at rest, are read then.
func (s *simulation) result(failure *bubble.Failure, frozen string) *trace.Result {
	if frozen != "" {
		return s.frozenResult(frozen)
	}
	r := s.facts()
	switch {
	case failure == nil:
	case failure.Kind == "panic":
		r.Panics = append(r.Panics, failure.Message+"\n"+failure.Stack)
	default:
		stacks := s.bubbleStacks()
		leakedGoroutines.Add(int64(strings.Count(stacks, "\n\n")) + 1)
		if r.Runaway == nil { // the goroutines of a runaway were left alone
			r.Leaked, r.Scripts = failure.Message+"\n"+stacks, s.scriptsSoFar()
		}
	}
	return s.complete(r)
}

// frozenResult is the result of a run that was given up. If it was at rest already, all but its end
// is known.
func (s *simulation) frozenResult(stacks string) *trace.Result {
	spins := isRunning(stacks)
	r := s.atRest.Load()
	if r == nil {
		return &trace.Result{Trace: s.journal.Trace(), Frozen: stacks, Spins: spins,
			Steps: s.steps.Load()}
	}
	if r.Spins = spins; spins || r.Runaway == nil {
		r.Leaked = "the run could not be ended\n" + stacks
	}
	return s.complete(r)
}

// facts are what is known of the run so far.
func (s *simulation) facts() *record.Record {
	r := s.record.Record()
	r.Steps, r.OutOfSteps, r.Missed = s.stepsAtRest, s.outOfSteps, s.net.Missed()
	if found := s.runaway.Load(); found != nil {
		r.Runaway = &found.Runaway
	}
	if s.order != nil {
		r.Decisions = s.order.decisions
	}
	return r
}

func (s *simulation) complete(r *record.Record) *trace.Result {
	out := r.Complete(s.journal.Trace())
	if out.Runaway != nil {
		out.Runaway.Step = out.Step(s.runaway.Load().since)
	}
	return out
}

// release drops the memory of a run that has ended. Goroutines that are left behind keep the rest.
func (s *simulation) release() {
	s.journal.Release()
	s.record.Release()
	s.atRest.Store(nil)
	s.engine, s.net, s.order = nil, nil, nil
	s.agenda.Clear()
}
