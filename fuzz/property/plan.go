package property

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"pgregory.net/rapid"
)

const (
	mostFaults   = 3
	mostRequests = 20 // of a client that a fault selects
	mostEvents   = 6
)

// durations are those of faults that last. A session lasts 4 s.
var durations = []time.Duration{time.Second, 3 * time.Second, 10 * time.Second}

// drawPlan draws the faults of a World. They are drawn as text, so that rapid prints them as such.
// rapid makes a list shorter, and prefers the first of several values: so it leaves out faults, and
// makes the others plainer and earlier.
func drawPlan(rt *rapid.T, servers int) []fault.Fault {
	line := rapid.Custom(func(rt *rapid.T) string { return drawFault(rt, servers) })
	lines := rapid.SliceOfN(line, 0, mostFaults).Draw(rt, "faults")
	var plan []fault.Fault
	for _, line := range lines {
		f, err := fault.Parse(line)
		if err != nil {
			rt.Fatalf("the drawn fault %q: %v", line, err)
		}
		plan = append(plan, f)
	}
	return plan
}

// drawFault draws a fault of one of the clients.
func drawFault(rt *rapid.T, servers int) string {
	info := rapid.SampledFrom(kinds(servers)).Draw(rt, "kind")
	f := fault.Fault{
		Kind: info.Kind, Client: rapid.SampledFrom(Clients()).Draw(rt, "client"),
	}
	if info.Lasts {
		f.For = rapid.SampledFrom(durations).Draw(rt, "for")
	}
	onEvent := info.OnEvent && rapid.IntRange(0, 3).Draw(rt, "on event") == 3
	onTime := info.OnTime && !onEvent && rapid.IntRange(0, 1).Draw(rt, "on time") == 1
	switch {
	case onEvent:
		f.Event = rapid.IntRange(1, mostEvents).Draw(rt, "event")
	case onTime:
		f.At = time.Duration(rapid.IntRange(1, 60).Draw(rt, "at")) * time.Second
	default:
		f.Request = rapid.IntRange(1, mostRequests).Draw(rt, "request")
	}
	return f.String()
}

// kinds are the kinds of faults of so many servers, the plainest first. The clients of a property
// share one process.
func kinds(servers int) []fault.KindInfo {
	weakest, list := fault.Weakest(), slices.DeleteFunc(fault.KindsFor(servers),
		func(info fault.KindInfo) bool { return info.Kind.EndsProcess() })
	slices.SortStableFunc(list, func(a, b fault.KindInfo) int {
		return slices.Index(weakest, a.Kind) - slices.Index(weakest, b.Kind)
	})
	return list
}

// length is how long the faults of a plan last.
func length(plan []fault.Fault) (sum time.Duration) {
	for _, f := range plan {
		sum += f.For + f.At
	}
	return sum
}
