package model

import "testing"

func TestCounterStep(t *testing.T) {
	checkSteps(t, Counter.Step, []stepTest[Counter, CounterOp]{
		{"added", 3, CounterOp{Kind: Add, Delta: 2}, []Counter{5}},
		{
			"added, and said so", 3, CounterOp{Kind: Add, Delta: 2, Value: 5, Known: true},
			[]Counter{5},
		},
		{
			"added, and said otherwise", 3, CounterOp{
				Kind: Add, Delta: 2, Value: 6, Known: true,
			}, nil,
		},
		{"maybe", 3, CounterOp{Kind: Add, Delta: 2, Outcome: Maybe}, []Counter{3, 5}},
		{"no effect", 3, CounterOp{Kind: Add, Delta: 2, Outcome: NoEffect}, []Counter{3}},
		{"seen", 3, CounterOp{Kind: Get, Value: 3, Known: true}, []Counter{3}},
		{"seen wrong", 3, CounterOp{Kind: Get, Value: 2, Known: true}, nil},
	})
}

func TestRegisterStep(t *testing.T) {
	none, x, y := Register{}, Register{true, "x"}, Register{true, "y"}
	checkSteps(t, Register.Step, []stepTest[Register, RegisterOp]{
		{"read of nothing", none, RegisterOp{Kind: Read}, []Register{none}},
		{"read", x, RegisterOp{Kind: Read, Data: x}, []Register{x}},
		{"read of another value", x, RegisterOp{Kind: Read, Data: y}, nil},
		{"read of nothing, though full", Register{true, ""}, RegisterOp{Kind: Read}, nil},
		{"written", x, RegisterOp{Kind: Write, Data: y}, []Register{y}},
		{"maybe written", x, RegisterOp{Kind: Write, Data: y, Outcome: Maybe}, []Register{x, y}},
		{"cas", x, RegisterOp{Kind: CAS, Data: y, Expect: x}, []Register{y}},
		{"cas of nothing", none, RegisterOp{Kind: CAS, Data: y}, []Register{y}},
		{"cas of another value", x, RegisterOp{Kind: CAS, Data: x, Expect: y}, nil},
		{"refused", x, RegisterOp{Kind: CAS, Data: x, Expect: y, Refused: true}, []Register{x}},
		{"refused, though it fits", x, RegisterOp{Kind: CAS, Expect: x, Refused: true}, nil},
		{"maybe cas", x, RegisterOp{Kind: CAS, Data: y, Expect: x, Outcome: Maybe},
			[]Register{x, y}},
		{"maybe cas of another value", x, RegisterOp{Kind: CAS, Expect: y, Outcome: Maybe},
			[]Register{x}},
	})
}

func TestValueStep(t *testing.T) {
	none, x3 := Value{}, Value{true, "x", 3}
	checkSteps(t, Value.Step, []stepTest[Value, ValueOp]{
		{"first write", none, ValueOp{Kind: Write, Data: "x", Version: 0}, []Value{{true, "x", 0}}},
		{
			"next write", x3, ValueOp{
				Kind: Write, Data: "y", Version: NoVersion,
			}, []Value{{true, "y", 4}},
		},
		{"write of another version", x3, ValueOp{Kind: Write, Data: "y", Version: 3}, nil},
		{"maybe written", x3, ValueOp{Kind: Write, Data: "y", Version: NoVersion, Outcome: Maybe},
			[]Value{x3, {true, "y", 4}}},
		{"no effect", x3, ValueOp{Kind: Write, Data: "y", Outcome: NoEffect}, []Value{x3}},
		{"read", x3, ValueOp{Kind: Read, Data: "x", Version: 3}, []Value{x3}},
		{
			"read without a version", x3, ValueOp{Kind: Read, Data: "x", Version: NoVersion},
			[]Value{x3},
		},
		{"read of an old version", x3, ValueOp{Kind: Read, Data: "x", Version: 2}, nil},
		{"read of other data", x3, ValueOp{Kind: Read, Data: "y", Version: 3}, nil},
		{"absent", none, ValueOp{Kind: Read, Absent: true}, []Value{none}},
		{"not absent", x3, ValueOp{Kind: Read, Absent: true}, nil},
		{"read of what is absent", none, ValueOp{Kind: Read, Data: "", Version: 0}, nil},
		{"cas", x3, ValueOp{Kind: CAS, Data: "y", Expect: 3, Version: 4}, []Value{{true, "y", 4}}},
		{"cas of another version", x3, ValueOp{Kind: CAS, Data: "y", Expect: 2, Version: 4}, nil},
		{"cas of what is absent", none, ValueOp{Kind: CAS, Data: "y", Expect: NoVersion,
			Version: 0}, []Value{{true, "y", 0}}},
		{"refused", x3, ValueOp{Kind: CAS, Data: "y", Expect: 2, Refused: true}, []Value{x3}},
		{
			"refused, though it fits", x3, ValueOp{
				Kind: CAS, Data: "y", Expect: 3, Refused: true,
			}, nil,
		},
		{"maybe cas", x3, ValueOp{Kind: CAS, Data: "y", Expect: 3, Version: NoVersion,
			Outcome: Maybe}, []Value{x3, {true, "y", 4}}},
		{"maybe cas of another version", x3, ValueOp{Kind: CAS, Data: "y", Expect: 2,
			Outcome: Maybe}, []Value{x3}},
		{"removed", x3, ValueOp{Kind: Remove}, []Value{none}},
		{"removed, though absent", none, ValueOp{Kind: Remove}, nil},
	})
}
