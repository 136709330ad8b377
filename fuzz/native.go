package fuzz

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/ballast"
	"github.com/zksim/zksim/linearizability"
)

// Fuzz makes a native fuzz target of a workload, for go test -fuzz: the bytes of the engine decide
// seed, schedule and plan.
//
//	func FuzzMyLock(f *testing.F) {
//		fuzz.Fuzz(f, object.Lock(open))
//	}
//
// Call it with
//
//	go test -fuzz '^FuzzMyLock$' -fuzzminimizetime=1x
//
// Fuzz itself makes a failure small; without that flag the engine would try the same for a minute
// more. Failures, and scenarios that end the process, are saved, replayed and tried first as those
// of [Test]. The flags -zksim.goroutines and -zksim.careless hold; -zksim.runs and -zksim.seed do
// not. Goals that were not reached are no error: the processes of the engine do not know of each
// other. Inputs that could not be decided, such as one whose run froze, are skipped, and their
// number is printed on standard error at the end; go test without -fuzz fails if all of them are.
func Fuzz(f *testing.F, w scenario.Workload) {
	f.Helper()
	defer ballast.Hold()()
	w.Impl = cmp.Or(w.Impl, f.Name())
	if runTask(f, w) {
		f.Skip()
	}
	script, err := flaggedScript(w)
	if err == nil {
		err = flagServers.Simulated()
	}
	if err != nil {
		f.Fatalf("zksim: %v", err)
	}
	if *flagReplay != "" {
		replay(f, w)
		f.Skipf("zksim: nothing but %s was tried", *flagReplay)
	}
	defer keepNotes(f)()
	if !isWorker() { // the process that has started it has done so
		trySaved(f, w)
	}
	tryInputs(f, inputsOf(f, scenario.Scenario{Workload: w, Script: script, Seed: 1}))
	if engineRuns() && !isWorker() {
		tellEnded(f, w)
	}
}

// inputsOf plays a scenario without faults. It returns the inputs that vary the scenario, and gives
// the first of them to the engine.
func inputsOf(f *testing.F, calm scenario.Scenario) hunt.Inputs {
	f.Helper()
	base, err := saved.Play(calm)
	switch {
	case err != nil:
		f.Fatalf("zksim: %v", err)
	case base.Status() == linearizability.Violated:
		fail(context.Background(), f, base, nil)
	case undecidedBy(base) != "":
		fmt.Fprintf(os.Stderr, "zksim: %s: the run without faults is undecided: %s\n", f.Name(),
			undecidedBy(base))
	}
	inputs, err := hunt.NewInputs(base)
	if err != nil {
		f.Fatalf("zksim: %v", err)
	}
	for _, seed := range inputs.Seeds() {
		f.Add(seed)
	}
	return inputs
}

// tryInputs plays the scenario of each input of the engine.
func tryInputs(f *testing.F, inputs hunt.Inputs) {
	f.Helper()
	target := f.Name()
	var told []*scenario.Outcome
	open := newUndecided(isWorker())
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := saved.Play(inputs.Scenario(data))
		if err != nil {
			t.Fatalf("zksim: %v", err)
		}
		open.tried++
		if o.Status() != linearizability.Violated {
			if why := undecidedBy(o); why != "" {
				open.skip(t, why)
			}
			return
		}
		again := slices.ContainsFunc(told, func(p *scenario.Outcome) bool {
			return hunt.Alike(o, p)
		})
		if again && !engineRuns() {
			t.Fatalf("%s is violated again: %s", o.Property(), o.Summary())
		}
		told = append(told, o)
		fail(context.Background(), namedTB{t, target}, o, nil)
	})
	open.tell(f, os.Stderr)
}

// engineRuns reports whether go test -fuzz is searching. The engine shows only the last failure,
// which must have the whole story. Without -fuzz all inputs that fail are shown.
func engineRuns() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// isWorker reports whether the engine has started this process to try inputs.
func isWorker() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// namedTB is a test with the name of its fuzz target, which all inputs of the engine share.
type namedTB struct {
	*testing.T
	name string
}

func (t namedTB) Name() string { return t.name }
