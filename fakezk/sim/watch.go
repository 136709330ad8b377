package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
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

// result builds the Result of the run. After a freeze the simulation may still be running, so only
// guarded fields are read, and those of the run at rest.
func (s *simulation) result(failure *bubble.Failure, frozen string) *trace.Result {
	if frozen != "" {
		return s.frozenResult(frozen)
	}
	out := s.out
	out.Trace = s.journal.finish()
	out.Panics = s.panics
	if s.order != nil {
		out.Decisions = s.order.decisions
	}
	switch {
	case failure == nil:
	case failure.Kind == "panic":
		out.Panics = append(out.Panics, failure.Message+"\n"+failure.Stack)
	default:
		stacks := s.bubbleStacks()
		leakedGoroutines.Add(int64(strings.Count(stacks, "\n\n")) + 1)
		if out.Runaway == nil { // the goroutines of a runaway were left alone
			out.Leaked, out.Scripts = failure.Message+"\n"+stacks, s.scriptsSoFar()
		}
	}
	out.Missed = s.net.Missed()
	s.notes.Into(&out)
	if out.Runaway != nil {
		out.Runaway.Step = out.Step(s.runawaySince)
	}
	return &out
}

// frozenResult is the result of a run that was given up. If it was at rest already, all but its end
// is known.
func (s *simulation) frozenResult(stacks string) *trace.Result {
	s.mu.Lock()
	atRest := s.atRest
	s.mu.Unlock()
	if atRest == nil {
		return &trace.Result{Trace: s.journal.snapshot(), Frozen: stacks, Spins: isRunning(stacks),
			Steps: s.steps.Load()}
	}
	out := atRest.out
	out.Trace = s.journal.snapshot()
	out.Spins = isRunning(stacks)
	if out.Runaway == nil || out.Spins {
		out.Leaked = "the run could not be ended\n" + stacks
	}
	atRest.notes.Into(&out)
	if out.Runaway != nil {
		out.Runaway.Step = out.Step(s.runawaySince)
	}
	return &out
}

// release drops the memory of a run that has ended. Goroutines that are left behind keep the rest.
func (s *simulation) release() {
	s.journal.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes, s.out, s.atRest = trace.Notes{}, trace.Result{}, nil
	s.engine, s.net, s.order, s.origins = nil, nil, nil, nil
	s.agenda.Clear()
	s.notified = nil
}

// atRest is a run at rest, in case that it cannot be ended.
type atRest struct {
	out   trace.Result
	notes trace.Notes
}

// keepAtRest keeps the run as it is before connections are closed.
func (s *simulation) keepAtRest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := &atRest{s.out, s.notes}
	kept.out.Panics = slices.Clone(s.panics)
	if s.order != nil {
		kept.out.Decisions = s.order.decisions
	}
	kept.out.Missed = s.net.Missed()
	s.atRest = kept
}
