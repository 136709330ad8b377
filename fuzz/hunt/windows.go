package hunt

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// second is a fault while another one lasts, and the operation of its request.
type second struct {
	fault.Fault
	op string
}

// inWindow are second faults for a run whose only fault lets the server be behind. A client reads
// meanwhile, and gets the reply when the server has caught up, and others have made their nodes.
func inWindow(o *scenario.Outcome) []second {
	if len(o.Result.Strikes) != 1 || o.Result.Strikes[0].Fault.Kind != fault.Lag {
		return nil
	}
	strike := o.Result.Strikes[0]
	began := timeOf(o, strike.Step)
	var faults []second
	ends := began + strike.Fault.For
	for _, r := range o.Result.Requests {
		at := timeOf(o, r.Step)
		if r.Step > strike.Step && at < ends && isRead(r.Op) && len(faults) < maxWake {
			faults = append(faults, second{fault.Fault{
				Kind: fault.Pause, For: (ends - at + time.Second).Round(100 * time.Millisecond),
				Client: r.Client, Request: r.Number,
			}, r.Op})
		}
	}
	return faults
}

// A timed scenario is one whose plan has a time that a run has told.
type timed struct {
	name string // equal for plans that are alike
	scenario.Scenario
}

// inPauses are plans for the requests of a run without faults: a goroutine waits for its reply in a
// pause. Meanwhile its session ends, or that of another client, or its connection, and others go
// on. See [untilChange] for the end of the pause. The ends of its own session come first.
func inPauses(o *scenario.Outcome) []timed {
	s := o.Scenario
	const alike, long = 2, time.Second
	var looks, plans, others []timed
	seen := map[string]int{}
	for i, r := range o.Result.Requests {
		name := fmt.Sprint(r.Op, " ", path.Dir(r.Path), " ", callAt(o, r.Client, r.Step))
		if seen[name]++; seen[name] > alike {
			continue
		}
		at := timeOf(o, r.Step).Round(time.Millisecond) + shortestPause
		with := func(kind fault.Kind, client string) timed {
			s.Plan = []fault.Fault{
				{Kind: fault.Pause, For: long, Client: r.Client, Request: r.Number},
				{Kind: kind, Client: client, At: at},
			}
			return timed{fmt.Sprint(name, " ", seen[name], " ", kind, " ", client), s}
		}
		if isLook(o.Result.Requests[i:]) {
			looks = append(looks, with(fault.Expire, r.Client))
		} else {
			plans = append(plans, with(fault.Expire, r.Client))
		}
		for _, other := range s.Script.ClientNames() {
			if other != r.Client {
				others = append(others, with(fault.Expire, other))
			}
		}
		others = append(others, with(fault.Cut, r.Client))
	}
	return slices.Concat(looks, plans, others)
}

// isLook reports whether the first of these requests is a read, and the client writes next.
func isLook(requests []trace.RequestPoint) bool {
	for _, r := range requests[1:] {
		if r.Client == requests[0].Client {
			return isRead(requests[0].Op) && !isRead(r.Op)
		}
	}
	return false
}

