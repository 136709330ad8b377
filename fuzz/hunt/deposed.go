package hunt

import (
	"fmt"
	"path"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
)

// Times of a leader that is cut off, in ticks of two seconds: when the others have elected another
// one, and a moment between that and the moment when it notices.
const (
	tick      = 2 * time.Second // without Settings
	elected   = 5*tick + 600*time.Millisecond
	unnoticed = 5*tick + 3*tick/4
)

// deposings are plans by which a client reads from a leader that was deposed and does not know.
// They are for the requests of a run, before its first fault, to the server that leads at first. A
// goroutine waits for the reply to the request, and the leader is cut off. When the goroutine goes
// on, another client has gone to the new leader. That client needs a fault of its own: a client
// that looks for a server in the election finds the old leader alone, and stays there.
func deposings(o *scenario.Outcome) (plans []timed) {
	s := o.Scenario
	if s.Script.Servers < 2 || s.Schedule.Kind != sim.Latencies {
		return nil
	}
	seen := map[string]int{}
	for _, r := range o.Result.Requests {
		if len(o.Result.Strikes) > 0 && r.Step >= o.Result.Strikes[0].Step {
			break
		}
		if r.Server != leader {
			continue
		}
		request := fmt.Sprint(r.Op, " ", path.Dir(r.Path))
		seen[r.Client+request]++
		at := timeOf(o, r.Step).Round(time.Millisecond) + time.Millisecond
		for _, other := range s.Script.ClientNames() {
			if other == r.Client {
				continue
			}
			s.Plan = []fault.Fault{
				{Kind: fault.Pause, For: unnoticed, Client: r.Client, Request: r.Number},
				{Kind: fault.Isolate, For: 5 * tick, Server: leader, At: at},
				{Kind: fault.Cut, Client: other, At: at + elected},
			}
			name := fmt.Sprint(request, " ", seen[r.Client+request], " ", other)
			plans = append(plans, timed{name, s})
		}
	}
	return plans
}
