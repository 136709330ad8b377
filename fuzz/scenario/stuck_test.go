package scenario_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

func TestPanicIsAnOutcome(t *testing.T) {
	o := run(t, brokenScenario(func(context.Context) error { panic("no such luck") }))
	if o.Status() != linearizability.Violated || o.Property() != "panic" ||
		!strings.Contains(o.Summary(), "no such luck") {
		t.Errorf("status %s, property %q, summary %q", o.Status(), o.Property(), o.Summary())
	}
	check.Contains(t, o.Story(), "panic is violated")
}

// TestCallThatNeverReturnsIsAnOutcome, whether it returns at the end of the World or not at all.
func TestCallThatNeverReturnsIsAnOutcome(t *testing.T) {
	for name, wait := range map[string]brokenLock{
		"waits for its context": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"waits for ever":        func(context.Context) error { select {} },
		"sleeps for a year": func(context.Context) error {
			time.Sleep(365 * 24 * time.Hour)
			return nil
		},
		"fails for ever": func(context.Context) error { return errors.New("not today") },
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, brokenScenario(wait))
			if v, _ := o.Report.Verdict(
				linearizability.Liveness,
			); v.Status != linearizability.Violated && o.Result.Leaked == "" {
				t.Errorf("liveness: %s; leaked %q", v, o.Result.Leaked)
			}
			if o.Property() == "" || o.Summary() == "" || o.Story() == "" {
				t.Errorf("property %q, summary %q", o.Property(), o.Summary())
			}
		})
	}
}

// TestNothingIsLeftBehind: runs leave no goroutine, not even after faults.
func TestNothingIsLeftBehind(t *testing.T) {
	checkTwice(t, 300, 301) // whatever starts once starts here
	before := runtime.NumGoroutine()
	for _, w := range builtin.Workloads() {
		for seed := range testrun.Pick(uint64(2), 20) {
			run(t, randomScenario(w, 400+seed))
		}
	}
	for range 1000 { // a goroutine that has ended takes a moment to go
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(),
		buf[:runtime.Stack(buf, true)])
}

func TestWrongScenariosAreErrors(t *testing.T) {
	w := fuzztest.Builtin(t, "lock", "")
	for about, s := range map[string]scenario.Scenario{
		"no script": {
			Workload: scenario.Workload{Name: "empty"}, Script: scenario.DefaultScript,
		},
		"no clients": {Workload: w, Script: scenario.Script{Rounds: 1}},
		"27 clients": {Workload: w, Script: scenario.Script{Clients: 27, Rounds: 1}},
		"no rounds":  {Workload: w, Script: scenario.Script{Clients: 1}},
		"unknown client": {
			Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1},
			Plan: plan(t, "cut client=b request=1"),
		},
	} {
		if _, err := s.Run(); err == nil {
			t.Errorf("%s: no error", about)
		}
	}
}

// TestLockThatFailsForEverIsStuck: when the reply to its delete is lost, the lock of the client
// library keeps a handle that can neither unlock (no node) nor lock (deadlock) any more. It never
// waits, so there is no pending call.
func TestLockThatFailsForEverIsStuck(t *testing.T) {
	o := run(t, scenario.Scenario{Workload: fuzztest.Builtin(t, "lock", "zk.Lock"),
		Script: scenario.Script{Clients: 1, Rounds: 2}, Seed: 1,
		Plan: plan(t, "drop-reply client=a op=delete request=1")})
	if o.Property() != linearizability.Liveness ||
		!strings.Contains(o.Summary(), "client a gets no further: its lock has failed ") {
		t.Errorf("property %q, summary %q", o.Property(), o.Summary())
	}
}
