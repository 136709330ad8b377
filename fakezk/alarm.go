package fakezk

import (
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
)

// alarm calls ring at a time, with the lock held.
type alarm struct {
	mu    *sync.Mutex
	ring  func()
	timer *time.Timer
	at    time.Time // zero if the alarm is not set
}

// set makes the alarm ring no later than at a time. It may ring early: then ring finds nothing to
// do, and sets it again.
func (a *alarm) set(at time.Time) {
	if !a.at.IsZero() && !at.Before(a.at) {
		return
	}
	a.at = at
	if a.timer == nil {
		a.timer = time.AfterFunc(time.Until(at), a.fire)
		return
	}
	a.timer.Reset(time.Until(at))
}

func (a *alarm) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.at = time.Time{}
}

func (a *alarm) fire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Time{}
	a.ring()
}

// expiry wakes the engine at its deadlines: those of sessions, connections, containers and TTL
// nodes.
type expiry struct {
	engine   *engine.Engine
	pipeline *pipeline
	ensemble *ensemble
	alarm    alarm
}

// schedule sets the alarm after a change of the deadlines. Requests put deadlines off, and the
// alarm is not moved for that.
func (x *expiry) schedule() {
	if x.ensemble.lacksQuorum() {
		x.alarm.stop()
	} else if next := x.engine.NextDeadline(); !next.IsZero() {
		x.alarm.set(next)
	}
}

func (x *expiry) tick() {
	if !x.ensemble.lacksQuorum() {
		x.pipeline.deliver(x.engine.Tick(time.Now()))
	}
	x.schedule()
}
