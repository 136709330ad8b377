package fuzz

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

// Flags of a test binary that uses this package. Give them to go test.
var (
	flagRuns   = flag.Int("zksim.runs", 300, "zksim: number of random scenarios to try in each test")
	flagSeed   = flag.Uint64("zksim.seed", 1, "zksim: seed of the random scenarios")
	flagReplay = flag.String("zksim.replay", "", "zksim: scenario file to replay instead of searching")
)

// TB is the part of testing.TB that this package uses.
type TB interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// TestLock tests a lock: without faults, with every single fault at every
// protocol step, and with random plans and schedules. open is called for each
// client, with a connection of its own; use any path under /lock.
//
//	func TestMyLock(t *testing.T) {
//		fuzz.TestLock(t, func(c *zk.Conn) fuzz.Locker { return mylock.New(c, "/lock") })
//	}
//
// On a failure it prints the story, the smallest plan it could find, and the
// command that repeats it; the scenario is saved under testdata/zksim, and tried
// first the next time.
func TestLock(t TB, open func(*zk.Conn) Locker, claims ...LockClaims) {
	t.Helper()
	Run(t, LockWorkload(t.Name(), only(t, claims), open))
}

// TestQueue is TestLock for a queue; use any path under /queue.
func TestQueue(t TB, open func(*zk.Conn) Queuer, claims ...QueueClaims) {
	t.Helper()
	Run(t, QueueWorkload(t.Name(), only(t, claims), open))
}

// only is the one optional argument, or the zero value.
func only[T any](t TB, given []T) (claims T) {
	t.Helper()
	if len(given) > 1 {
		t.Fatalf("zksim: at most one set of claims, got %d", len(given))
	}
	for _, claims = range given {
	}
	return claims
}

// Run tests a workload, be it of a kind that this package has never heard of, as
// TestLock does. It also fails if one of the workload's goals ([Workload.Sometimes])
// was reached in no run.
func Run(t TB, w Workload) {
	t.Helper()
	if *flagReplay != "" {
		replay(t, w)
		return
	}
	ctx := context.Background()
	if o := saved(t, w); o != nil {
		fail(ctx, t, o)
		return
	}
	s := Scenario{Workload: w, Script: DefaultScript, Seed: *flagSeed}
	if testing.Short() {
		s.Script = Script{Clients: 2, Rounds: 1}
	}
	sweep, err := RunSweep(ctx, s, nil)
	if err != nil {
		t.Fatalf("zksim: sweep: %v", err)
	}
	if len(sweep.Violations) > 0 {
		fail(ctx, t, sweep.Violations[0].Outcome)
		return
	}
	hunt := Hunt{Workload: w, Script: s.Script, Seed: *flagSeed, Runs: *flagRuns, CheckDeterminism: true}
	found, err := hunt.Run(ctx)
	switch {
	case err != nil:
		t.Fatalf("zksim: hunt: %v", err)
	case len(found.Divergences) > 0:
		t.Fatalf("zksim: two runs of one seed differ; does the code share state between runs, or use math/rand or "+
			"map order? The scenario is: %s, plan %v", found.Divergences[0], found.Divergences[0].Plan)
	case found.First() != nil:
		fail(ctx, t, found.First())
	default:
		checkGoals(t, w, sweep, found)
		t.Logf("zksim: survived %d of %d fault points and %d other scenarios (%d undecided)",
			sweep.Survived, sweep.Points, found.Runs, sweep.Undecided+found.Undecided)
	}
}

// checkGoals fails for a goal that no run has reached: what the test seems to try,
// it does not.
func checkGoals(t TB, w Workload, sweep *Sweep, found *Found) {
	t.Helper()
	for _, goal := range w.Sometimes {
		if sweep.Reached[goal]+found.Reached[goal] == 0 {
			t.Fatalf("zksim: the goal %q was reached in none of %d runs", goal, sweep.Points+found.Runs)
		}
	}
}

// savedFile is where a test's failure is kept.
func savedFile(t TB) string { return filepath.Join("testdata", "zksim", safeName(t.Name())+".yaml") }

