package museum

import (
	"context"
	"sync/atomic"

	"github.com/zksim/zksim/linearizability"
)

func locksAfterUnlock() Exhibit {
	return Exhibit{
		ID: "S0-8", Title: "a watch locks again what was given up",
		Report: writeLockSource,
		Bug: "Every event of the watch on the predecessor calls lock again. If the lock has been given up meanwhile, there is no " +
			"node any more, so one is made: for a lock that nobody waits for and nobody will unlock.",
		Property: linearizability.Liveness,
		Wrong: lockOf(func(l *naked) {
			left := &atomic.Bool{}
			join := l.join
			l.join = func() error {
				if l.own == "" {
					left = &atomic.Bool{}
				}
				return join()
			}
			l.giveUp = func(ctx context.Context) error {
				left.Store(true)
				return l.leaveAndTell(ctx)
			}
			l.await = func(ctx context.Context, ahead string) {
				_, _, gone, err := l.conn.GetW(l.path(ahead))
				if err != nil {
					return
				}
				woken, left := make(chan struct{}), left
				go func() {
					defer close(woken)
					if ev := <-gone; ev.Err == nil && left.Load() {
						_ = newNaked(l.conn, l.dir).join() // wrong: it has been given up
					}
				}()
				select {
				case <-woken:
				case <-ctx.Done():
				}
			}
		}),
		Right: lockOf(nil),
	}
}
