package hunt

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
)

// keptRun is a scenario to be changed, with the pauses of its run, and the wake of its
// faults.
type keptRun struct {
	scenario.Scenario
	pauses []time.Duration
	wake   []trace.RequestPoint
}

func keep(o *scenario.Outcome) keptRun { return keptRun{o.Scenario, pauses(o), wake(o)} }

const (
	// shortestPause is longer than most messages are on their way.
	shortestPause = 5 * time.Millisecond
	maxPauses     = 64
)

// pauses are the middles of the times, from the beginning of a run, in which no call began or
// ended: clients hold their objects, or wait. The end of a session in a pause is at no request and
// no notification, and a time drawn at random rarely meets it.
func pauses(o *scenario.Outcome) []time.Duration {
	var moments, middles []time.Duration
	for _, op := range o.History.Ops {
		moments = append(moments, op.CallTime, op.ReturnTime)
	}
	slices.Sort(moments)
	for i := 1; i < len(moments) && len(middles) < maxPauses; i++ {
		from, to := moments[i-1], moments[i]
		if from > 0 && to-from >= shortestPause {
			middles = append(middles, (from + (to-from)/2).Round(time.Millisecond))
		}
	}
	return middles
}

// inPause is a fault in a pause of the run, in half of the cases the end of a session.
func (k keptRun) inPause(dice *rand.Rand) fault.Fault {
	clients := k.Script.ClientNames()
	f := fault.Fault{
		Kind: fault.Expire, At: k.pauses[dice.IntN(len(k.pauses))],
		Client: clients[dice.IntN(len(clients))],
	}
	if dice.IntN(2) > 0 {
		return f
	}
	return k.anyKind(f, dice, func(info fault.KindInfo) bool { return info.OnTime })
}
