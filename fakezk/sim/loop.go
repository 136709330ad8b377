package sim

import (
	"slices"
	"testing/synctest"
	"time"
)

// loop applies events until done, the time limit or the step limit.
func (s *simulation) loop(limit time.Duration, done func() bool) {
	s.woken = true
	for {
		if s.woken || s.world.unordered {
			s.quiesce()
		}
		if done() {
			return
		}
		if s.outOfBounds() {
			return
		}
		if s.order != nil {
			s.order.plan()
		}
		next, tick := s.next()
		if s.now() < min(next, limit) {
			s.sleep(min(next, limit))
			s.woken = true // others may have woken at the same instant: let them finish first
			continue
		}
		if next > limit {
			return
		}
		s.step()
		s.apply(tick)
	}
}

// outOfBounds reports whether the run must end at once.
func (s *simulation) outOfBounds() bool {
	if s.closing.Load() {
		return false
	}
	s.countGoroutines()
	if s.runaway.Load() {
		return true
	}
	s.out.OutOfSteps = s.steps.Load() >= s.world.MaxSteps || s.bytes >= maxBytes
	return s.out.OutOfSteps
}

func (s *simulation) step() {
	s.steps.Add(1)
	s.journal.nextStep()
}

// quiesce waits until every other goroutine of the bubble is blocked, and takes in their requests
// in canonical order.
func (s *simulation) quiesce() {
	for s.woken = true; s.woken; {
		s.woken = false
		if !s.world.unordered {
			synctest.Wait()
		}
		select {
		case <-s.wake:
		default:
		}
		s.catchUp()
		if s.collect() && s.world.unordered {
			s.woken = true
		}
	}
}

// next is when the next thing happens: an event, or, if tick is set, the engine's own
// deadline.
func (s *simulation) next() (at time.Duration, tick bool) {
	at = never
	if len(s.events) > 0 {
		at = s.events[0].at
	}
	d := s.engine.NextDeadline()
	if d.IsZero() {
		return at, false
	}
	// A leader without a majority ends no session.
	deadline := max(d.Sub(s.start), s.net.AloneUntil(s.engine.Leader(), s.now()))
	if deadline < at {
		return deadline, true
	}
	return at, false
}

const never = time.Duration(1 << 62)

func (s *simulation) apply(tick bool) {
	if tick {
		s.tick()
	} else {
		s.events.pop().apply()
	}
}

// tick lets the engine end expired sessions.
func (s *simulation) tick() { s.react(withoutOwnDeletions(s.engine.Tick(s.clock()))) }

// now is the World's time since the start, and clock the same as a time of the clock.
func (s *simulation) now() time.Duration { return s.elapsed() - s.back }

func (s *simulation) clock() time.Time { return s.start.Add(s.now()) }

// elapsed is the virtual time since the start. The clients' time is always this one.
func (s *simulation) elapsed() time.Duration {
	return time.Duration(time.Now().UnixNano() - s.began.Load())
}

// schedule plans an event at a time, or a few nanoseconds later: no two events share an instant.
func (s *simulation) schedule(at time.Duration, apply func()) time.Duration {
	at = max(at, s.now())
	for !s.world.unordered && s.events.has(at) {
		at++
	}
	s.sequence++
	s.events.push(event{at, s.sequence, apply})
	return at
}

type event struct {
	at       time.Duration
	sequence int64
	apply    func()
}

// before orders events by time, and those of one time as they were scheduled.
func (e event) before(other event) bool {
	return e.at < other.at || e.at == other.at && e.sequence < other.sequence
}

// eventHeap is a binary heap. That of container/heap would allocate for each event.
type eventHeap []event

// has reports whether there is an event of an instant. There are few events.
func (h eventHeap) has(at time.Duration) bool {
	return slices.ContainsFunc(h, func(e event) bool { return e.at == at })
}

func (h *eventHeap) push(e event) {
	list := append(*h, e)
	i := len(list) - 1
	for parent := (i - 1) / 2; i > 0 && e.before(list[parent]); parent = (i - 1) / 2 {
		list[i] = list[parent]
		i = parent
	}
	list[i] = e
	*h = list
}

// pop removes the earliest event.
func (h *eventHeap) pop() event {
	list := *h
	first, e := list[0], list[len(list)-1]
	list[len(list)-1] = event{}
	list = list[:len(list)-1]
	i := 0
	for child := 1; child < len(list); child = 2*i + 1 {
		if child+1 < len(list) && list[child+1].before(list[child]) {
			child++
		}
		if !list[child].before(e) {
			break
		}
		list[i] = list[child]
		i = child
	}
	if len(list) > 0 {
		list[i] = e
	}
	*h = list
	return first
}
