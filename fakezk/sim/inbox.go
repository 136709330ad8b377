package sim

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
	"github.com/zksim/zksim/fakezk/trace"
)

// An inbox is all of a World that the goroutines of clients may touch. It takes what they do, until
// the World's goroutine sees to it. It has the only lock of a World but for that of the journal.
type inbox struct {
	world   World
	ctx     context.Context // of the scripts
	agenda  *agenda.Agenda  // for Elapsed only
	journal *record.Journal
	timer   *time.Timer   // of the World's sleep, which ends early when a client does something
	woken   chan struct{} // in place of the timer, if resetHangs
	state   atomic.Int32  // isAwake, isAsleep or isWoken
	closing atomic.Bool   // the end: dials fail, nothing is recorded

	mu     sync.Mutex
	mail   mail
	spare  []*link        // the next list for mail.written
	wakeBy time.Duration  // when the World wakes at the latest, if pings may be put off
	pings  []deferredPing // that were put off in this sleep
	said   []trace.Said   // under a Schedule of Turns, since the last turn
}

// mail is what clients did in one step.
type mail struct {
	sleepers []sleeper
	ended    []*process // scripts that ended
	dials    []*dialing // that begin
	written  []*link    // links written to or closed
	waiters  []waiters  // that would wake at one instant
}

func (m *mail) isEmpty() bool {
	return len(m.sleepers)+len(m.ended)+len(m.dials)+len(m.written)+len(m.waiters) == 0
}

// sleeper is a client's goroutine that wants to be woken.
type sleeper struct {
	process *process
	name    string // of a Goroutine, with its request; see AwaitTurn
	at      time.Duration
	woken   chan struct{}
	ends    *timed // the context that ends then, of a sleeper that is none; see Within
}

func (z sleeper) wake() {
	if z.ends != nil {
		z.ends.end(context.DeadlineExceeded)
	} else {
		close(z.woken)
	}
	z.process.woken()
}

// gaveUp reports whether a context has ended before its time.
func (z sleeper) gaveUp() bool { return z.ends != nil && z.ends.Err() != nil }

// unsent is what a client has written to a link or done with it. The inbox's lock guards it.
type unsent struct {
	bytes   []byte
	closing bool // the client closed its end
	listed  bool // already in mail.written
}

// awake is the wakeBy of a World that does not sleep.
const awake time.Duration = -1

func newInbox(w World, ctx context.Context, a *agenda.Agenda, j *record.Journal) *inbox {
	return &inbox{world: w, ctx: ctx, agenda: a, journal: j, timer: time.NewTimer(0),
		woken: make(chan struct{}, 1), wakeBy: awake}
}

// resetHangs says that Timer.Reset hangs in a bubble if the timer has just fired, as in Go 1.25.
var resetHangs = strings.HasPrefix(runtime.Version(), "go1.25")

// The states of a World. Asleep it waits for its timer only, unless resetHangs: a select of two
// channels takes longer.
const (
	isAwake int32 = iota
	isAsleep
	isWoken // a client has acted: the World wakes, or does not fall asleep
)

// sleep lets the World sleep for a time, or until wakeUp.
func (b *inbox) sleep(d time.Duration) {
	b.timer.Reset(d) // first: it must not undo that of wakeUp
	switch {
	case !b.state.CompareAndSwap(isAwake, isAsleep):
	case resetHangs:
		select {
		case <-b.timer.C:
		case <-b.woken:
		}
	default:
		<-b.timer.C
	}
	b.state.Store(isAwake)
}

// wakeUp wakes the World, or keeps it from its next sleep.
func (b *inbox) wakeUp() {
	switch {
	case b.state.Swap(isWoken) != isAsleep:
	case resetHangs:
		select {
		case b.woken <- struct{}{}:
		default: // one of before is enough
		}
	default:
		b.timer.Reset(0)
	}
}

// forgetWakeUps ends the effect of earlier calls of wakeUp: the World is about to see to the mail.
func (b *inbox) forgetWakeUps() { b.state.Store(isAwake) }

// add adds to the mail.
func (b *inbox) add(to func(*mail)) {
	b.mu.Lock()
	to(&b.mail)
	b.mu.Unlock()
	b.wakeUp()
}

// write and end are called by a client's connection: they only take note.
func (b *inbox) write(l *link, p []byte) {
	b.mu.Lock()
	deferred := b.deferPing(l, p)
	if !deferred {
		l.unsent.bytes = append(l.unsent.bytes, p...)
		b.list(l)
	}
	b.mu.Unlock()
	if !deferred {
		b.wakeUp()
	}
}

func (b *inbox) end(l *link) {
	b.mu.Lock()
	l.unsent.closing = true
	b.list(l)
	b.mu.Unlock()
	b.wakeUp()
}

func (b *inbox) list(l *link) {
	if !l.unsent.listed {
		l.unsent.listed = true
		b.mail.written = append(b.mail.written, l)
	}
}

// cancel notes that nobody waits for a dial any more.
func (b *inbox) cancel(d *dialing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d.canceled = true
}

func (b *inbox) isCanceled(d *dialing) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return d.canceled
}

// take empties the inbox. The mail is valid until the next call.
func (b *inbox) take() mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.mail
	clear(b.spare)
	b.mail = mail{written: b.spare[:0]}
	b.spare = m.written
	for _, l := range m.written {
		l.unsent.listed = false
	}
	return m
}

// takeWrites takes what a client has written to a link, and whether it has closed it.
func (b *inbox) takeWrites(l *link) (bytes []byte, closing bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	bytes, closing = l.unsent.bytes, l.unsent.closing
	l.unsent.bytes = nil
	return bytes, closing
}

// saidNow notes a line that a script has written.
func (b *inbox) saidNow(l trace.Said) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said = append(b.said, l)
}

func (b *inbox) takeSaid() []trace.Said {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.said
	b.said = nil
	return said
}

// takePings takes the pings that were put off.
func (b *inbox) takePings() []deferredPing {
	b.mu.Lock()
	defer b.mu.Unlock()
	pings := b.pings
	b.pings = nil
	return pings
}

func (b *inbox) setWakeBy(at time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wakeBy = at
}
