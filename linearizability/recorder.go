package linearizability

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Recorder collects the calls and notices of clients. Its methods are safe for concurrent use and
// hold no lock while they ask for the step and the time. They do nothing on a nil Recorder or a nil
// [Call], so that code under test can run without one.
type Recorder struct {
	step func() int64
	now  func() time.Duration

	mu      sync.Mutex
	ops     []*Op
	notices []Notice
}

// NewRecorder returns a Recorder. step returns the present step, which must never go back, and now
// the present time.
func NewRecorder(step func() int64, now func() time.Duration) *Recorder {
	return &Recorder{step: step, now: now}
}

// Call is an operation that has begun. It is pending until one of its methods OK, Failed and
// Unknown is called; only the first of these counts.
type Call struct {
	recorder *Recorder
	op       *Op
}

// Result is the result of an operation; see the fields of [Op].
type Result struct {
	Output  string
	Empty   bool
	Token   int64
	Session int64
}

// Call records that the client begins an operation.
func (r *Recorder) Call(client, kind, input string) *Call {
	if r == nil {
		return nil
	}
	op := &Op{
		Client: client, Kind: kind, Input: input, Call: r.step(), CallTime: r.now(), Return: -1,
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, op)
	return &Call{recorder: r, op: op}
}

// Deadline records when the context of the operation is done.
func (c *Call) Deadline(at time.Duration) {
	if c == nil {
		return
	}
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	c.op.Deadline = at
}

// OK records that the operation returned a result.
func (c *Call) OK(result Result) { c.finish(OpOK, result, nil) }

// Failed records that the operation returned an error and has certainly not been applied.
func (c *Call) Failed(err error) { c.finish(OpFailed, Result{}, err) }

// Unknown records that the operation returned an error and may have been applied. The result holds
// the known part: the session, or the element that came with the error.
func (c *Call) Unknown(result Result, err error) { c.finish(OpUnknown, result, err) }

// NotHeld records that a release returned an error because the client had lost its hold before the
// call. Failed says of a release that the client still has it.
func (c *Call) NotHeld(err error) { c.finish(OpNotHeld, Result{}, err) }

func (c *Call) finish(outcome Outcome, result Result, err error) {
	if c == nil {
		return
	}
	step, now := c.recorder.step(), c.recorder.now()
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	if c.op.Outcome != OpPending {
		return
	}
	c.op.Outcome, c.op.Return, c.op.ReturnTime = outcome, step, now
	c.op.Output, c.op.Empty = result.Output, result.Empty
	c.op.Token, c.op.Session = result.Token, result.Session
	if err != nil {
		c.op.Err = strings.ReplaceAll(err.Error(), "\n", "; ") // one line in a verdict
	}
}

// Notice records that the client learned of a change of its connection or session, or that its hold
// with this token is lost; see [Notice.Token]. The token is 0 for other notices.
func (r *Recorder) Notice(client string, kind NoticeKind, token int64) {
	if r == nil {
		return
	}
	n := Notice{Client: client, Step: r.step(), Time: r.now(), Kind: kind, Token: token}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notices = append(r.notices, n)
}

// History returns a copy of the record so far, together with the server's events (nil if they are
// not known). Operations that have not returned are pending. It may be called more than once.
func (r *Recorder) History(server []ServerEvent) History {
	if r == nil {
		return History{Server: slices.Clone(server)}
	}
	end, endTime := r.step(), r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	h := History{
		Server: slices.Clone(server), Notices: slices.Clone(r.notices), End: end, EndTime: endTime,
	}
	for _, op := range r.ops {
		h.Ops = append(h.Ops, *op)
	}
	return h.Sorted()
}
