package hunt

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Some fault points of a sweep need not be played: a run that was played shows how theirs would go.
//
// A World is a function of its scenario. So the runs with two faults at one request are equal up to
// the request. They stay equal for as long as clients and servers get the same in both, at the same
// nanosecond, but for a read whose reply nobody gets. An [observed] run proves this up to its
// end for other faults at the same request or notification, in one of five ways:
//
//   - The fault did not act: all faults at that coordinate were over before it came (overlooks).
//   - The end of the scripts ended the fault: it would end a longer one, too (cutOff).
//   - The connection was over at both ends before the fault was: a longer fault holds what nobody
//     waits for (outlived). The client gives up a silent connection after two thirds of its
//     session, so this tells ten seconds from three.
//   - Nothing came the other way while the fault held both directions: a fault that holds one
//     direction does the same (oneWay). This tells delays from stalls.
//   - The request was a read: if its reply is lost, it does not matter whether the server has read
//     (readInVain). This tells lost replies from lost requests.
//
// What may differ are lines of the trace that no client and no judge hears of: that of the fault,
// those of the dead connection, and that of a read in vain.
//
// Only a run that violates nothing stands for others, and their own judges must agree with their
// own plan ([scenario.Outcome.OKWith]). So each violation is played, with a trace of its own.
type observed struct {
	*scenario.Outcome
	base  *scenario.Outcome
	fault fault.Fault
	// struck is when the fault acted, and conn the connection of its message.
	struck time.Duration
	conn   int
	// hungUp is when the client closed that connection, and greets when it sent its next handshake,
	// on another one.
	hungUp, greets time.Duration
	messages       []trace.Message // on that connection
}

// never is later than every run.
const never time.Duration = 1 << 62

// sameRuns lists those of some other faults at the same coordinate whose runs would go like that of
// the outcome. The base is the run without faults.
func sameRuns(base, o *scenario.Outcome, others []fault.Fault) []fault.Fault {
	if len(others) == 0 || !tellsOfOthers(o) {
		return nil
	}
	r := observed{Outcome: o, base: base, fault: o.Scenario.Plan[0], hungUp: never, greets: never}
	var same func(fault.Fault) bool
	switch {
	case len(o.Result.Missed) > 0:
		same = r.overlooks
	case r.locate():
		same = r.showsRunOf
	default:
		return nil
	}
	return slices.DeleteFunc(slices.Clone(others), func(f fault.Fault) bool {
		return !same(f) || !o.OKWith([]fault.Fault{f})
	})
}

// tellsOfOthers reports whether a run can tell anything of others: it was played to its end in a
// World in which time decides the order of messages, and violates nothing.
func tellsOfOthers(o *scenario.Outcome) bool {
	r := o.Result
	return o.Scenario.On == nil && o.Scenario.Schedule.Kind == sim.Latencies &&
		len(o.Scenario.Plan) == 1 && o.Status() == linearizability.OK && !o.CutShort &&
		r.Leaked == "" && r.Runaway == nil && len(r.Missed)+len(r.Strikes) == 1
}

// overlooks reports whether another fault would not act either: its coordinate came after the end
// of all faults, if at all. A pause that finds no caller to pause has not acted, but its coordinate
// had come.
func (r *observed) overlooks(f fault.Fault) bool {
	last := r.Playing // all faults end with the scripts
	for _, q := range r.Result.Requests {
		if at, _ := r.Result.Trace.Head(q.Step); f.Request > 0 && q.Client == f.Client &&
			q.Number == f.Request && at <= last {
			return false
		}
	}
	for _, e := range r.Result.Events {
		if at, _ := r.Result.Trace.Head(e.Step); f.Event > 0 && e.Client == f.Client &&
			e.Number == f.Event && at <= last {
			return false
		}
	}
	return true
}

// locate finds the connection and the time of the strike, and reports whether there is one.
func (r *observed) locate() bool {
	f, result := r.fault, r.Result
	r.struck, _ = result.Trace.Head(result.Strikes[0].Step)
	switch f.Kind {
	case fault.DropRequest, fault.Stall, fault.StallMidFrame, fault.Delay:
	default:
		return f.Kind == fault.Refuse
	}
	for _, q := range r.base.Result.Requests { // in the run, it may not have been applied
		if q.Client == f.Client && q.Number == f.Request {
			r.conn = q.Conn
		}
	}
	if f.Kind == fault.DropRequest {
		return r.conn != 0
	}
	messages := result.Messages()
	if f.Event > 0 {
		r.conn = r.connOfEvent(messages)
	}
	for _, m := range messages {
		switch {
		case m.Client != f.Client:
		case m.Conn == r.conn:
			r.messages = append(r.messages, m)
		case m.Op == "connect" && !r.arrivedBefore(m):
			r.greets = min(r.greets, m.Sent)
		}
	}
	for _, h := range result.HangUps {
		if h.Client == f.Client && h.Conn == r.conn {
			r.hungUp = h.Time
		}
	}
	return r.conn != 0
}

// connOfEvent is the connection of the notification that was struck, 0 if it is not known.
func (r *observed) connOfEvent(messages []trace.Message) int {
	e := r.event()
	for _, m := range messages {
		if m.Client == e.Client && m.From == e.Step && m.Op == e.Type {
			return m.Conn
		}
	}
	return 0
}

// showsRunOf reports whether another fault at the coordinate would make an equal run.
func (r *observed) showsRunOf(f fault.Fault) bool {
	const dropRequest, dropReply = fault.DropRequest, fault.DropReply
	switch {
	case r.fault.Kind == dropRequest && f.Kind == dropReply:
		return r.readInVain()
	case r.fault.Kind == f.Kind && f.For > r.fault.For:
		if f.Kind == fault.Refuse {
			return r.cutOff()
		}
		return r.outlived(f.For)
	case r.fault.Kind == fault.Stall && f.Kind == fault.Delay && f.For == r.fault.For:
		return r.oneWay(f.For)
	case r.fault.Kind == fault.Stall && f.Kind == fault.Delay && f.For > r.fault.For:
		return r.outlived(f.For) && r.oneWay(f.For)
	}
	return false
}

