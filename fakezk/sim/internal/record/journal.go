package record

import (
	"slices"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
)

// A Journal collects what the World and the goroutines of clients write down: the lines of the
// trace, notices, panics, and the lines that the code under test logs. Any goroutine may call it.
// Use NewJournal.
type Journal struct {
	mu sync.Mutex
	place
	worldPlace *place // where the World goes on, if clients have written later lines meanwhile
	reserved   int64  // steps before those lines that are kept for the World
	ended      bool   // no line is written any more
	lines      []trace.Line

	notices []notice
	panics  []string
	logs    []logged
}

type notice struct {
	at   trace.Moment
	what trace.Notice
}

// NewJournal is an empty Journal with room for most traces.
func NewJournal() *Journal { return &Journal{lines: make([]trace.Line, 0, 1024)} }

// place is where the next line belongs.
type place struct {
	step  int64
	first int           // the index of the first line of the step
	last  time.Duration // when the newest line was written
}

// NextStep begins a step.
func (j *Journal) NextStep() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begin()
}

func (j *Journal) begin() {
	j.step++
	j.first = len(j.lines)
}

// Add writes a line of an actor. Lines of one step are ordered by rank; 0 is the World. The
// arguments are formatted later, so they must not change.
func (j *Journal) Add(rank int, at time.Duration, actor, format string, args ...any) trace.Moment {
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

// Notice notes what a client is told, at the moment of a line.
func (j *Journal) Notice(at trace.Moment, n trace.Notice) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notices = append(j.notices, notice{at, n})
}

// Panic notes a panic, also after the end.
func (j *Journal) Panic(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.panics = append(j.panics, text)
}

// Moment is that of the World's next line.
func (j *Journal) Moment() trace.Moment {
	j.mu.Lock()
	defer j.mu.Unlock()
	return trace.NewMoment(j.step, 0, 0)
}

// ReserveLines reserves steps for the lines of one more ping that was put off.
func (j *Journal) ReserveLines() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reserved += stepsOfPing
}

// stepsOfPing is more than a ping takes: it is written, arrives and is replied to.
const stepsOfPing = 8

// BeginReserved begins to write lines in the reserved steps, and EndReserved ends that.
func (j *Journal) BeginReserved() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reserved = 0
	if j.worldPlace != nil {
		j.place, *j.worldPlace = *j.worldPlace, j.place
	}
}

func (j *Journal) EndReserved() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.worldPlace != nil {
		j.place, j.worldPlace = *j.worldPlace, nil
	}
}

// End ends the journal: further lines are dropped. Panics are not.
func (j *Journal) End() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
}

// Release drops the lines.
func (j *Journal) Release() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines, j.notices, j.panics, j.logs = nil, nil, nil, nil
}

// Trace are the lines in their canonical order, so far.
func (j *Journal) Trace() trace.Trace {
	j.mu.Lock()
	defer j.mu.Unlock()
	return trace.New(slices.Clone(j.lines))
}
