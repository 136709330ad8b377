package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/zksim/zksim/linearizability"
)

// maxBehind is the number of bytes that may wait to be written.
const maxBehind = 16 << 20

// ErrBehind is the error of Close if the calls were faster than the file.
var ErrBehind = errors.New("record: 16 MiB of events wait to be written: the recording stops")

// Recorder writes the calls and notices of the clients of one object. Its methods are safe for
// concurrent use, do not wait for the file, and do nothing on a nil Recorder or a nil [Call], so
// that code can run without one.
type Recorder struct {
	began time.Time
	write func(lines []byte) error

	mu      sync.Mutex
	calls   int64
	waiting bytes.Buffer // lines that wait to be written
	err     error        // the first one; then nothing is recorded any more
	closed  bool

	wake chan struct{} // has a token if there is something to write
	done chan struct{} // closed when the writer has ended
}

// New returns a Recorder that writes to w. Close the Recorder, and then w.
func New(w io.Writer) *Recorder {
	return start(func(lines []byte) error {
		_, err := w.Write(lines)
		return err
	})
}

// start returns a Recorder with its writer under way.
func start(write func(lines []byte) error) *Recorder {
	r := &Recorder{
		began: time.Now(), write: write, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	first := header{Format: "history", Version: version, Began: r.began.UTC()}
	// All processes of a Linux have one clock, and this id until it starts anew.
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		first.Clock = text(bytes.TrimSpace(boot))
	}
	r.append(first)
	go r.writeAll()
	return r
}

// Call is an operation that has begun. It is pending until one of its methods OK, Failed,
// Unknown and NotHeld is called; only the first of these counts.
type Call struct {
	recorder *Recorder
	number   int64

	mu       sync.Mutex
	returned bool
}

// Call records that a client begins an operation. kind is its name in package ops.
func (r *Recorder) Call(client, kind, input string) *Call {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	r.add(event{Event: eventCall, Call: r.calls, Client: client, Op: kind, Input: text(input)})
	return &Call{recorder: r, number: r.calls}
}

// OK records that the operation returned a result.
func (c *Call) OK(result linearizability.Result) { c.finish(linearizability.OpOK, result, nil) }

// Failed records that the operation returned an error and has certainly not been applied.
func (c *Call) Failed(err error) {
	c.finish(linearizability.OpFailed, linearizability.Result{}, err)
}

// Unknown records that the operation returned an error and may have been applied. The result holds
// the known part: the session, or the element that came with the error.
func (c *Call) Unknown(result linearizability.Result, err error) {
	c.finish(linearizability.OpUnknown, result, err)
}

// NotHeld records that a release returned an error because the client had lost its hold before the
// call. Failed says of a release that the client still has it.
func (c *Call) NotHeld(err error) {
	c.finish(linearizability.OpNotHeld, linearizability.Result{}, err)
}

func (c *Call) finish(outcome linearizability.Outcome, result linearizability.Result, err error) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.returned {
		return
	}
	c.returned = true
	e := event{
		Event: eventReturn, Call: c.number, Outcome: nameOf(outcomes, outcome),
		Output: text(result.Output), Empty: result.Empty,
		Token: result.Token, Session: session(result.Session),
	}
	if err != nil {
		e.Error = text(err.Error())
	}
	c.recorder.mu.Lock()
	defer c.recorder.mu.Unlock()
	c.recorder.add(e)
}

// Notice records that the client learned of a change of its connection or session, or that its hold
// with this token is lost. The token is 0 for other notices.
func (r *Recorder) Notice(client string, kind linearizability.NoticeKind, token int64) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(event{Event: eventNotice, Client: client, Notice: nameOf(notices, kind), Token: token})
}

// Close writes what is left and the end of the history, and returns the first error of the
// recording. Calls that have not returned stay pending. Nothing is recorded after it.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	if !r.closed {
		r.add(event{Event: eventEnd})
		r.closed = true
		r.signal()
	}
	r.mu.Unlock()
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// add appends an event with the present time. The mutex is held.
func (r *Recorder) add(e event) {
	if r.closed || r.err != nil {
		return
	}
	e.At = time.Since(r.began)
	r.append(e)
}

// append appends a line to the buffer.
func (r *Recorder) append(v any) {
	line, err := json.Marshal(v)
	switch {
	case err != nil:
		r.err = fmt.Errorf("record: %w", err)
	case len(line) >= maxLine:
		r.err = fmt.Errorf("record: an event has %d bytes; at most %d can be written: "+
			"the recording stops", len(line), maxLine-1)
	case r.waiting.Len()+len(line) > maxBehind:
		r.err = ErrBehind
	default:
		r.waiting.Write(line)
		r.waiting.WriteByte('\n')
	}
	r.signal()
}

// signal wakes the writer.
func (r *Recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// writeAll writes lines until the Recorder is closed or has an error.
func (r *Recorder) writeAll() {
	defer close(r.done)
	for range r.wake {
		r.mu.Lock()
		lines := bytes.Clone(r.waiting.Bytes())
		r.waiting.Reset()
		last := r.closed || r.err != nil
		r.mu.Unlock()
		if err := r.write(lines); err != nil {
			r.fail(fmt.Errorf("record: write: %w", err))
			return
		}
		if last {
			return
		}
	}
}

// fail stops the recording at an error of the file.
func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.waiting.Reset()
}
