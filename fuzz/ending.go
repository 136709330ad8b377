package fuzz

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"time"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/inflight"
)

var errTimeLimit = errors.New("the time limit of the test binary (-timeout) is near")

// untilSignal is a context that ends at an interrupt, a termination, or when the terminal closes.
// A second signal ends the process.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), inflight.Signals()...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// ending is untilSignal; it also ends shortly before the time limit of the test binary. So a test
// can say how far it got, and leaves no note of a scenario under way.
func ending(t TB) (ctx context.Context, stop func()) {
	ctx, release := untilSignal()
	limited, ok := t.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return ctx, release
	}
	at, ok := limited.Deadline()
	if !ok {
		return ctx, release
	}
	margin := min(5*time.Second, time.Until(at)/10)
	limit, cancel := context.WithDeadlineCause(ctx, at.Add(-margin), errTimeLimit)
	return limit, func() { cancel(); release() }
}

// endedEarly is the failure of a test that was ended before it was done.
func endedEarly(
	ctx context.Context, s scenario.Scenario, sweep *hunt.Sweep, found *hunt.Found,
) string {
	text := fmt.Sprintf("zksim: not tried to its end: %v; no violation until then in ",
		context.Cause(ctx))
	if s.On == nil {
		text += fmt.Sprintf("%d of %d fault points and ", sweep.Points, sweep.Total)
	}
	return text + fmt.Sprintf("%d of %d other scenarios", found.Runs, flaggedRuns())
}
