package hunt

import (
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
)

// second is a fault while another one lasts, and the operation of its request, "" without one.
type second struct {
	fault.Fault
	op string
}

// inWindow are second faults for a run whose only fault lasts. They let a client act on what it has
// read before the world changed:
//
//   - While the server is behind, a client reads. It gets the reply when the server has caught up,
//     and others have made their nodes.
//   - While a goroutine waits for its reply in a pause, its session ends, or its connection, and
//     others go on.
func inWindow(o *scenario.Outcome) []second {
	if len(o.Result.Strikes) != 1 {
		return nil
	}
	strike := o.Result.Strikes[0]
	began := timeOf(o, strike.Step)
	var faults []second
	switch strike.Fault.Kind {
	case fault.Lag:
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
	case fault.Pause:
		for _, kind := range []fault.Kind{fault.Expire, fault.Cut} {
			faults = append(faults, second{Fault: fault.Fault{
				Kind: kind, At: (began + strike.Fault.For/2).Round(time.Millisecond),
				Client: strike.Client,
			}})
		}
	}
	return faults
}

func timeOf(o *scenario.Outcome, step int64) time.Duration {
	at, _ := o.Result.Trace.Head(step)
	return at
}