// beforeEnds are plans for a run in which the only fault makes the server end a session later, as
// when a process dies or is cut off. A client reads a node of that session meanwhile, and gets the
// reply after the end: by then the node may be another's. See [untilChange] for that moment.
func beforeEnds(o *scenario.Outcome) (plans []timed) {
	s := o.Scenario
	if len(s.Plan) != 1 || len(o.Result.Strikes) != 1 {
		return nil
	}
	ends := map[int64]trace.Change{} // of sessions
	for _, c := range o.Result.Changes {
		if c.Kind == trace.SessionEnded && c.Session == 0 {
			ends[c.Owner] = c
		}
	}
	alive := map[string]trace.Change{} // ends of the sessions that have the nodes
	changes := o.Result.Changes
	for _, r := range o.Result.Requests {
		for ; len(changes) > 0 && changes[0].Step < r.Step; changes = changes[1:] {
			switch c := changes[0]; c.Kind {
			case trace.NodeCreated:
				alive[c.Path] = ends[c.Owner]
			case trace.NodeDeleted:
				delete(alive, c.Path)
			}
		}
		if r.Step <= o.Result.Strikes[0].Step || !isRead(r.Op) {
			continue
		}
		end := alive[r.Path]
		for node, e := range alive { // the one that ends last
			if path.Dir(node) == r.Path && strings.HasPrefix(r.Op, "getChildren") &&
				e.Step > end.Step {
				end = e
			}
		}
		if end.Step == 0 {
			continue
		}
		s.Plan = append(slices.Clone(o.Scenario.Plan), fault.Fault{
			Kind: fault.Pause, Client: r.Client, Request: r.Number,
			For: (end.Time - timeOf(o, r.Step) + time.Second).Round(time.Millisecond),
		})
		own := scenario.ClientOf(r.Client) == scenario.ClientOf(o.Result.SessionClient[end.Owner])
		name := fmt.Sprint("before end ", r.Op, " ", path.Dir(r.Path), " ",
			callAt(o, r.Client, r.Step), " ", own)
		if !slices.ContainsFunc(plans, func(t timed) bool { return t.name == name }) {
			plans = append(plans, timed{name, s})
		}
	}
	return plans
}

// untilChange is the plan of a run with a pause, which now ends just after the first change that
// another client makes in it, behind the other fault if there is one: by then what the paused
// goroutine has read is old, and most likely another one owns what it reads about. The run is the
// same up to that change. It returns nil if there is no such change.
func untilChange(o *scenario.Outcome) []fault.Fault {
	plan := slices.Clone(o.Scenario.Plan)
	i := slices.IndexFunc(o.Result.Strikes, func(s trace.Strike) bool {
		return s.Fault.Kind == fault.Pause && s.Fault.Request > 0
	})
	if i < 0 {
		return nil
	}
	pause := o.Result.Strikes[i]
	began, from := timeOf(o, pause.Step), time.Duration(0)
	for _, s := range o.Result.Strikes {
		from = max(from, timeOf(o, s.Step))
	}
	for _, c := range o.Result.Changes {
		if c.Kind == trace.SessionEnded && c.Session == 0 && c.Time > began {
			from = max(from, c.Time)
		}
		at := slices.Index(plan, pause.Fault)
		if c.Time <= from || c.Path == "" || c.Client == "" || c.Client == pause.Client || at < 0 {
			continue
		}
		if c.Time >= began+pause.Fault.For {
			return nil
		}
		until := c.Time + justAfter
		for _, op := range o.History.Ops {
			if op.Client == c.Client && op.Call < c.Step && c.Step < op.Return && op.OK() {
				until = min(until, op.ReturnTime+time.Millisecond)
			}
		}
		plan[at].For = (until - began).Round(time.Millisecond)
		return plan
	}
	return nil
}

// justAfter is the time in which a client hears of its own change and begins to rely on it.
const justAfter = 12 * time.Millisecond

// inHolds are plans for a run without faults: a client's session ends between two of its calls,
// which is at no request.
func inHolds(o *scenario.Outcome) (plans []timed) {
	s := o.Scenario
	last := map[string]linearizability.Op{}
	for _, op := range o.History.Ops {
		before, ok := last[op.Client]
		last[op.Client] = op
		from := before.ReturnTime
		if !ok || !before.OK() || op.CallTime-from < shortestPause {
			continue
		}
		s.Plan = []fault.Fault{{
			Kind: fault.Expire, Client: op.Client,
			At: (from + (op.CallTime-from)/2).Round(time.Millisecond),
		}}
		plans = append(plans, timed{fmt.Sprint(op.Client, " ", before.Kind, " ", op.Kind), s})
	}
	return plans
}

// leader is the server that leads at first.
const leader = 1

// callAt is the kind of the call of a client that is under way at a step, "" between calls.
func callAt(o *scenario.Outcome, client string, step int64) string {
	for _, op := range o.History.Ops {
		if op.Client == client && op.Call < step && (op.Return > step || op.Pending()) {
			return op.Kind
		}
	}
	return ""
}

