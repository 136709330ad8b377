package hunt

import (
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
)

// sweepDurations are the lengths of faults that last: one that a session survives; one between two
// thirds of a session, when the client gives a silent connection up, and its end; and one that no
// session survives.
var sweepDurations = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second}

// FaultPoints lists every single fault that a run offers a place for: each kind, at each request
// and each notification of the run.
func FaultPoints(base *scenario.Outcome) []fault.Fault {
	var faults []fault.Fault
	add := func(info fault.KindInfo, f fault.Fault) {
		f.Kind = info.Kind
		if !info.Lasts {
			faults = append(faults, f)
			return
		}
		for _, f.For = range sweepDurations {
			faults = append(faults, f)
		}
	}
	for _, info := range fault.Kinds() {
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
