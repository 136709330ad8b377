package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// errBusy is recorded for a call that does not wait and found another owner.
var errBusy = errors.New("somebody else is the owner")

// closer is an object under test with a Close: it ends the operations under way, and releases the
// holds of the object.
type closer interface {
	Close(ctx context.Context) error
}

// closeAtRandom is the script of the goroutine that closes the shared object at any moment and
// opens a new one in its place.
func (h *Handle[T]) closeAtRandom(p *Player, s Script) {
	if _, ok := any(h.Now()).(closer); !ok {
		return // without a Close, nothing would give back what the object holds
	}
	for round := 0; round < 2*s.Rounds; round++ {
		if !p.Pause(time.Duration(p.Choose(At("close", round), 80_000)) * time.Microsecond) {
			return
		}
		old, inUse := h.replace()
		c, ok := any(old).(closer)
		if !ok || !inUse {
			return
		}
		ctx, cancel := p.Hasty(p.Context(), 0, At("closing", round), 4, 0, 10*time.Millisecond)
		p.close(ctx, c)
		cancel()
	}
}

// replace opens a new object in the place of the present one, and returns the present one. It
// reports false, and does nothing, if all users have ended.
func (h *Handle[T]) replace() (old T, inUse bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old = h.opened
	if h.users == 0 {
		return old, false
	}
	h.opened = h.open()
	return old, true
}

// close closes an object and records the call one step before: in one step the lines of other
// goroutines about it might come first in the trace.
func (p *Player) close(ctx context.Context, c closer) {
	call := p.Begin(ops.Close, "")
	p.Pause(time.Microsecond)
	if err := c.Close(ctx); err != nil {
		call.Unknown(linearizability.Result{}, err)
		return
	}
	call.OK(linearizability.Result{})
}

// closedWithin is how soon an operation must end when its object is closed. It is far longer than
// an operation may wait for its clean-up.
const closedWithin = time.Second

// judgeClosing adds verdicts on closed objects to a report: Close must return, and operations under
// way must end soon, also without a connection. A release may take longer, because it waits for the
// server.
func judgeClosing(r *linearizability.Report, h linearizability.History,
	rest *linearizability.Leftovers) {
	for _, c := range h.Ops {
		if c.Kind != ops.Close {
			continue
		}
		if c.Outcome == linearizability.OpPending && rest != nil {
			r.Worsen(neverClosed(c))
		}
		for _, op := range h.Ops {
			if v, bad := continuesAfterClose(op, c, h.EndTime); bad {
				r.Worsen(v)
			}
		}
	}
}

func neverClosed(c linearizability.Op) linearizability.Verdict {
	return violatedLiveness([]int64{c.Call},
		"%s's close (step %d) never returned, although the faults stopped", c.Client, c.Call)
}

// continuesAfterClose returns a verdict, and true, if op went on for too long after its object was
// closed.
func continuesAfterClose(op, c linearizability.Op, end time.Duration) (linearizability.Verdict,
	bool) {
	switch op.Kind {
	case ops.Close, ops.Release, ops.Unlock:
		return linearizability.Verdict{}, false
	}
	if op.Outcome != linearizability.OpPending {
		end = op.ReturnTime
	}
	if op.Client != c.Client || op.CallTime >= c.CallTime || end <= c.CallTime+closedWithin {
		return linearizability.Verdict{}, false
	}
	return violatedLiveness([]int64{op.Call, c.Call},
		"%s's %s (step %d) went on for %s after its object was closed at step %d",
		op.Client, op.Kind, op.Call, virtualTime(end-c.CallTime), c.Call), true
}

// tryName is the name of the method that tries an operation.
func tryName(kind, input string) string {
	switch {
	case kind == ops.Acquire:
		return "TryAcquire"
	case input == ops.ReadMode:
		return "TryRLock"
	}
	return "TryLock"
}

// TryFirst calls an operation that does not wait, and records the result. It does so for one label
// in six, in a careless script for one in three. tried reports whether it did. It calls token after
// a success.
func (p *Player) TryFirst(label, kind, input string, do func(context.Context) (bool, error),
	token func() int64) (tried bool, err error) {
	oneIn := 6
	if p.careless {
		oneIn = 3
	}
	tried = p.Choose(label+" try", oneIn) == 0
	if p.Optional(tryName(kind, input), tried); !tried {
		return false, nil
	}
	c := p.Begin(kind, input)
	switch ok, err := do(p.ctx); {
	case err != nil:
		c.Unknown(linearizability.Result{}, err)
		return true, err
	case !ok:
		c.Failed(errBusy)
		return true, errBusy
	}
	c.OK(linearizability.Result{Token: token()})
	return true, nil
}
