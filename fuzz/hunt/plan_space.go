package hunt

import (
	"math"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
)

// planSpace bounds the drawn plans: the coordinates of the run without faults, and some beyond
// them, since retries add requests.
type planSpace struct {
	clients          []string
	kinds            []fault.KindInfo
	requests, events map[string]int // by client
	messages         int            // about the number of messages of a run
	elapsed          time.Duration
	maxFaults        int
}

// defaultMaxFaults is the greatest length of a plan if the hunt does not say another.
const defaultMaxFaults = 4

// noFaults is the greatest length of a plan in a hunt without faults.
const noFaults = -1

func newPlanSpace(base *scenario.Outcome, maxFaults int) planSpace {
	clients := base.Scenario.Script.ClientNames()
	p := planSpace{
		clients:  clients,
		kinds:    base.Scenario.Kinds(),
		requests: map[string]int{}, events: map[string]int{},
		maxFaults: maxFaults,
		messages:  2*(len(base.Result.Requests)+len(clients)) + len(base.Result.Events),
		elapsed:   base.Playing,
	}
	if p.maxFaults == 0 {
		p.maxFaults = defaultMaxFaults
	}
	for _, r := range base.Result.Requests {
		p.requests[r.Client] = max(p.requests[r.Client], r.Number+r.Number/4+1)
	}
	for _, e := range base.Result.Events {
		p.events[e.Client] = max(p.events[e.Client], e.Number+1)
	}
	return p
}

// draw is a source of numbers: draw(n) is one of 0 to n-1.
type draw func(n int) int

// plan draws a plan. It first draws the kinds of faults (swarm testing: Groce et al., ISSTA 2012),
// and their number: a plan of all kinds rarely has two of one.
func (p planSpace) plan(draw draw) []fault.Fault {
	if p.maxFaults == noFaults {
		return nil
	}
	kinds := slices.DeleteFunc(slices.Clone(p.kinds), func(fault.KindInfo) bool {
		return draw(3) > 0
	})
	if len(kinds) == 0 {
		kinds = p.kinds
	}
	plan := make([]fault.Fault, 1+draw(p.maxFaults))
	for i := range plan {
		plan[i] = p.fault(draw, kinds)
	}
	return distinct(plan)
}

// distinct leaves out repeated faults: none strikes twice.
func distinct(plan []fault.Fault) []fault.Fault {
	var kept []fault.Fault
	for _, f := range plan {
		if !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	return kept
}

func (p planSpace) fault(draw draw, kinds []fault.KindInfo) fault.Fault {
	info := kinds[draw(len(kinds))]
	f := fault.Fault{Kind: info.Kind, Client: p.clients[draw(len(p.clients))]}
	if info.Lasts {
		f.For = duration(draw)
	}
	place := draw(4)
	switch {
	case place == 3 && info.OnTime:
		f.At = time.Duration(1+draw(int(p.elapsed/time.Millisecond)+1)) * time.Millisecond
	case place == 2 && info.OnEvent && p.events[f.Client] > 0:
		f.Event = 1 + draw(p.events[f.Client])
	default:
		f.Request = 1 + draw(max(p.requests[f.Client], 1))
	}
	return f
}

// The lengths of drawn faults: from a few times the latency of a message to longer than any session
// survives.
const (
	shortestFault = 20 * time.Millisecond
	longestFault  = 15 * time.Second
)

// duration draws a length of a fault, log-uniformly.
func duration(draw draw) time.Duration {
	const steps = 1000
	power := float64(draw(steps)) / steps
	d := float64(shortestFault) * math.Pow(float64(longestFault)/float64(shortestFault), power)
	return time.Duration(d).Round(10 * time.Millisecond)
}

// maxDepth is the greatest number of events with an order on which a bug may depend.
const maxDepth = 4

// changes draws the deliveries at which the priorities of a schedule change.
func (p planSpace) changes(draw draw) []int {
	var changes []int
	for range draw(maxDepth) {
		if at := 1 + draw(p.messages); !slices.Contains(changes, at) {
			changes = append(changes, at)
		}
	}
	return changes
}
