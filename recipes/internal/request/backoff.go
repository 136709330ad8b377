package request

import (
	"context"
	"fmt"
	"time"
)

// shortestPause prevents a busy loop under a policy without pauses: requests on a closed Conn fail
// at once.
const shortestPause = time.Millisecond

// Backoff pauses between repetitions by a policy. The zero value is ready.
type Backoff struct {
	repeats int
	began   time.Time     // of the first failure
	extra   time.Duration // added to each pause
}

// Wait pauses before the next repetition of a request that failed with the error why. If ctx ends
// first, it returns the cause. If the policy gives up, the error wraps ErrGaveUp and why. A nil
// policy never gives up.
func (b *Backoff) Wait(ctx context.Context, policy Policy, why error) error {
	if b.repeats++; b.repeats == 1 {
		b.began = time.Now()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if policy == nil {
		policy = Forever()
	}
	elapsed := time.Since(b.began)
	pause, again := policy.Next(b.repeats, elapsed, why)
	if !again {
		return fmt.Errorf("%w: sent %d times in %v: %w", ErrGaveUp, b.repeats, elapsed, why)
	}
	if b.repeats > 1 {
		pause = max(pause, shortestPause)
	}
	pause += b.extra
	if ctx.Done() == nil { // clean-up
		pause += rowsApart / 2
	}
	return Sleep(ctx, pause)
}

// Reset forgets the repetitions so far.
func (b *Backoff) Reset() { b.repeats = 0 }

// Sleep waits for the pause. If ctx ends first, it returns the cause.
func Sleep(ctx context.Context, pause time.Duration) error {
	if pause <= 0 {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
