package hunt

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/zksim/zksim/fuzz/scenario"
)

// together calls f for 0 to n-1, some at the same time, each in its own goroutine,
// and returns when all have ended. When f(i) returns false, or ctx is done, what
// has not begun and comes later is left out. workers below 1 means GOMAXPROCS.
func together(ctx context.Context, n, workers int, f func(i int) (goOn bool)) {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next, end atomic.Int64
	end.Store(int64(n))
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= end.Load() {
					return
				}
				if !f(int(i)) {
					lower(&end, i+1)
				}
			}
		})
	}
	group.Wait()
}

// played is what became of a scenario that was played.
type played struct {
	outcome *scenario.Outcome
	same    bool // two runs, if there were two, had the same trace
	err     error
}

// playOne plays a scenario, if twice, with a comparison. Whatever goes wrong is told with
// the scenario, a judge that panics included.
func playOne(s scenario.Scenario, twice bool) (r played) {
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if r.err != nil {
			r.err = fmt.Errorf("%s, plan %v: %w", s, s.Plan, r.err)
		}
	}()
	if twice {
		r.outcome, r.same, r.err = s.Traces()
		return r
	}
	r.outcome, r.err = s.Run()
	r.same = true
	return r
}

// playTogether plays n scenarios, some at the same time, and gives take those played,
// in their order, until one has failed or was not played, or take returns false or an
// error. When ctx is done, what was played before is taken all the same, up to the
// first that was not. play(i) returns false if nothing after i is wanted.
func playTogether(ctx context.Context, n, workers int, play func(i int) (r played, goOn bool), take func(i int, r played) (goOn bool, err error)) error {
	results := make([]played, n)
	together(ctx, n, workers, func(i int) (goOn bool) {
		results[i], goOn = play(i)
		return goOn && results[i].err == nil
	})
	for i, r := range results {
		switch {
		case r.err != nil:
			return r.err
		case r.outcome == nil:
			return ctx.Err() // interrupted before it was played
		}
		if goOn, err := take(i, r); !goOn || err != nil {
			return err
		}
	}
	return nil
}

func lower(n *atomic.Int64, to int64) {
	for now := n.Load(); now > to && !n.CompareAndSwap(now, to); now = n.Load() {
	}
}
