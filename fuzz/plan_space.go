package fuzz

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk"
)

// planSpace bounds the plans that are drawn: coordinates that the fault-free
// run has, and some beyond, as retries add requests.
type planSpace struct {
	clients          []string
	requests, events int
	elapsed          time.Duration
	maxFaults        int
}

// defaultMaxFaults is how long a plan is at most unless told otherwise.
const defaultMaxFaults = 4

func newPlanSpace(base *Outcome, maxFaults int) planSpace {
	p := planSpace{
		clients:   base.Scenario.Script.clientNames(),
		maxFaults: maxFaults,
		elapsed:   max(0, base.Result.Elapsed-settle),
	}
	if p.maxFaults <= 0 {
		p.maxFaults = defaultMaxFaults
	}
	for _, r := range base.Result.Requests {
		p.requests = max(p.requests, r.Number+r.Number/2)
	}
	for _, e := range base.Result.Events {
		p.events = max(p.events, e.Number+1)
	}
	return p
}

// plans generates plans. Each draws first which kinds of faults it has (swarm
// testing: Groce et al., ISSTA 2012): a plan of all kinds rarely has two of one.
func (p planSpace) plans() *rapid.Generator[[]fakezk.Fault] {
	return rapid.Custom(func(t *rapid.T) []fakezk.Fault {
		kinds := slices.DeleteFunc(fakezk.FaultKinds(), func(fakezk.FaultKindInfo) bool { return rapid.IntRange(0, 2).Draw(t, "without") > 0 })
		if len(kinds) == 0 {
			kinds = fakezk.FaultKinds()
		}
		plan := make([]fakezk.Fault, rapid.IntRange(1, p.maxFaults).Draw(t, "faults"))
		for i := range plan {
			plan[i] = p.drawFault(t, kinds)
		}
		return distinct(plan)
	})
}

// distinct leaves out the faults that are there already: none strikes twice.
func distinct(plan []fakezk.Fault) []fakezk.Fault {
	var kept []fakezk.Fault
	for _, f := range plan {
		if !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	return kept
}

func (p planSpace) drawFault(t *rapid.T, kinds []fakezk.FaultKindInfo) fakezk.Fault {
	info := rapid.SampledFrom(kinds).Draw(t, "kind")
	f := fakezk.Fault{Kind: info.Kind, Client: rapid.SampledFrom(p.clients).Draw(t, "client")}
	if info.Lasts {
		f.For = drawDuration(t)
	}
	place := rapid.IntRange(0, 3).Draw(t, "place")
	switch {
	case place == 3 && info.OnTime:
		f.At = time.Duration(rapid.Int64Range(1, int64(p.elapsed/time.Millisecond)+1).Draw(t, "at")) * time.Millisecond
	case place == 2 && info.OnEvent && p.events > 0:
		f.Event = rapid.IntRange(1, p.events).Draw(t, "event")
	default:
		f.Request = rapid.IntRange(1, max(p.requests, 1)).Draw(t, "request")
	}
	return f
}

// drawDuration draws a length of a fault, its order of magnitude first: from 20
// ms, a few times the way of a message, to some 15 s, which no session survives.
func drawDuration(t *rapid.T) time.Duration {
	unit := 10 * time.Millisecond << rapid.IntRange(0, 9).Draw(t, "magnitude")
	d := unit * time.Duration(rapid.IntRange(20, 30).Draw(t, "for")) / 10
	return d.Round(10 * time.Millisecond)
}

// randomPlans draws plans and seeds.
type randomPlans struct {
	deaf
	terrain Terrain
	space   planSpace
	n       uint64
}

func newRandomPlans(t Terrain) Strategy {
	return &randomPlans{terrain: t, space: newPlanSpace(t.Base, t.MaxFaults)}
}

func (r *randomPlans) Propose() (Scenario, bool) {
	r.n++
	seed := hash(r.terrain.Seed, r.n)
	s := r.terrain.plain(r.space.plans().Example(int(seed))...)
	s.Seed = seed
	return s, true
}
