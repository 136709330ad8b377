package hunt

import (
	"slices"
	"strings"
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

// pointsWithin bounds the fault points of a sweep that comes before a hunt: an object that polls
// sends thousands of requests, and runs with it take long. It is the number of points of as many
// runs as the base as have stepsOfSweep steps, and at least fewestPoints.
func pointsWithin(base *scenario.Outcome) int {
	const stepsOfSweep, fewestPoints = 60_000_000, 200
	return max(fewestPoints, int(stepsOfSweep/max(1, base.Result.Steps)))
}

// likePoint is what repetitions of a request or a notification have in common.
type likePoint struct{ client, what, path string }

// fewerPoints keeps at most a number of fault points, if that leaves any of each kind of request.
// Of requests, and notifications, that repeat each other the first and the last ones stay.
func fewerPoints(base *scenario.Outcome, faults []fault.Fault, most int) []fault.Fault {
	if len(faults) <= most {
		return faults
	}
	alike := map[likePoint][]place{}
	for _, r := range base.Result.Requests {
		at := likePoint{r.Client, r.Op, withoutNumbers(r.Path)}
		alike[at] = append(alike[at], place{client: r.Client, request: r.Number})
	}
	for _, e := range base.Result.Events {
		at := likePoint{e.Client, e.Type, withoutNumbers(e.Path)}
		alike[at] = append(alike[at], place{client: e.Client, event: e.Number})
	}
	rank := map[place]int{} // by the distance from the first or the last
	for _, places := range alike {
		for i, at := range places {
			rank[at] = min(i, len(places)-1-i)
		}
	}
	ofRank := map[int]int{}
	for _, f := range faults {
		ofRank[rank[placeOf(f)]]++
	}
	limit := 1
	for kept := ofRank[0]; kept+ofRank[limit] <= most; limit++ {
		kept += ofRank[limit]
	}
	return slices.DeleteFunc(slices.Clone(faults), func(f fault.Fault) bool {
		return rank[placeOf(f)] >= limit
	})
}

// withoutNumbers is a path with a mark for each digit, as sequential names differ in these.
func withoutNumbers(path string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '#'
		}
		return r
	}, path)
}
