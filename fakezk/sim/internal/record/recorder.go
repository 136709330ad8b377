// Package record keeps what happens in a World, for its result.
package record

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// A Recorder keeps what the World itself does. It belongs to the World's goroutine. Use New.
type Recorder struct {
	journal *Journal
	now     func() time.Duration

	ended    bool
	notes    trace.Notes
	out      trace.Result
	sessions map[int64]string // the client of each
	origins  map[string]origin
	changed  []time.Duration // the times of the changes of the tree
	notified map[notified]bool
}

// New is a Recorder that writes its lines into a journal. now is the World's time.
func New(j *Journal, now func() time.Duration) *Recorder {
	sessions := map[int64]string{}
	return &Recorder{journal: j, now: now, sessions: sessions,
		out: trace.Result{SessionClient: sessions}, origins: map[string]origin{},
		notified: map[notified]bool{}}
}

// Log writes the World's own line. The arguments are formatted later, so they must not change.
func (r *Recorder) Log(actor, format string, args ...any) trace.Moment {
	return r.journal.Add(0, r.now(), actor, format, args...)
}

// Notice writes the World's own line about a client, and notes it.
func (r *Recorder) Notice(n trace.Notice, format string, args ...any) {
	n.Time = r.now()
	r.journal.Notice(r.Log(n.Client, format, args...), n)
}

// Server notes a new state of one of several servers, in the present step.
func (r *Recorder) Server(s trace.ServerState) {
	if !r.ended {
		r.notes.Server(r.journal.Moment(), s)
	}
}

// Due notes that the time of a fault has come.
func (r *Recorder) Due(f *carry.Armed) { tracetext.LogDue(r.Log, &r.notes, f) }

// Hit notes that a fault acts on a message.
func (r *Recorder) Hit(c *carry.Conn, m *carry.Message, f *carry.Armed, taken bool) trace.Moment {
	return tracetext.LogHit(r.Log, &r.notes, c.Client, m, f, taken)
}

// Session notes whose a session is.
func (r *Recorder) Session(session int64, client string) {
	if !r.ended {
		r.sessions[session] = client
	}
}

// Request notes a request as a coordinate.
func (r *Recorder) Request(at trace.Moment, m *carry.Message) {
	r.notes.Request(at, tracetext.Point(m))
}

// Event writes that the server notifies a client, and notes the notification as a coordinate.
func (r *Recorder) Event(client string, m *carry.Message) trace.Moment {
	kind, path := m.Event.Type, m.Event.Path
	at := r.Log("server", "notifies %s: %s %s (event %d)", client, kind, path, m.Number)
	r.notes.Event(at, trace.EventPoint{Client: client, Number: m.Number, Type: kind.String(),
		Path: path})
	return at
}

// Sent notes a message that is about to be queued, and returns its number for Arrived; 0 after the
// end. A moment of 0 is that of the next line.
func (r *Recorder) Sent(from trace.Moment, m trace.Message) int {
	if r.ended {
		return 0
	}
	if from == 0 {
		from = r.journal.Moment()
	}
	m.Sent = r.now()
	return r.notes.Sent(from, m)
}

// Arrived notes the line at which a message arrived, or, if lost is set, at which a fault took it.
func (r *Recorder) Arrived(number int, at trace.Moment, lost bool) {
	if number != 0 && !r.ended {
		r.notes.Arrived(number, at, lost)
	}
}

// HungUp notes that a client has closed a connection.
func (r *Recorder) HungUp(client string, conn int) {
	if !r.ended {
		r.out.HangUps = append(r.out.HangUps,
			trace.HangUp{Client: client, Conn: conn, Time: r.now()})
	}
}

// Senders notes who may have sent a message, by its number for Arrived.
func (r *Recorder) Senders(number int, list []trace.Sender) {
	for _, s := range list {
		if s.Message = number - 1; number != 0 {
			r.out.Senders = append(r.out.Senders, s)
		}
	}
}

// Busy notes a client whose script has not ended, and the stacks of the script.
func (r *Recorder) Busy(client, stacks string) {
	r.out.Busy = append(r.out.Busy, client)
	r.out.BusyStacks = append(r.out.BusyStacks, stacks)
}

// End notes the state of the servers at rest. From then on only panics are recorded.
func (r *Recorder) End(e *engine.Engine) {
	r.out.Nodes, r.out.Sessions = inspect.Tree(e), inspect.Sessions(e)
	r.out.Watches = inspect.Watches(e.Watches())
	r.out.Elapsed = r.now()
	r.out.Logs = r.journal.sortedLogs()
	r.ended = true
	r.journal.End()
}

// A Record is what a Recorder has kept so far: a Result without its lines, and notes whose moments
// become numbers of lines.
type Record struct {
	trace.Result
	notes trace.Notes
}

// Record returns the record so far.
func (r *Recorder) Record() *Record {
	kept := &Record{r.out, r.notes}
	r.journal.mu.Lock()
	defer r.journal.mu.Unlock()
	kept.Panics = slices.Clone(r.journal.panics)
	for _, n := range r.journal.notices {
		kept.notes.Notice(n.at, n.what)
	}
	return kept
}

// Complete adds the lines, and returns the Result.
func (r *Record) Complete(lines trace.Trace) *trace.Result {
	r.Trace = lines
	r.notes.Into(&r.Result)
	return &r.Result
}

// Release drops the memory of a run that has ended.
func (r *Recorder) Release() { *r = Recorder{journal: r.journal, ended: true} }