// saved plays the scenario that an earlier failure of the test has left, and
// returns its outcome if it is still a violation. What no longer is one, or is no
// scenario of this workload, is told and left alone.
func saved(t TB, w Workload) *Outcome {
	t.Helper()
	name := savedFile(t)
	data, err := readScenario(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var file ScenarioFile
	if err == nil {
		file, err = parseFor(w, name, data)
	}
	var o *Outcome
	if err == nil {
		o, err = file.Scenario.Run()
	}
	switch {
	case err != nil:
		t.Logf("zksim: what was saved cannot be tried again: %v", err)
	case o.Status() == linearizability.Violated:
		return o
	default:
		t.Logf("zksim: %s shows nothing any more: delete the file, or move it elsewhere", name)
	}
	return nil
}

// parseFor reads a scenario file of one workload.
func parseFor(w Workload, name string, data []byte) (ScenarioFile, error) {
	return ParseScenario(name, data, func(kind, impl string) (Workload, error) {
		if kind != w.Name || impl != w.Impl {
			return Workload{}, fmt.Errorf("workload %s %s; this test is for %s %s", kind, impl, w.Name, w.Impl)
		}
		return w, nil
	})
}

// fail makes the violation small, saves it and tells of it.
func fail(ctx context.Context, t TB, o *Outcome) {
	t.Helper()
	small, err := Minimize(ctx, o)
	if err != nil {
		t.Fatalf("zksim: %v\n\n%s", err, o.Story())
	}
	file := savedFile(t)
	again := fmt.Sprintf("go test -run %s -zksim.replay=%s", runPattern(t.Name()), file)
	if err := FileOf(small).Save(file); err != nil {
		again = fmt.Sprintf("not saved: %v", err)
	}
	t.Fatalf("%s\nto see it again: %s", small.Story(), again)
}

// runPattern is the argument of -run that selects one test, quoted for a shell.
func runPattern(name string) string {
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^") + "$"
	return "'" + strings.ReplaceAll(pattern, "'", `'\''`) + "'"
}

// safeName makes a test's name a file's. Different names stay different: a slash
// becomes two underscores, and what else is unsafe, an underscore that follows or
// is followed by another included, its bytes in hexadecimal after an equals sign.
func safeName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '/':
			b.WriteString("__")
		case c == '_' && (besides(name, i, '_') || besides(name, i, '/')):
			b.WriteString("=5F")
		case safeByte(c):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

// besides reports whether the byte before or after the i-th is c.
func besides(name string, i int, c byte) bool {
	return i > 0 && name[i-1] == c || i+1 < len(name) && name[i+1] == c
}

func safeByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-#", c) >= 0
}

// replay runs the scenario file of the flag instead of searching. The file's
// workload must be the test's.
func replay(t TB, w Workload) {
	t.Helper()
	data, err := readScenario(*flagReplay)
	if err != nil {
		t.Fatalf("zksim: %v", err)
	}
	file, err := parseFor(w, *flagReplay, data)
	if err != nil {
		t.Fatalf("zksim: %v", err)
	}
	r, err := file.Check(false)
	if err != nil {
		t.Fatalf("zksim: %v", err)
	}
	switch problems := strings.Join(r.Problems, "; "); {
	case r.Outcome.Status() == linearizability.Violated:
		t.Fatalf("%s%s\nthe whole trace:\n\n%s", r.Outcome.Story(), indented(r.Problems), r.Outcome.Result.Trace)
	case file.Expect == linearizability.Violated:
		t.Fatalf("zksim: %s: %s; the scenario no longer shows anything: delete the file, or move it elsewhere", *flagReplay, problems)
	case problems != "":
		t.Fatalf("zksim: %s: %s", *flagReplay, problems)
	case r.Outcome.Status() == linearizability.Unknown:
		t.Fatalf("zksim: %s: the verdict is unknown: %s", *flagReplay, r.Outcome.Report.First().Summary)
	}
	t.Logf("zksim: %s: %s", *flagReplay, r.Outcome.Status())
}

// indented is one line for each of the problems, if there are any.
func indented(problems []string) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "\nnot as expected: %s\n", p)
	}
	return b.String()
}
