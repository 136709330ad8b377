package realworld

import (
	"errors"
	"sort"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// journal has the lines of the trace, in their order, and what else the Result tells of them.
type journal struct {
	clock    *clock
	lines    []trace.Line
	wallMs   []int64 // of each line
	notes    trace.Notes
	failures []error // for which the World itself did not work
	ended    bool    // nothing is noted any more
}

// log writes a line. The arguments are formatted later.
func (j *journal) log(actor, format string, args ...any) trace.Moment {
	if j.ended {
		return trace.AfterEnd
	}
	at := trace.NewMoment(int64(len(j.lines))+1, 0, 0)
	j.lines = append(j.lines, trace.Line{
		At: at, Time: j.clock.now(), Actor: actor, Format: format, Args: args,
	})
	j.wallMs = append(j.wallMs, time.Now().UnixMilli())
	return at
}

// length is the number of lines so far.
func (j *journal) length() int { return len(j.lines) }

// linesBefore is how many lines are older than a time of the clock.
func (j *journal) linesBefore(ms int64) int {
	return sort.Search(len(j.wallMs), func(n int) bool { return j.wallMs[n] >= ms })
}

// timeBehind is the virtual time of a change behind so many lines: the server's clock, limited to
// the times that its place in the trace allows.
func (j *journal) timeBehind(lines int, ms int64) time.Duration {
	at := j.clock.at(time.UnixMilli(ms))
	if lines > 0 {
		at = max(at, j.lines[lines-1].Time)
	}
	if lines < len(j.lines) {
		at = min(at, j.lines[lines].Time)
	}
	return max(at, 0)
}

// fail notes that the World itself does not work.
func (j *journal) fail(err error) { j.failures = append(j.failures, err) }

// trouble is why the World itself did not work.
func (j *journal) trouble() error { return errors.Join(j.failures...) }

// due notes that the time of a fault has come.
func (j *journal) due(f *carry.Armed) { tracetext.LogDue(j.log, &j.notes, f) }

// hit notes that a fault acts on a message of a client.
func (j *journal) hit(c *carry.Client, m *carry.Message, f *carry.Armed, taken bool) {
	tracetext.LogHit(j.log, &j.notes, c, m, f, taken)
}

// request writes the line of a request that goes to the server.
func (j *journal) request(client string, q *request) {
	switch {
	case q.number > 0:
		j.notes.Request(j.log(client, "-> #%d %s", q.number, q), q.point)
	case q.Handshake:
		j.log(client, "-> %s", q)
	default:
		j.log(client, "-> %s", q.Header.Op)
	}
}

// event writes the line of a notification.
func (j *journal) event(p trace.EventPoint) {
	at := j.log("server", "notifies %s: %s %s (event %d)", p.Client, p.Type, p.Path, p.Number)
	j.notes.Event(at, p)
}

// notice writes the line of what a client's library tells it.
func (j *journal) notice(client string, kind trace.NoticeKind) {
	if at := j.log(client, "is told: %s", kind); at != trace.AfterEnd {
		j.notes.Notice(at, trace.Notice{Client: client, Kind: kind, Time: j.clock.now()})
	}
}

// change adds a change to the lines, at its place.
func (j *journal) change(c placedChange) {
	j.lines = append(j.lines, trace.Line{
		At: c.at, Time: c.Time, Actor: "server", Format: "%s",
		Args: []any{tracetext.Change(c.Change)},
	})
	j.notes.Change(c.at, c.Change)
}

// into puts all of it into a Result.
func (j *journal) into(out *trace.Result) {
	out.Trace, out.Steps = trace.New(j.lines), int64(len(j.lines))
	j.notes.Into(out)
}
