package fuzz

import (
	"cmp"
	"context"
	"flag"
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Fuzz makes a native fuzz target of a workload, for go test -fuzz: the engine's
// bytes decide seed, schedule and plan.
//
//	func FuzzMyLock(f *testing.F) {
//		fuzz.Fuzz(f, fuzz.LockWorkload("mylock", fuzz.LockClaims{}, open))
//	}
//
// Call it with
//
//	go test -fuzz '^FuzzMyLock$' -fuzzminimizetime=1x
//
// as a failure is made small here, which the engine, left to itself, would try for a
// minute more. It is saved, replayed and tried first as one of [Test] is, and the flags
// -zksim.goroutines and -zksim.careless hold; -zksim.runs and -zksim.seed do not, and nobody
// asks for goals that were not reached: the engine's processes do not know of each other.
func Fuzz(f *testing.F, w scenario.Workload) {
	f.Helper()
	w.Impl = cmp.Or(w.Impl, f.Name())
	script, err := flaggedScript(w)
	if err != nil {
		f.Fatalf("zksim: %v", err)
	}
	if *flagReplay != "" {
		replay(f, w)
		f.Skipf("zksim: nothing but %s was tried", *flagReplay)
	}
	trySaved(f, w)
	var seen hunt.Witness
	base, err := scenario.Scenario{Workload: seen.Watch(w), Script: script, Seed: 1}.Run()
	switch {
	case err != nil:
		f.Fatalf("zksim: %v", err)
	case base.Status() == linearizability.Violated:
		fail(context.Background(), f, base)
	}
	demand(f, &seen, w, 1)
	inputs := hunt.NewInputs(base)
	for _, seed := range inputs.Seeds() {
		f.Add(seed)
	}
	target, told := f.Name(), map[string]bool{}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := inputs.Scenario(data).Run()
		if err != nil {
			t.Fatalf("zksim: %v", err)
		}
		if o.Status() != linearizability.Violated {
			return
		}
		if told[o.Property()] && !engineRuns() {
			t.Fatalf("%s is violated again: %s", o.Property(), o.Summary())
		}
		told[o.Property()] = true
		fail(context.Background(), namedTB{t, target}, o)
	})
}

// engineRuns reports whether go test -fuzz goes on: of what fails it shows only the
// last, which must tell everything, and without it all inputs that fail are shown.
func engineRuns() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// namedTB is a test that goes by the name of its fuzz target, which the engine's
// inputs have in common.
type namedTB struct {
	*testing.T
	name string
}

func (t namedTB) Name() string { return t.name }
