package property

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/ballast"
	"github.com/zksim/zksim/internal/inflight"
	"pgregory.net/rapid"
)

// limit is how much virtual time a body gets, besides the length of the faults.
const limit = 6 * time.Hour

// Check calls the body for each of the checks of rapid, in a new World with drawn faults. It fails
// the test if the body fails, panics or does not end. rapid's flags decide on the number of checks
// (-rapid.checks) and of the actions of a Repeat (-rapid.steps). It also fails if no client has
// sent a request in any check: nothing was tested then. A test that passes logs what it rests on.
func Check(t rapid.TB, body func(rt *rapid.T, w *World)) {
	t.Helper()
	CheckServers(t, 1, body)
}

// CheckServers is Check with an ensemble: rapid draws one server or as many as given, at most
// [sim.MaxServers]. With several of them followers answer reads, and may be behind; faults can make
// them lag, and the leader go down.
func CheckServers(t rapid.TB, servers int, body func(rt *rapid.T, w *World)) {
	t.Helper()
	if servers < 1 || servers > sim.MaxServers {
		t.Fatalf("property: %d servers; expected 1 to %d", servers, sim.MaxServers)
	}
	os.Getenv("RAPID_CHECKS") // rapid has read it before go test notes what its cache depends on
	defer ballast.Hold()()
	defer keepNotes(t.Name())()
	c := &checker{tb: t, name: t.Name(), body: body, servers: servers, now: time.Now}
	var err error
	if c.shrunk, err = loadShrunk(c.name); err != nil {
		t.Fatal(err)
	}
	defer c.nameInvalid()
	rapid.Check(t, c.check)
	c.passed.report(t)
	c.lookAtPassed()
}

// checker is the state of a Check.
type checker struct {
	tb      rapid.TB // nil in a target of Go's fuzzer
	name    string
	body    func(rt *rapid.T, w *World)
	servers int                 // at most
	checks  int                 // begun so far
	seen    func(*trace.Result) // for tests: is told of each run, nil outside of them
	shrunk  []shrunkPlan        // of earlier failures
	passed  tally
	phase   phase // of the run under way
	// place is where the first failure was. From then on rapid only makes that failure small.
	place string
	last  *played // the last run that has failed there
	// reasons are those of the last two tries to find it or to make it small; "" if one passed.
	// rapid repeats each failure once, and makes it no smaller if the reason differs.
	reasons [2]string
	now     func() time.Time
	// gained is when rapid has last made the failure smaller.
	gained time.Time
	draws  bool // the next run, if it fails
	// file is the fail file of the failure, "" if it is not known, and bits are its draws.
	file string
	bits []byte
}

// patience is for how long rapid, or this package, may try in vain to make a failure smaller.
const patience = 4 * time.Second

// played is one run of a body.
type played struct {
	seed        uint64
	servers     int
	drawn, plan []fault.Fault // the plan in place of the drawn one
	result      *trace.Result
	failure     *failure
}

// play draws a World and runs the body in it. choose returns the plan in place of the drawn one.
func (c *checker) play(
	rt *rapid.T, choose func(seed uint64, drawn []fault.Fault) []fault.Fault,
) *played {
	p := &played{seed: rapid.Uint64().Draw(rt, "seed of the world"), servers: c.drawServers(rt)}
	p.drawn = drawPlan(rt, p.servers)
	if p.plan = choose(p.seed, p.drawn); !slices.Equal(p.plan, p.drawn) {
		rt.Logf("zksim plays these faults in place of the drawn ones: %q", p.plan)
	}
	w := newWorld(rt, c.body)
	c.checks++
	defer inflight.Note(c.noteOf(p))()
	var err error
	p.result, err = sim.World{
		Seed: p.seed, Plan: p.plan, Clients: w.actors(), Servers: p.servers,
		Server:         sim.Settings{TickTime: scenario.SessionTimeout / 2},
		SessionTimeout: scenario.SessionTimeout, Limit: limit + length(p.plan),
		Senders: c.draws, Logs: c.phase == tells || c.phase == saves,
	}.Run()
	if err != nil {
		rt.Fatalf("the drawn World cannot run: %v", err)
	}
	if c.seen != nil {
		c.seen(p.result)
	}
	if p.failure = w.failed(p.result); p.failure == nil && rt.Failed() {
		p.failure = &failure{reported: true, value: reportedBy(rt)}
	}
	return p
}

// drawServers draws the number of servers, if there is a choice. rapid prefers one.
func (c *checker) drawServers(rt *rapid.T) int {
	if c.servers == 1 {
		return 1
	}
	return rapid.SampledFrom([]int{1, c.servers}).Draw(rt, "servers")
}

// check is one check of rapid.
func (c *checker) check(rt *rapid.T) {
	phase := looks
	if c.last != nil || c.tb == nil {
		phase = phaseNow()
	}
	c.phase = phase
	switch {
	case phase == shrinks && c.now().Sub(c.gained) > patience:
		c.reasons[1] = ""
		return // as if the check passed: rapid soon has nothing smaller to try
	case phase == tells:
		c.shrinkPlan()
	}
	c.draws = phase == tells && htmlDir() != "" && !fuzzes()
	p := c.play(rt, c.chosen)
	c.draws = false
	f := p.failure
	if f == nil {
		c.reasons[1] = ""
		c.passed.add(p)
		return
	}
	if f.isSkip() {
		panic(f.value)
	}
	if c.last == nil {
		c.place = f.place
	}
	if f.place != c.place && !f.reported {
		return // another failure than the one that rapid makes small
	}
	c.last, c.gained = p, c.now()
	switch phase {
	case looks, shrinks:
		c.reasons = [2]string{c.reasons[1], fmt.Sprint(f.value)}
	case tells:
		c.tell(rt, p)
	case saves:
		rt.Logf("%s", c.outcome(p).Story())
	}
	switch {
	case f.reported:
	case ofRapid(f.value):
		panic(f.value)
	default:
		rt.Fatalf("%v", f.value)
	}
}

// failure is the reason for which a body has not returned.
type failure struct {
	value    any    // of its panic, or what was reported last
	place    string // in the code; "" if it was reported
	reported bool   // by rt.Errorf and the like
}

// reportedBy is the text that rt.Errorf or the like was given last. rapid has no method for it, so
// it is read from a field; of a rapid without that field nothing is known.
func reportedBy(rt *rapid.T) string {
	text := reflect.ValueOf(rt).Elem().FieldByName("failed")
	if text.Kind() != reflect.String {
		return "see the errors of the test"
	}
	return text.String()
}

// rapidPackage has the types of the values with which the methods of rapid.T panic.
const rapidPackage = "pgregory.net/rapid"

// ofRapid reports whether a value of a panic comes from a method of rapid.T.
func ofRapid(value any) bool {
	return value != nil && reflect.TypeOf(value).PkgPath() == rapidPackage
}

// isSkip reports whether rapid is to leave the check out.
func (f *failure) isSkip() bool {
	return !f.reported && ofRapid(f.value) && reflect.TypeOf(f.value).Name() == "invalidData"
}

// newFailure is the failure of a goroutine that panics with a value. Call it in a deferred
// function.
func newFailure(value any) *failure {
	place := panicPlace()
	if !ofRapid(value) {
		value = fmt.Sprintf("panic: %v\n%s", value, place)
	}
	return &failure{value: value, place: place}
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
