// Package hunt searches for violations: it chooses the faults, seeds and schedules to try, and
// makes its findings small.
//
//   - [RunSweep] tries every single fault at every protocol step of one run. A sweep that survives
//     N of N points is a statement about one schedule and one fault at a time. Some points are not
//     played: the run of another proves that theirs would be equal.
//   - A [Hunt] lets strategies take turns: single faults, pairs, random plans, random priorities of
//     messages, all orders of the messages of a tiny script, and mutations of scenarios with new
//     behaviour. It is a statement about many schedules and a few faults at a time. [Strategies]
//     lists them.
//   - [Prove] plays every run of a small scenario, once for each class of runs with equal orders.
//     It is a statement about all runs within bounds.
//   - [Minimize] makes a violating scenario small and readable.
//   - [Inputs] make scenarios of the bytes of Go's own fuzzing engine.
//
// All of them use all cores. The findings do not depend on the number of cores: outcomes are taken
// in the order in which their scenarios were proposed, and strategies learn only between
// generations of 32 scenarios.
//
// Code that spins without end, or begins goroutines without number, ends a search, because it slows
// down all other runs. The finding is kept.
package hunt
