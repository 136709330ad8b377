package recipes

import (
	"context"
	"time"
)

const (
	backoffFirst = 10 * time.Millisecond
	backoffMax   = time.Second
)

// backoff spaces repetitions. The first one is free, because the client holds
// a request back until it is connected; the pauses before the others double
// from 10 ms to 1 s. The zero value is ready.
type backoff struct{ repeats int }

// wait pauses before the next repetition. It returns the cause of ctx's end if
// that comes first.
func (b *backoff) wait(ctx context.Context) error {
	b.repeats++
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if b.repeats == 1 {
		return nil
	}
	timer := time.NewTimer(b.pause())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pause is the length of the pause before repetition number repeats.
func (b *backoff) pause() time.Duration {
	const cap = 8 // 10 ms << 7 exceeds a second
	if b.repeats >= cap+1 {
		return backoffMax
	}
	return min(backoffFirst<<(b.repeats-2), backoffMax)
}

// reset forgets the repetitions so far.
func (b *backoff) reset() { b.repeats = 0 }
