// Package agenda has the time of a World, and the events that are to come. Only Elapsed may be
// called by several goroutines.
package agenda

import "time"

// Never is later than every event.
const Never = time.Duration(1 << 62)

// An Agenda has events. No two of them are of one instant. Use Begin first.
type Agenda struct {
	// Crowded lets events share an instant. Then those of one instant come as they were scheduled.
	Crowded bool

	start    time.Time
	began    int64         // start as UnixNano
	clockLag time.Duration // by which the clock is set back
	events   eventHeap
	sequence int64
	woke     bool
}

// Begin starts the clock.
func (a *Agenda) Begin() {
	a.start = time.Now()
	a.began = a.start.UnixNano()
}

// Elapsed is the time since the start, as clients see it.
func (a *Agenda) Elapsed() time.Duration { return time.Duration(time.Now().UnixNano() - a.began) }

// Now is the time of the World, which SetBack has set back: else it is Elapsed.
func (a *Agenda) Now() time.Duration { return a.Elapsed() - a.clockLag }

// ClockLag is by how much the World's clock is set back.
func (a *Agenda) ClockLag() time.Duration { return a.clockLag }

// SetBack sets the World's clock back to a time, until SetRight.
func (a *Agenda) SetBack(to time.Duration) { a.clockLag = a.Elapsed() - to }

// SetRight ends SetBack.
func (a *Agenda) SetRight() { a.clockLag = 0 }

// Clock is Now as a time of the clock.
func (a *Agenda) Clock() time.Time { return a.At(a.Now()) }

// At is a time as a time of the clock, and Since the inverse.
func (a *Agenda) At(t time.Duration) time.Time        { return a.start.Add(t) }
func (a *Agenda) Since(clock time.Time) time.Duration { return clock.Sub(a.start) }

// Schedule plans an event at a time, or a few nanoseconds later if others are due then. It returns
// the time.
func (a *Agenda) Schedule(at time.Duration, apply func()) time.Duration {
	at = max(at, a.Now())
	for !a.Crowded && a.events.has(at) {
		at++
	}
	a.sequence++
	a.events.push(event{at, a.sequence, apply})
	return at
}

// ScheduleFirst plans events that come before all others, one after the other from now on. Others
// that are due meanwhile are put off by some nanoseconds, in their order.
func (a *Agenda) ScheduleFirst(apply []func()) {
	if !a.Crowded {
		a.events.putOff(a.Now() + time.Duration(len(apply)))
	}
	for _, f := range apply {
		a.Schedule(a.Now(), f)
	}
}

// Next is the time of the earliest event, Never if there is none.
func (a *Agenda) Next() time.Duration {
	if len(a.events) == 0 {
		return Never
	}
	return a.events[0].at
}

// Apply removes the earliest event and lets it happen.
func (a *Agenda) Apply() { a.events.pop().apply() }

// Woke notes that an event has woken a goroutine of a client.
func (a *Agenda) Woke() { a.woke = true }

// TakeWoke reports whether Woke was called since the last time.
func (a *Agenda) TakeWoke() bool {
	woke := a.woke
	a.woke = false
	return woke
}

// Clear drops all events.
func (a *Agenda) Clear() { a.events = nil }
