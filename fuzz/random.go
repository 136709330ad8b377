package fuzz

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/linearizability"
)

// Search describes a random search: scenarios with random schedules and plans,
// drawn and shrunk by rapid.
type Search struct {
	Workload Workload
	Script   Script
	// Seed decides everything; 0 is a seed like any other.
	Seed uint64
	// Runs is how many scenarios to try; For is how long, in real time. The first
	// that is reached ends the search; 0 means no such bound, but one is needed. A
	// scenario that has begun is played to its end, and a violation shrunk.
	Runs int
	For  time.Duration
	// MaxFaults bounds the length of a plan; 0 means 4.
	MaxFaults int
	// CheckDeterminism runs every scenario twice and compares the traces.
	CheckDeterminism bool
	// Progress, if not nil, hears of every scenario tried.
	Progress func(runs int)
}

// Found is what a Search led to.
type Found struct {
	// Runs counts the scenarios tried before the first violation, shrinking left
	// out; Undecided those with a verdict left open.
	Runs, Undecided int
	// Divergences are the scenarios whose two runs differed.
	Divergences []Scenario
	// Violation is the first scenario that violates a property, after rapid has
	// shrunk it; nil if there is none. Minimize makes it smaller still.
	Violation *Outcome
}

const (
	batchRuns   = 100 // scenarios that rapid draws from one seed
	shrinkRuns  = 100 // for rapid's own shrinking; Minimize does the rest
	maxDuration = 12 * time.Second
)

// Run searches until a property is violated, a bound is reached or ctx is done;
// in the last case it returns what it has and the context's error.
func (s Search) Run(ctx context.Context) (*Found, error) {
	if s.Runs <= 0 && s.For <= 0 {
		return nil, fmt.Errorf("search: a number of runs or a duration is needed")
	}
	base, err := Scenario{Workload: s.Workload, Script: s.Script, Seed: s.Seed}.Run()
	if err != nil {
		return nil, err
	}
	found := &Found{}
	if base.Status() == linearizability.Violated {
		found.Runs, found.Violation = 1, base
		return found, nil
	}
	space := newPlanSpace(base, s.MaxFaults)
	deadline := time.Now().Add(s.For)
	for batch := uint64(0); found.Violation == nil; batch++ {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		n := batchRuns
		if s.Runs > 0 {
			n = min(n, s.Runs-found.Runs)
		}
		if n <= 0 || s.For > 0 && time.Now().After(deadline) {
			return found, nil
		}
		over := func() bool { return s.For > 0 && time.Now().After(deadline) }
		if err := s.batch(ctx, over, found, space, hash(s.Seed, batch), n); err != nil {
			return found, err
		}
	}
	return found, nil
}

// batch lets rapid try n scenarios, until over, and shrink the first that fails.
func (s Search) batch(ctx context.Context, over func() bool, found *Found, space planSpace, seed uint64, n int) error {
	var broken error
	var last *Outcome
	shrinking := 0
	tb := &silentTB{}
	check := func(t *rapid.T) {
		scenario := Scenario{Workload: s.Workload, Script: s.Script, Seed: rapid.Uint64().Draw(t, "seed")}
		scenario.Plan = space.draw(t)
		if last != nil {
			shrinking++
		}
		if broken != nil || ctx.Err() != nil || shrinking > shrinkRuns || last == nil && over() {
			return
		}
		o, err := s.try(found, scenario, last != nil)
		if err != nil {
			broken = err
			return
		}
		if property := o.Property(); property != "" && (last == nil || property == last.Property()) {
			last = o
			t.Fatalf("%s is violated", property)
		}
	}
	withRapid(seed, n, func() { tb.run(func() { rapid.Check(tb, check) }) })
	switch {
	case broken != nil:
		return broken
	case tb.failed && last == nil:
		return fmt.Errorf("search: rapid: %s", strings.Join(tb.log, "\n"))
	}
	found.Violation = last
	return nil
}

// try runs one scenario; while rapid shrinks a failure, runs do not count.
func (s Search) try(found *Found, scenario Scenario, shrinking bool) (*Outcome, error) {
	if shrinking || !s.CheckDeterminism {
		o, err := scenario.Run()
		if err == nil && !shrinking {
			s.count(found, o)
		}
		return o, err
	}
	o, same, err := scenario.Traces()
	if err != nil {
		return nil, err
	}
	if !same {
		found.Divergences = append(found.Divergences, scenario)
	}
	s.count(found, o)
	return o, nil
}

func (s Search) count(found *Found, o *Outcome) {
	found.Runs++
	if o.Status() == linearizability.Unknown {
		found.Undecided++
	}
	if s.Progress != nil {
		s.Progress(found.Runs)
	}
}

