package engine

import (
	"iter"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/state"
)

// The reaper deletes empty containers and expired TTL nodes. Every interval it lists
// them, and then deletes one every 6 ms. The deletion of one that has got a child
// meanwhile is refused, which consumes a zxid, too.
//
// Source: ContainerManager.checkContainers.
type reaper struct {
	intervalMs int64 // negative: never
	nextCheck  int64 // ms
	queue      []string
	nextDelete int64 // ms, while there is a queue
}

// deleteEveryMs is the real server's limit of 10,000 deletions a minute.
const deleteEveryMs = 60_000 / 10_000

const defaultCheckMs = 60_000

func newReaper(interval time.Duration, start int64) reaper {
	ms := interval.Milliseconds()
	switch {
	case interval == 0:
		ms = defaultCheckMs
	case interval > 0:
		ms = max(ms, 1)
	case interval < 0:
		return reaper{intervalMs: -1, nextCheck: never}
	}
	return reaper{intervalMs: ms, nextCheck: start + ms}
}

// next returns the time in ms at which there is something to do, or never.
func (r *reaper) next(store *state.Store) int64 {
	switch {
	case len(r.queue) > 0:
		return r.nextDelete
	case store.HasReapable():
		return r.nextCheck
	}
	return never
}

// skipIdleChecks moves past the checks before now if there was no container or TTL node:
// they had no deadline.
func (r *reaper) skipIdleChecks(now int64, store *state.Store) {
	if now >= r.nextCheck && r.next(store) == never {
		marks.Hit("checks without a deadline")
		r.skipTo(now)
	}
}

// skipTo moves on to the first check after now.
func (r *reaper) skipTo(now int64) {
	r.nextCheck += ((now-r.nextCheck)/r.intervalMs + 1) * r.intervalMs
}

// due does the checks due by now and returns the nodes to delete, one by one. dated is now by the
// leader's clock.
func (r *reaper) due(now, dated int64, store *state.Store) iter.Seq[string] {
	return func(yield func(path string) bool) {
		for r.next(store) <= now {
			if len(r.queue) == 0 {
				r.queue, r.nextDelete = store.Reapable(dated), now
				r.skipTo(now)
				continue
			}
			path := r.queue[0]
			r.queue = r.queue[1:]
			r.nextDelete += deleteEveryMs
			if !yield(path) {
				return
			}
		}
	}
}
