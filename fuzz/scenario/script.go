package scenario

import (
	"context"
	"time"
)

// Persist calls try with the number of the attempt, from 0, until it returns nil or the World ends,
// and pauses after each error. It reports whether try succeeded.
func (p *Player) Persist(try func(attempt int) error) bool {
	for attempt := 0; p.Alive(); attempt++ {
		if try(attempt) == nil {
			return true
		}
		if !p.Pause(RetryPause) {
			return false
		}
	}
	return false
}

// Attempt is Persist with at most n attempts. A careful caller releases like that.
func (p *Player) Attempt(n int, try func(attempt int) error) bool {
	for attempt := range n {
		if try(attempt) == nil {
			return true
		}
		if !p.Pause(RetryPause) {
			return false
		}
	}
	return false
}

// Hasty returns ctx or, for one label in oneIn, a context that is done after least to least+spread
// of virtual time. In a careless script one in three of these is done from the start. Pass it to
// first attempts: so calls end at any moment of their work. The labels of its draws begin with
// label.
func (p *Player) Hasty(
	ctx context.Context, label string, oneIn int, least, spread time.Duration,
) (context.Context, context.CancelFunc) {
	if p.Choose(label+" hasty", oneIn) > 0 {
		return ctx, func() {}
	}
	if p.careless && p.Choose(label+" too late", 3) == 0 {
		return tooLate(ctx)
	}
	steps := max(1, int(spread/time.Microsecond))
	return p.Within(ctx, least+time.Duration(p.Choose(label+" patience", steps))*time.Microsecond)
}

// tooLate returns a context that is done from the start.
func tooLate(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx, cancel
}

// GiveBack calls a release up to three times, until it succeeds, as a careful caller does. In a
// careless script, for one label in three, it calls it only once, with a context that is done: the
// object must release all the same.
func (p *Player) GiveBack(label string, release func(ctx context.Context) error) bool {
	if p.careless && p.Choose(label+" too late", 3) == 0 {
		ctx, _ := tooLate(p.ctx)
		return release(ctx) == nil
	}
	return p.Attempt(3, func(int) error { return release(p.ctx) })
}

// LongHold is how long a hold takes now and then, besides the usual: past the end of a session that
// has lost its connection.
const LongHold = 2 * SessionTimeout

// Hold waits for 5 to 45 ms, in one of eight rounds for longer than a session lives, while the
// client holds the object. It records a loss (LockLost of package linearizability) when lost is
// closed meanwhile. A nil lost means that there is no signal. The labels of its draws begin with
// label.
func (p *Player) Hold(label string, lost <-chan struct{}) { p.Keep(label, p.token, lost) }

// Keep is Hold for a hold with another token than that of the last call.
func (p *Player) Keep(label string, token int64, lost <-chan struct{}) {
	defer p.Heed(token, lost)()
	d := time.Duration(5+p.Choose(label+" time", 40)) * time.Millisecond
	if p.Choose(label+" long", 8) == 0 {
		d += LongHold
	}
	p.Pause(d)
}

// Signals tells the judge that the object under test has a signal of loss, so that a missing signal
// is a violation.
func (p *Player) Signals() { p.signals = true }

// Heed records a loss of the hold with the token, 0 if unknown, when lost is closed before stop. A
// nil lost means that there is no signal.
func (p *Player) Heed(token int64, lost <-chan struct{}) (stop func()) {
	if lost == nil {
		return func() {}
	}
	end := make(chan struct{})
	go p.listen(token, lost, end)
	return func() { close(end) }
}

// listen notes the loss of a hold.
func (p *Player) listen(token int64, lost, stop <-chan struct{}) {
	select {
	case <-lost:
	case <-stop:
	}
	select {
	case <-stop: // whatever is said from here on is the release's own doing
	default:
		p.asides.LockLost(p.client.Of(), token)
	}
}

// HoldingTime is how long the turns of a script may take if each client has to wait for all others.
func HoldingTime(s Script) time.Duration {
	return time.Duration(s.Clients*s.Rounds) * (LongHold + time.Second)
}
