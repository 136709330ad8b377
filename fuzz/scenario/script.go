package scenario

import (
	"context"
	"errors"
	"time"
)

// Persist calls try with the number of the attempt, from 0, until it returns nil or the World ends,
// and pauses after each error. It reports whether try succeeded.
func (p *Player) Persist(try func(attempt int) error) bool {
	return p.repeat(func() bool { return p.ctx.Err() == nil }, try)
}

// Attempt is Persist with at most n attempts.
func (p *Player) Attempt(n int, try func(attempt int) error) bool {
	return p.repeat(func() bool { n--; return n >= 0 }, try)
}

// repeat is Persist as long as another attempt may be made.
func (p *Player) repeat(may func() bool, try func(attempt int) error) bool {
	for attempt := 0; may(); attempt++ {
		if try(attempt) == nil {
			return true
		}
		if !p.Pause(retryPause) {
			return false
		}
	}
	return false
}

// Insist repeats calls of a kind until one succeeds, if the last one of the player failed although
// its context was not done. It is for the end of a script that does not repeat a failed call
// elsewhere: an object that fails for ever after a fault violates liveness. again makes one call
// with time enough; its argument is the number of a turn, from first on. It returns nil, too, if
// the call has rightly waited in vain; see [Waited]. Insist returns the next number.
func (p *Player) Insist(kind string, first int, again func(turn int) error) (next int) {
	for failed := p.failing[kind]; failed && p.Pause(insistPause); first++ {
		failed = again(first) != nil
	}
	return first
}

// Waited turns the error of a call that waits into nil if its context is done, or if the error says
// so: the call may have waited in vain.
func Waited(ctx context.Context, err error) error {
	if ctx.Err() != nil || saysDone(err) {
		return nil
	}
	return err
}

// saysDone reports whether an error says that a context was done.
func saysDone(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// insistPause is the time between two calls of [Player.Insist], besides the pause after an error.
const insistPause = time.Second

// Hasty returns the context of an attempt. For one label in oneIn, the context of the first
// attempt, number 0, is done after least to least+spread of virtual time. So calls end at any
// moment of their work. All other attempts get ctx. In a careless script one in three of these
// contexts is done from the start. The labels of its draws begin with label. The next call counts
// as one with the deadline of its context.
func (p *Player) Hasty(
	ctx context.Context, attempt int, label string, oneIn int, least, spread time.Duration,
) (context.Context, context.CancelFunc) {
	if attempt > 0 || p.Choose(label+" hasty", oneIn) > 0 {
		if end, ok := ctx.Deadline(); ok {
			p.expect(p.client.Now()+time.Until(end), ctx)
		}
		return ctx, func() {}
	}
	if p.careless && p.Choose(label+" too late", 3) == 0 {
		p.expect(p.client.Now(), ctx)
		return expiredContext(ctx)
	}
	steps := max(1, int(spread/time.Microsecond))
	return p.Within(ctx, least+time.Duration(p.Choose(label+" patience", steps))*time.Microsecond)
}

// expiredContext returns a context that is done from the start.
func expiredContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx, cancel
}

// GiveBack is Release with a context. In a careless script, for one label in three, the first call
// has a context that is done, and is the last one if it returns nil or the error of the context:
// the object must release all the same.
func (p *Player) GiveBack(label string, release func(ctx context.Context) error) bool {
	if p.careless && p.Choose(label+" too late", 3) == 0 {
		ctx, _ := expiredContext(p.ctx)
		if err := release(ctx); err == nil || errors.Is(err, ctx.Err()) {
			return err == nil
		}
	}
	return p.Release(func() error { return release(p.ctx) })
}

// Release calls a release until it succeeds, as a careful caller does: three times, and once more
// for each fault of the run, since a fault can cost an attempt. An attempt that finds no server
// does not count: an outage would cost many.
func (p *Player) Release(release func() error) bool {
	failed := 0
	return p.repeat(func() bool { return failed < 3+p.faults }, func(int) error {
		err := release()
		if err != nil && !p.client.CutOff() {
			failed++
		}
		return err
	})
}

// LongHold is added by [Player.Hold] to one hold in eight, so that the hold outlasts a session that
// has lost its connection.
const LongHold = 2 * SessionTimeout

// minutes is the time for which a client holds or rests in some runs: longer than the leases of
// home-made recipes, and longer than a server keeps an empty container.
const minutes = 150 * time.Second

// Rest waits some minutes before the second round. It does so in one run of eight, for all clients.
// The next process of a client that has died does not rest again.
func (p *Player) Rest(round int) {
	if round == 1 && !p.rested && p.OfRun(idleMinutes, 8) == 0 {
		p.rested = true
		p.Pause(minutes)
	}
}

// The labels of two draws: all clients rest for minutes, and one client holds for minutes.
const idleMinutes, heldMinutes = "rest", "hold of minutes"

// slowness is the time for which clients rest and hold in a run.
func slowness(seed uint64) (d time.Duration) {
	for _, label := range []string{idleMinutes, heldMinutes} {
		if agreed(seed, label, 8) == 0 {
			d += minutes
		}
	}
	return d
}

// Hold waits for 5 to 45 ms while the client holds the object, and in one of eight cases for
// LongHold more. In one run of eight, one client holds the object for minutes, once. From then on
// until the next call of the player, which is not one of BeginWithin, lost, the signal of loss, is
// heeded; see [Record.Heed]. The labels of its draws begin with label.
//
// If the server has ended the session of the hold meanwhile, the hold goes on for LongHold in one
// of three cases, and in another one until a client hears of the next grant, for 0.4 s at most:
// then comes a late release.
func (p *Player) Hold(label string, lost <-chan struct{}) {
	p.AtCall(p.Heed(0, lost))
	session := p.grantedIn
	expired := p.client.Expired(session)
	d := time.Duration(5+p.Choose(label+" time", 40)) * time.Millisecond
	if p.Choose(label+" long", 8) == 0 {
		d += LongHold
	}
	if !p.held && p.Goroutine() == 0 && p.OfRun(heldMinutes, 8) == 0 &&
		p.Index() == p.OfRun("minutes of", 3) {
		p.held = true
		d += minutes
	}
	p.Pause(d)
	if p.heard == nil || p.client.Expired(session) == expired {
		return
	}
	switch p.Choose(label+" outlasts its session", 3) {
	case 0:
		p.Pause(LongHold)
	case 1:
		granted := p.heard.number(p.granted)
		for range glances {
			if !p.Pause(glance) || p.heard.number(p.granted) > granted {
				return
			}
		}
	}
}

// A client whose session has ended in a hold looks for the next grant so many times, after each
// glance of time.
const (
	glance  = 2 * time.Millisecond
	glances = 200
)
