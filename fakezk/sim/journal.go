package sim

import (
	"slices"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
)

// journal collects lines while the simulation runs.
type journal struct {
	mu    sync.Mutex
	step  int64
	last  time.Duration // when the newest line was written
	ended bool          // nothing is written any more
	nth   map[int]int   // rank -> lines in this step
	lines []trace.Line
}

func (j *journal) nextStep() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.step++
	clear(j.nth)
}

func (j *journal) add(rank int, at time.Duration, actor, format string, args ...any) trace.Moment {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended {
		return trace.AfterEnd
	}
	if at > j.last { // time has passed without the World's doing: clients' own timers
		j.last = at
		j.step++
		clear(j.nth)
	}
	m := trace.NewMoment(j.step, rank, j.nth[rank])
	j.nth[rank]++
	j.lines = append(j.lines, trace.Line{At: m, Time: at, Actor: actor, Format: format, Args: args})
	return m
}

func (j *journal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
}

// finish sorts the lines into their canonical order.
func (j *journal) finish() trace.Trace {
	j.mu.Lock()
	defer j.mu.Unlock()
	return trace.New(slices.Clone(j.lines))
}
