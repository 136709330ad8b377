package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/linearizability"
)

// Record is what a [Player] tells the judge: calls and results, losses of holds, and what the
// object can do.
type Record struct {
	writer    client
	next      noted // the next line in the trace
	calls     *linearizability.Recorder
	lossNotes *linearizability.Recorder
	signals   bool     // the object under test has a signal for losses
	token     int64    // of the last successful call with one
	granted   string   // the kind of the last successful call
	grantedIn int64    // its session, 0 if not known
	heard     *tally   // of the successful calls of all clients; nil unless time orders messages
	atCall    []func() // of AtCall
	calling   bool
	failing   map[string]bool // kinds of calls: whether the last one failed; see Insist
	deadline  time.Duration   // of the call that is under way or comes next; 0: it has none
	limit     context.Context // with the deadline
	reached   []string
	optional  map[string]bool               // methods of the object: whether they were called
	shared    atomic.Bool                   // the object is made for several goroutines
	session   *atomic.Pointer[func() int64] // of NameSession, shared by the client's goroutines
}

// ToldLost is the line of a client that learns that it holds something no more.
const ToldLost = "is told: lost"

// start makes the recorders, which write into the trace of the client.
func (r *Record) start(c client) {
	r.writer, r.session = c, new(atomic.Pointer[func() int64])
	r.failing = map[string]bool{}
	r.calls = linearizability.NewRecorder(func() int64 {
		return int64(c.Note("%s", r.next))
	}, c.Now)
	r.lossNotes = linearizability.NewRecorder(func() int64 {
		return int64(c.NoteAside("%s", ToldLost))
	}, c.Now)
}

// Call is an operation under way; it ends with the first of OK, Unknown and
// Failed.
type Call struct {
	record *Record
	kind   string
	call   *linearizability.Call
}

// Begin records that the client calls an operation; package linearizability lists the kinds.
// Several goroutines begin one after the other, so that they do not race for the memory of the
// object.
func (r *Record) Begin(kind, input string) Call {
	sim.AwaitTurn(kind)
	r.stopHeeding()
	return r.begin(kind, input)
}

// BeginWithin is Begin for a call in the middle of a hold, which does not end it.
func (r *Record) BeginWithin(kind, input string) Call {
	sim.AwaitTurn(kind)
	return r.begin(kind, input)
}

func (r *Record) begin(kind, input string) Call {
	r.next = noted{"calls " + kind, callerOf()}
	if input != "" {
		r.next.text += " " + input
	}
	r.calling = true
	return Call{r, kind, r.calls.Call(r.writer.Of(), kind, input)}
}

// ends notes that the call has returned, and whether it has failed. A call without the time for its
// work says nothing about that.
func (c Call) ends(err error) {
	r := c.record
	timedOut := r.deadline != 0 && r.writer.Now() >= r.deadline || // turns take no time
		r.limit != nil && errors.Is(r.limit.Err(), context.DeadlineExceeded)
	if r.writer.Pace() != 1 { // deadlines are not known there; see expect
		timedOut = saysDone(err)
	}
	if r.deadline != 0 {
		c.call.Deadline(r.deadline)
	}
	if err == nil || !timedOut {
		r.failing[c.kind] = err != nil
	}
	r.calling, r.deadline, r.limit = false, 0, nil
}

// Excuse says of the last call of a kind that it has rightly waited in vain: the kind does not
// fail.
func (r *Record) Excuse(kind string) { r.failing[kind] = false }

// OK records a result. Without a session in the result it takes the session that the client has
// now.
func (c Call) OK(r linearizability.Result) {
	c.record.next = noted{text: c.kind + " returns" + resultText(r)}
	c.record.token = cmp.Or(r.Token, c.record.token)
	c.record.granted = c.kind
	c.record.heard.add(c.kind)
	c.ends(nil)
	r = c.inSession(r)
	c.record.grantedIn = r.Session
	c.call.OK(r)
}

