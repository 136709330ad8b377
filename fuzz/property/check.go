package property

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"pgregory.net/rapid"
)

// limit is how much virtual time a body gets, besides the length of the faults.
const limit = 6 * time.Hour

// Check calls the body for each of the checks of rapid, in a new World with drawn faults. It fails
// the test if the body fails, panics or does not end. rapid's flags decide on the number of checks
// (-rapid.checks) and of the actions of a Repeat (-rapid.steps).
func Check(t rapid.TB, body func(rt *rapid.T, w *World)) {
	t.Helper()
	c := &checker{name: t.Name(), body: body}
	rapid.Check(t, c.check)
}

// checker is the state of a Check.
type checker struct {
	name string
	body func(rt *rapid.T, w *World)
	seen func(*trace.Result) // for tests: is told of each run, nil outside of them
	// place is where the first failure was. From then on rapid only makes that failure small.
	place string
}

// check is one check of rapid.
func (c *checker) check(rt *rapid.T) {
	seed := rapid.Uint64().Draw(rt, "seed of the world")
	plan := drawPlan(rt)
	w := newWorld(rt, c.body)
	result, err := sim.World{
		Seed: seed, Plan: plan, Clients: w.actors(),
		Server:         sim.Settings{TickTime: scenario.SessionTimeout / 2},
		SessionTimeout: scenario.SessionTimeout, Limit: limit + length(plan),
	}.Run()
	if err != nil {
		rt.Fatalf("the drawn World cannot run: %v", err)
	}
	if c.seen != nil {
		c.seen(result)
	}
	f := w.failed(result)
	if f == nil && !rt.Failed() {
		return
	}
	if f != nil && f.skips() {
		panic(f.value)
	}
	c.tell(rt, f, seed, plan, result)
	if f == nil {
		return // rapid knows of the failure
	}
	if c.place == "" {
		c.place = f.place
	}
	switch {
	case c.place != f.place: // another failure than the one that rapid makes small
	case ofRapid(f.value):
		panic(f.value)
	default:
		rt.Fatalf("%v", f.value)
	}
}

// tell logs the story of a failure. rapid prints the log of the smallest failure only.
func (c *checker) tell(
	rt *rapid.T, f *failure, seed uint64, plan []fault.Fault, result *trace.Result,
) {
	summary := "see the errors above"
	if f != nil {
		summary = fmt.Sprint(f.value)
	}
	o := scenario.Outcome{
		Scenario: scenario.Scenario{
			Workload: scenario.Workload{Name: "property", Impl: c.name},
			Script:   scenario.Script{Clients: len(Clients()), Rounds: 1},
			Seed:     seed, Plan: plan,
		},
		Result: result,
		Report: linearizability.Report{Verdicts: []linearizability.Verdict{{
			Property: "property", Status: linearizability.Violated, Summary: summary,
		}}},
	}
	rt.Logf("%s", o.Story())
}

// failure is the reason for which a body has not returned.
type failure struct {
	value any    // of its panic
	place string // in the code
}

// rapidPackage has the types of the values with which the methods of rapid.T panic.
const rapidPackage = "pgregory.net/rapid"

// ofRapid reports whether a value of a panic comes from a method of rapid.T.
func ofRapid(value any) bool {
	return value != nil && reflect.TypeOf(value).PkgPath() == rapidPackage
}

// skips reports whether rapid is to leave the check out.
func (f *failure) skips() bool {
	return ofRapid(f.value) && reflect.TypeOf(f.value).Name() == "invalidData"
}

// newFailure is the failure of a goroutine that panics with a value. Call it in a deferred
// function.
func newFailure(value any) *failure {
	place := panicPlace()
	if !ofRapid(value) {
		value = fmt.Sprintf("panic: %v\n%s", value, place)
	}
	return &failure{value, place}
}

// panicPlace lists the calls that led to a panic, the innermost first, without addresses: two runs
// of the same draws have the same.
func panicPlace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	var b strings.Builder
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			fmt.Fprintf(&b, "    %s:%d in %s\n", f.File, f.Line, f.Function)
		}
		if !more || strings.HasSuffix(f.Function, ".drive") {
			return b.String()
		}
	}
}
