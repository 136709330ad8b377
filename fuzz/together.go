package fuzz

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
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

func lower(n *atomic.Int64, to int64) {
	for now := n.Load(); now > to && !n.CompareAndSwap(now, to); now = n.Load() {
	}
}
