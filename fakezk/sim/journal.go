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
	behind *place // the World's, if clients have written lines that it has to catch up with
	room   int64  // steps that the World needs to catch up
	ended  bool   // nothing is written any more
	lines  []trace.Line
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
		if j.room > 0 {
			behind := j.place
			j.behind, j.step, j.room = &behind, j.step+j.room, 0
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

// leaveRoom lets lines leave room for those of one more ping that was put off.
func (j *journal) leaveRoom() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.room += stepsOfPing
}

// stepsOfPing is more than a ping takes: it is written, arrives and is replied to.
const stepsOfPing = 8

// goBack begins to write into the room that was left, and comeBack ends that.
func (j *journal) goBack() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.room = 0
	if j.behind != nil {
		j.place, *j.behind = *j.behind, j.place
	}
}

func (j *journal) comeBack() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.behind != nil {
		j.place, j.behind = *j.behind, nil
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

// finish sorts the lines into their canonical order. soFar does so with a copy, as more may
// come.
func (j *journal) finish() trace.Trace {
	j.mu.Lock()
	defer j.mu.Unlock()
	return trace.New(j.lines)
}

func (j *journal) soFar() trace.Trace {
	j.mu.Lock()
	defer j.mu.Unlock()
	return trace.New(slices.Clone(j.lines))
}