// A tally counts calls by their kinds.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (t *tally) add(kind string) {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.of[kind]++
	}
}

func (t *tally) number(kind string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[kind]
}

// Unknown records an error after which the operation may have taken effect.
func (c Call) Unknown(r linearizability.Result, err error) {
	c.record.next = noted{text: fmt.Sprintf("%s fails: %v", c.kind, err)}
	c.ends(err)
	if c.record.session.Load() == nil { // an object with sessions of its own may have none by now
		r = c.inSession(r)
	}
	c.call.Unknown(r, err)
}

// Failed records an error that promises that the operation did not take effect and never will.
func (c Call) Failed(err error) {
	c.record.next = noted{text: fmt.Sprintf("%s fails: %v", c.kind, err)}
	c.ends(err)
	c.call.Failed(err)
}

func (c Call) inSession(r linearizability.Result) linearizability.Result {
	if r.Session != 0 {
		return r
	}
	if named := c.record.session.Load(); named != nil {
		r.Session = (*named)()
	} else {
		r.Session = c.record.writer.Session()
	}
	return r
}

func resultText(r linearizability.Result) string {
	switch {
	case r.Empty:
		return ": nothing there"
	case r.Output != "":
		return " " + r.Output
	case r.Token != 0:
		return fmt.Sprintf(", token %d", r.Token)
	}
	return ""
}

// Heed records that the client has lost its hold (LockLost of package linearizability) if lost, the
// signal of loss, is closed before stop is called. If token is 0, the token of the hold is that of
// the last successful call. A nil lost means that the object has no signal. If it has one, a loss
// without a signal is a violation. Pass stop to [Record.AtCall] before the release.
func (r *Record) Heed(token int64, lost <-chan struct{}) (stop func()) {
	if lost == nil {
		return func() {}
	}
	r.signals = true
	end, noted := make(chan struct{}), make(chan struct{})
	go r.watchLoss(cmp.Or(token, r.token), lost, end, noted)
	return sync.OnceFunc(func() {
		close(end)
		<-noted
	})
}

// watchLoss notes the loss of a hold. A signal that is there when stop is closed counts.
func (r *Record) watchLoss(token int64, lost, stop <-chan struct{}, noted chan<- struct{}) {
	defer close(noted)
	select {
	case <-lost:
	case <-stop:
	}
	select {
	case <-lost:
		r.lossNotes.Notice(r.writer.Of(), linearizability.LockLost, token)
	default: // from here on the release itself causes the signal
	}
}

// AtCall lets the next call of the player, or the end of its script, stop [Record.Heed]: right
// before the call, so that no loss between a hold and its release is missed.
func (r *Record) AtCall(stop func()) { r.atCall = append(r.atCall, stop) }

// stopHeeding calls what AtCall has noted.
func (r *Record) stopHeeding() {
	for _, stop := range r.atCall {
		stop()
	}
	r.atCall = nil
}

// Optional notes that the object has an optional method, and whether the script calls it now. A
// hunt says which it has never called.
func (r *Record) Optional(method string, called bool) {
	if r.optional == nil {
		r.optional = map[string]bool{}
	}
	r.optional[method] = r.optional[method] || called
}

// Shared notes that the object is made for several goroutines of the client; see [Outcome.Shared].
func (r *Record) Shared() { r.shared.Store(true) }

// NameSession is for an object that makes connections itself: from now on the function session
// gives the session of each result of the client. 0 means that it is unknown.
func (r *Record) NameSession(session func() int64) { r.session.Store(&session) }

// expect notes the time at which the context of the next call, or of the present call, is done. It
// notes nothing if virtual time passes faster than the clock: a busy machine would make calls late.
func (r *Record) expect(deadline time.Duration, of context.Context) {
	if r.writer.Pace() == 1 && (r.deadline == 0 || deadline < r.deadline) {
		r.deadline, r.limit = deadline, of
	}
}
