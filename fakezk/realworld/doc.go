// Package realworld runs clients against a real ZooKeeper server, in real time, under
// the same faults as package sim does in virtual time. A proxy between each client and
// the server lets the faults act. The [trace.Result] has the same shape, so the same
// judges judge it: it is there to check that a finding of a simulation, or the absence
// of one, holds outside of it.
package realworld
