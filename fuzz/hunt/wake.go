package hunt

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
)

// maxWake is the number of requests that count as the answer to a fault.
const maxWake = 4

// wake are the first requests of the client after the last fault that has struck it: its retries,
// and the reads that show their effects. The run without faults has no such places, and numbers
// drawn at random rarely meet them.
func wake(o *scenario.Outcome) []trace.RequestPoint {
	if len(o.Result.Strikes) == 0 {
		return nil
	}
	last := o.Result.Strikes[len(o.Result.Strikes)-1]
	var requests []trace.RequestPoint
	for _, r := range o.Result.Requests {
		struck := r.Client == last.Client || last.Client == ""
		if r.Step > last.Step && struck && !isStruck(r, last) && len(requests) < maxWake {
			requests = append(requests, r)
		}
	}
	return requests
}

// isStruck reports whether a request is the one that a fault has struck and that was applied all
// the same, in one of the next lines. Its retry comes later, on another connection.
func isStruck(r trace.RequestPoint, s trace.Strike) bool {
	return r.Step <= s.Step+2 && r.Client == s.Client && r.Op == s.Op && r.Path == s.Path
}

// losses are the most important faults in the wake of a fault: the loss of a request, of its reply,
// or of the session.
var losses = []fault.Kind{fault.DropRequest, fault.DropReply, fault.Expire}

// atRetry are the faults at the retry of a lost request: losses, and outages. A session survives
// the first outage, in which others take what they can, and no session survives the second.
var atRetry = []fault.Fault{
	{Kind: fault.DropRequest}, {Kind: fault.DropReply}, {Kind: fault.Expire},
	{Kind: fault.Refuse, For: 3 * time.Second}, {Kind: fault.Refuse, For: 10 * time.Second},
}

// randomFault is a fault at one of these requests, most often one that loses the request, its reply
// or the session.
func (k keptRun) randomFault(dice *rand.Rand) fault.Fault {
	r := k.wake[dice.IntN(len(k.wake))]
	f := fault.Fault{Client: r.Client, Request: r.Number}
	if n := dice.IntN(len(atRetry) + 1); n < len(atRetry) {
		f.Kind, f.For = atRetry[n].Kind, atRetry[n].For
		return f
	}
	return k.anyKind(f, dice, func(info fault.KindInfo) bool { return info.OnRequest })
}

// anyKind is a fault with one of some kinds, and a length if it lasts.
func (k keptRun) anyKind(
	f fault.Fault, dice *rand.Rand, among func(fault.KindInfo) bool,
) fault.Fault {
	kinds := slices.DeleteFunc(k.Kinds(), func(info fault.KindInfo) bool {
		return !among(info)
	})
	info := kinds[dice.IntN(len(kinds))]
	f.Kind = info.Kind
	if info.Lasts {
		durations := durationsOf(f.Kind)
		f.For = durations[dice.IntN(len(durations))]
	}
	return f
}