// planSpace bounds the plans that are drawn: coordinates that the fault-free
// run has, and some beyond, as retries add requests.
type planSpace struct {
	clients          []string
	requests, events int
	elapsed          time.Duration
	maxFaults        int
	kinds            []fakezk.FaultKindInfo
}

func newPlanSpace(base *Outcome, maxFaults int) planSpace {
	if maxFaults <= 0 {
		maxFaults = 4
	}
	p := planSpace{
		clients:   base.Scenario.Script.clientNames(),
		maxFaults: maxFaults,
		kinds:     fakezk.FaultKinds(),
		elapsed:   max(0, base.Result.Elapsed-settle),
	}
	for _, r := range base.Result.Requests {
		p.requests = max(p.requests, r.Number+r.Number/2)
	}
	for _, e := range base.Result.Events {
		p.events = max(p.events, e.Number+1)
	}
	return p
}

// draw draws a plan.
func (p planSpace) draw(t *rapid.T) []fakezk.Fault {
	n := rapid.IntRange(1, p.maxFaults).Draw(t, "faults")
	plan := make([]fakezk.Fault, n)
	for i := range plan {
		plan[i] = p.drawFault(t)
	}
	return distinct(plan)
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

func (p planSpace) drawFault(t *rapid.T) fakezk.Fault {
	info := rapid.SampledFrom(p.kinds).Draw(t, "kind")
	f := fakezk.Fault{Kind: info.Kind, Client: rapid.SampledFrom(p.clients).Draw(t, "client")}
	if info.Lasts {
		f.For = time.Duration(rapid.Int64Range(1, int64(maxDuration/durationUnit)).Draw(t, "for")) * durationUnit
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

// durationUnit keeps the lengths of faults readable.
const durationUnit = 100 * time.Millisecond

// rapidFlags is held while rapid's settings are those of a search.
var rapidFlags sync.Mutex

// withRapid runs f with rapid's settings, which are flags of the process, set
// for this search, and puts them back. Other searches wait meanwhile.
func withRapid(seed uint64, checks int, f func()) {
	rapidFlags.Lock()
	defer rapidFlags.Unlock()
	if !flag.Parsed() && flag.Lookup("test.v") == nil { // outside go test
		testing.Init()
	}
	if !flag.Parsed() {
		// rapid asks testing.Short, which wants parsed flags. Ours are not in
		// this flag set.
		if err := flag.CommandLine.Parse(nil); err != nil {
			panic(err)
		}
	}
	if testing.Short() {
		checks *= 5 // rapid divides by five
	}
	settings := map[string]string{
		"rapid.checks":     strconv.Itoa(checks),
		"rapid.seed":       strconv.FormatUint(max(seed, 1), 10), // 0 would mean a random one
		"rapid.nofailfile": "true",
		"rapid.failfile":   "",
		// A guard only: what bounds it is shrinkRuns, the same on every machine.
		"rapid.shrinktime": "1m",
	}
	for name, value := range settings {
		previous := flag.Lookup(name).Value.String()
		setFlag(name, value)
		defer setFlag(name, previous)
	}
	f()
}

func setFlag(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(fmt.Sprintf("fuzz: rapid's flag %s: %v", name, err)) // rapid has changed its flags
	}
}

// silentTB is the rapid.TB of a search: it keeps what rapid says to itself.
type silentTB struct {
	log    []string
	failed bool
}

// run calls f and swallows the panic with which FailNow ends it.
func (s *silentTB) run(f func()) {
	defer func() {
		if r := recover(); r != nil && r != errFailNow {
			panic(r)
		}
	}()
	f()
}

var errFailNow = fmt.Errorf("search failed")

func (s *silentTB) Helper()      {}
func (s *silentTB) Name() string { return "zksim-search" }
func (s *silentTB) Logf(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}
func (s *silentTB) Log(args ...any)      { s.log = append(s.log, fmt.Sprint(args...)) }
func (s *silentTB) Skipf(string, ...any) {}
func (s *silentTB) Skip(...any)          {}
func (s *silentTB) SkipNow()             {}
func (s *silentTB) Errorf(format string, args ...any) {
	s.Logf(format, args...)
	s.failed = true
}
func (s *silentTB) Error(args ...any) { s.Log(args...); s.failed = true }
func (s *silentTB) Fatalf(format string, args ...any) {
	s.Errorf(format, args...)
	panic(errFailNow)
}
func (s *silentTB) Fatal(args ...any) { s.Error(args...); panic(errFailNow) }
func (s *silentTB) FailNow()          { s.failed = true; panic(errFailNow) }
func (s *silentTB) Fail()             { s.failed = true }
func (s *silentTB) Failed() bool      { return s.failed }
