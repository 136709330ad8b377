package hunt

import (
	"fmt"
	"path"
	"slices"
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
	var plans, others []timed
	seen := map[string]int{}
	for _, r := range o.Result.Requests {
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
		plans = append(plans, with(fault.Expire, r.Client))
		for _, other := range s.Script.ClientNames() {
			if other != r.Client {
				others = append(others, with(fault.Expire, other))
			}
		}
		others = append(others, with(fault.Cut, r.Client))
	}
	return append(plans, others...)
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
		at := slices.Index(plan, pause.Fault)
		if c.Time <= from || c.Path == "" || c.Client == "" || c.Client == pause.Client || at < 0 {
			continue
		}
		if c.Time >= began+pause.Fault.For {
			return nil
		}
		plan[at].For = (c.Time - began + justAfter).Round(time.Millisecond)
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