func timeOf(o *scenario.Outcome, step int64) time.Duration {
	at, _ := o.Result.Trace.Head(step)
	return at
}

// afterAnswers are plans for calls of a run that begin with a read: a client calls right after
// another client's call was answered, and has to see what that call has changed. Until then the
// client waits for the last reply to its call before. With several servers its own one lags behind
// that change, so it must be a follower that the other client does not use. The calls are those
// after the only fault of the run, as it may move a client to another server, or those before the
// first one.
func afterAnswers(o *scenario.Outcome) (plans []timed) {
	s, from, until := o.Scenario, int64(0), untilStrike(o)
	if len(s.Plan) == 1 && len(o.Result.Strikes) == 1 {
		from, until = until, math.MaxInt64
	} else {
		s.Plan = nil
	}
	calls := callsOf(o)
	for i, c := range calls {
		if c.Call >= until || c.first == nil || !isRead(c.first.Op) {
			continue
		}
		var before *trace.RequestPoint
		var rest time.Duration // between the calls
		for _, b := range calls[:i] {
			if b.Client == c.Client {
				before, rest = b.last, c.CallTime-b.ReturnTime
			}
		}
		if before == nil || before.Step <= from {
			continue
		}
		for _, other := range calls {
			late := other.ReturnTime - c.CallTime
			if other.Client == c.Client || !other.OK() || other.Return >= until ||
				late <= 0 || late > longestWait || other.change == nil {
				continue
			}
			sent := c.CallTime - rest - timeOf(o, before.Step) // until the reply
			t := timed{fmt.Sprint(c.Kind, " after ", other.Kind), s}
			if c.change != nil {
				t.name = "change after change" // most fail if they rest on an old read
			}
			t.Plan = append(slices.Clone(s.Plan), fault.Fault{
				Kind: fault.Pause, For: (sent + late).Round(time.Millisecond) + time.Millisecond,
				Client: c.Client, Request: before.Number,
			})
			if s.Script.Servers > 1 {
				at := (other.change.Time - time.Millisecond).Round(time.Millisecond)
				if before.Server == leader || before.Server == other.last.Server || at <= 0 {
					continue
				}
				t.Plan = append(t.Plan, fault.Fault{
					Kind: fault.Lag, For: time.Second, Client: c.Client, At: at,
				})
			}
			plans = append(plans, t)
		}
	}
	return plans
}

// untilStrike is the step of the first fault of a run, or one after all others.
func untilStrike(o *scenario.Outcome) int64 {
	if len(o.Result.Strikes) > 0 {
		return o.Result.Strikes[0].Step
	}
	return math.MaxInt64
}

// longestWait is how long a client of afterAnswers waits at most: meanwhile it sends pings.
const longestWait = 5 * time.Second

// call is a call with its first and its last request, and its first change; nil if it has none.
type call struct {
	linearizability.Op
	first, last *trace.RequestPoint
	change      *trace.Change
}

func callsOf(o *scenario.Outcome) []call {
	calls := make([]call, len(o.History.Ops))
	of := map[string][]*call{} // those of a client
	for i, op := range o.History.Ops {
		calls[i].Op = op
		of[op.Client] = append(of[op.Client], &calls[i])
	}
	during := func(client string, step int64) *call {
		for _, c := range slices.Backward(of[client]) {
			if c.Call < step && step < c.Return {
				return c
			}
		}
		return nil
	}
	for i, r := range o.Result.Requests {
		if c := during(r.Client, r.Step); c != nil {
			c.last = &o.Result.Requests[i]
			c.first = cmp.Or(c.first, c.last)
		}
	}
	for i, ch := range o.Result.Changes {
		if c := during(ch.Client, ch.Step); c != nil && c.last != nil {
			c.change = cmp.Or(c.change, &o.Result.Changes[i])
		}
	}
	return calls
}
