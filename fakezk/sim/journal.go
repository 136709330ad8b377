package sim

import (
	"slices"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
)

// journal collects lines while the simulation runs.
type journal struct {
	mu sync.Mutex
	place
	worldPlace *place // the World's, if clients have written lines that it has to catch up with
	reserved   int64  // steps that the World needs to catch up
	ended      bool   // nothing is written any more
	lines      []trace.Line
}

// usualLines is the length of a short trace.
const usualLines = 256

// place is where the next line belongs.
type place struct {
	step  int64
	first int           // of the lines, that with which the step began
	last  time.Duration // when the newest line was written
}

func (j *journal) nextStep() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begin()
}

func (j *journal) begin() {
	j.step++
	j.first = len(j.lines)
}

func (j *journal) add(rank int, at time.Duration, actor, format string, args ...any) trace.Moment {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended {
		return trace.AfterEnd
	}
	if at > j.last { // time has passed without the World's doing: clients' own timers
		if j.reserved > 0 {
			behind := j.place
			j.worldPlace, j.step, j.reserved = &behind, j.step+j.reserved, 0
		}
		j.last = at
		j.begin()
	}
	m := trace.NewMoment(j.step, rank, 0)
	for _, l := range j.lines[j.first:] {
		if l.At == m {
			m++ // the next line of the same rank
		}
	}
	j.lines = append(j.lines, trace.Line{At: m, Time: at, Actor: actor, Format: format, Args: args})
	return m
}

// moment is that of the World's next line.
func (j *journal) moment() trace.Moment {
	j.mu.Lock()
	defer j.mu.Unlock()
	return trace.NewMoment(j.step, 0, 0)
}

// reserveLines reserves steps for the lines of one more ping that was put off.
func (j *journal) reserveLines() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reserved += stepsOfPing
}

// stepsOfPing is more than a ping takes: it is written, arrives and is replied to.
const stepsOfPing = 8

// beginReserved begins to write lines in the reserved steps, and endReserved ends that.
func (j *journal) beginReserved() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reserved = 0
	if j.worldPlace != nil {
		j.place, *j.worldPlace = *j.worldPlace, j.place
	}
}

func (j *journal) endReserved() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.worldPlace != nil {
		j.place, j.worldPlace = *j.worldPlace, nil
	}
}

func (j *journal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
}

func (j *journal) release() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = nil
}

// finish sorts the lines into their canonical order. snapshot sorts a copy, as more lines may come.
func (j *journal) finish() trace.Trace {
	j.mu.Lock()
	defer j.mu.Unlock()
	return trace.New(j.lines)
}

func (j *journal) snapshot() trace.Trace {
	j.mu.Lock()
	defer j.mu.Unlock()
	return trace.New(slices.Clone(j.lines))
}
