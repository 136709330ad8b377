package fuzz

import (
	"context"
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
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
// minute more. It is saved, replayed and tried first as one of [Run] is, and the flags
// -zksim.hands and -zksim.rough hold; -zksim.runs and -zksim.seed do not, and nobody
// asks for goals that were not reached: the engine's processes do not know of each other.
func Fuzz(f *testing.F, w Workload) {
	f.Helper()
	script, err := flaggedScript(w)
	if err != nil {
		f.Fatalf("zksim: %v", err)
	}
	if *flagReplay != "" {
		replay(f, w)
		f.Skipf("zksim: nothing but %s was tried", *flagReplay)
	}
	trySaved(f, w)
	var seen Witness
	base, err := Scenario{Workload: seen.Watch(w), Script: script, Seed: 1}.Run()
	switch {
	case err != nil:
		f.Fatalf("zksim: %v", err)
	case base.Status() == linearizability.Violated:
		fail(context.Background(), f, base)
	}
	seen.demand(f, w, 1)
	space := newPlanSpace(base, 0)
	for n := range 4 * space.maxFaults { // something to begin with, some of it with fewer faults
		var seed []byte
		for i := range 3 + n%space.maxFaults {
			seed = binary.LittleEndian.AppendUint64(seed, hash(uint64(n), uint64(i)))
		}
		f.Add(seed)
	}
	target, told := f.Name(), map[string]bool{}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := space.scenario(base.Scenario, data).Run()
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

// scenario is what the engine's bytes say, eight for each decision: the seed, the
// schedule, and then one fault after the other, each decided by its bytes alone, so
// that to change some changes one fault. Bytes that are missing are zero and bytes
// that nothing is left for are not read: there is no input that says nothing.
func (p planSpace) scenario(s Scenario, data []byte) Scenario {
	words := wordsOf(data)
	s.Seed, s.Plan, s.Schedule = words[0], nil, sim.Schedule{}
	if words[1]%2 == 1 {
		s.Schedule.Kind = sim.Priorities
		s.Schedule.Numbers = p.changes(rand.New(rand.NewPCG(words[1], 0)).IntN)
	}
	for _, word := range words[2:min(len(words), 2+p.maxFaults)] {
		s.Plan = append(s.Plan, p.fault(rand.New(rand.NewPCG(word, 0)).IntN, fault.Kinds()))
	}
	s.Plan = distinct(s.Plan)
	return s
}

// wordsOf are bytes as numbers of eight, at least two.
func wordsOf(data []byte) []uint64 {
	words := make([]uint64, max(2, (len(data)+7)/8))
	for i, b := range data {
		words[i/8] |= uint64(b) << (i % 8 * 8)
	}
	return words
}
