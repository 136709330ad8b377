package hunt

import (
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
)

// sweepDurations are the lengths of faults that last. A session survives the first. The second is
// between the time when the client gives up a silent connection, two thirds of a session, and the
// end of the session. No session survives the third.
var sweepDurations = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second}

// sweepPauses are the lengths of pauses, which leave the session alone. Meanwhile the other clients
// take a step, a round, or all the steps that they have.
var sweepPauses = []time.Duration{100 * time.Millisecond, time.Second, 10 * time.Second}

// durationsOf are the lengths of faults of a kind that lasts.
func durationsOf(kind fault.Kind) []time.Duration {
	if kind == fault.Pause {
		return sweepPauses
	}
	return sweepDurations
}

// FaultPoints lists every single fault that has a place in a run: each kind, at each request and
// each notification of the run.
func FaultPoints(base *scenario.Outcome) []fault.Fault {
	var faults []fault.Fault
	add := func(info fault.KindInfo, f fault.Fault) {
		f.Kind = info.Kind
		if !info.Lasts {
			faults = append(faults, f)
			return
		}
		for _, f.For = range durationsOf(f.Kind) {
			faults = append(faults, f)
		}
	}
	for _, info := range base.Scenario.Kinds() {
		for _, r := range base.Result.Requests {
			if info.OnRequest {
				add(info, fault.Fault{Client: r.Client, Request: r.Number})
			}
		}
		for _, e := range base.Result.Events {
			if info.OnEvent {
				add(info, fault.Fault{Client: e.Client, Event: e.Number})
			}
		}
	}
	return faults
}
