// Package custom judges objects of your own: those of which no other package knows the promises.
//
// [Object] claims that each call takes effect at one point, as a sequential model says. The model
// is a function from a state and a call to the possible next states. The judge looks for an order
// of the calls that the model allows (linearizability). It also finds calls that never return
// (liveness), and znodes, sessions, watches and goroutines left at rest (orphans). [Anything]
// claims only that calls return.
//
// Package fuzz/scenario plays objects of your own in a simulation.
package custom
