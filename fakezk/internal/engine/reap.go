package engine

import (
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
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

// nextReap returns the time in ms at which reap has something to do, or never.
func (e *Engine) nextReap() int64 {
	switch {
	case len(e.reaper.queue) > 0:
		return e.reaper.nextDelete
	case e.leader.store.HasReapable():
		return e.reaper.nextCheck
	}
	return never
}

// skipIdleChecks moves past the checks before now if there was no container or TTL node:
// they had no deadline.
func (e *Engine) skipIdleChecks(now int64) {
	if now >= e.reaper.nextCheck && e.nextReap() == never {
		e.reaper.skipTo(now)
	}
}

// skipTo moves on to the first check after now.
func (r *reaper) skipTo(now int64) {
	r.nextCheck += ((now-r.nextCheck)/r.intervalMs + 1) * r.intervalMs
}

// reap does the checks and deletions due by now.
func (e *Engine) reap(now int64) {
	for e.nextReap() <= now {
		if len(e.reaper.queue) == 0 {
			e.reaper.queue, e.reaper.nextDelete = e.leader.store.Reapable(e.leaderTime(now)), now
			e.reaper.skipTo(now)
			continue
		}
		e.apply(
			e.leader.store.Prepare(&proto.DeleteContainer{Path: e.reaper.queue[0]}, state.Caller{},
				now),
		)
		e.reaper.queue = e.reaper.queue[1:]
		e.reaper.nextDelete += deleteEveryMs
	}
}