// cutOff reports whether the end of the scripts ended the fault, and so would end a longer one.
func (r *observed) cutOff() bool { return r.Playing < r.struck+r.fault.For }

// outlived reports whether both ends of the connection were over before the fault was, so that a
// longer fault holds no more than this one. There are three proofs:
//
//   - The World waits for the end of a fault that holds anything when the scripts are over. It did
//     not wait for this one.
//   - The message to the client that was first in line is lost: neither end knew the connection.
//   - The request that was first in line was never applied, although the run went on for long after
//     the end of the fault: the server had ended the connection. The client had closed it.
//
// With the third one the World may still hold what nobody hears, so it waits for a longer fault.
func (r *observed) outlived(longer time.Duration) bool {
	end, later := r.struck+r.fault.For, r.struck+longer
	if !r.isQuiet(end, true) || !r.isQuiet(later, false) {
		return false
	}
	f := r.fault
	switch {
	case r.Playing < end:
		return true
	case f.Kind == fault.StallMidFrame && f.Request > 0:
		return r.Playing > end && r.isLost(r.stepOfRequest(), "")
	case f.Kind == fault.Stall && f.Event > 0:
		return false
	case f.Event > 0:
		e := r.event()
		return r.Playing > end && r.isLost(e.Step, e.Type)
	}
	return r.Playing > later && r.stepOfRequest() == 0 && r.hungUp < end
}

// event is the notification that was struck, the zero EventPoint if it is not known.
func (r *observed) event() trace.EventPoint {
	for _, e := range r.Result.Events {
		if e.Client == r.fault.Client && e.Number == r.fault.Event {
			return e
		}
	}
	return trace.EventPoint{}
}

// stepOfRequest is the line at which the request that was struck was applied, 0 if it never was.
func (r *observed) stepOfRequest() int64 {
	for _, q := range r.Result.Requests {
		if q.Client == r.fault.Client && q.Number == r.fault.Request {
			return q.Step
		}
	}
	return 0
}

// isLost reports whether the message to the client that a line has caused never arrived.
func (r *observed) isLost(from int64, op string) bool {
	found := 0
	for _, m := range r.messages {
		if !m.Up && m.From == from && m.Op == op {
			if found++; !m.Lost {
				return false
			}
		}
	}
	return found == 1
}

// isQuiet reports whether nothing happens in the nanoseconds from a time on, at which a held
// message is due, but for what happens to the struck client itself if its own lines are expected.
// No two events of a World share a nanosecond, so a due message puts others off.
func (r *observed) isQuiet(from time.Duration, ownExpected bool) bool {
	const nanoseconds = 50
	for n := range int64(r.Result.Trace.Len()) {
		at, actor := r.Result.Trace.Head(n + 1)
		if from <= at && at < from+nanoseconds && !(ownExpected && actor == r.fault.Client) {
			return false
		}
	}
	return true
}

// oneWay reports whether nothing came in the direction that only a stall holds: to the client if a
// request was held, to the server if a notification was. What comes after the client has closed the
// connection does not matter.
func (r *observed) oneWay(lasts time.Duration) bool {
	end := r.struck + lasts
	if r.Playing <= end || r.fault.Event > 0 && r.hungUp < end {
		return false
	}
	end = min(end, r.hungUp)
	for _, m := range r.messages {
		if m.Up == (r.fault.Event > 0) && m.Sent < end && !r.arrivedBefore(m) {
			return false
		}
	}
	return r.greets >= end && !r.sessionEnds(end)
}

// arrivedBefore reports whether a message had arrived before the strike.
func (r *observed) arrivedBefore(m trace.Message) bool {
	at, _ := r.Result.Trace.Head(m.Step)
	return !m.Lost && m.Step > 0 && at < r.struck
}

// sessionEnds reports whether a session of the client ended between the strike and a time.
func (r *observed) sessionEnds(before time.Duration) bool {
	return slices.ContainsFunc(r.Result.Changes, func(c trace.Change) bool {
		return c.Kind == trace.SessionEnded && r.struck <= c.Time && c.Time < before &&
			r.Result.SessionClient[c.Owner] == r.fault.Client
	})
}

// readInVain reports whether the request was a read, and the session went on: a read changes
// nothing but the time at which its session would expire. The watch that it may set ends with the
// connection. With several servers a read may wait for the leader.
func (r *observed) readInVain() bool {
	f := r.fault
	if r.Scenario.Script.Servers > 1 || !isRead(r.Result.Strikes[0].Op) || !r.hasAsked() {
		return false
	}
	return !slices.ContainsFunc(r.Result.Changes, func(c trace.Change) bool {
		return c.Kind == trace.SessionEnded && c.Session == 0 && c.Time >= r.struck &&
			r.Result.SessionClient[c.Owner] == f.Client
	})
}

// hasAsked reports whether a request had come on the connection before: the first one shows a World
// that the client uses the connection at all.
func (r *observed) hasAsked() bool {
	return slices.ContainsFunc(r.base.Result.Requests, func(q trace.RequestPoint) bool {
		return q.Client == r.fault.Client && q.Conn == r.conn && q.Number < r.fault.Request
	})
}

// isRead reports whether an operation changes nothing at a server.
func isRead(op string) bool {
	return slices.Contains([]string{"exists", "getData", "getChildren", "getChildren2"}, op)
}
