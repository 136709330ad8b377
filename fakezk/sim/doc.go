// Package sim runs clients of ZooKeeper in virtual time, under a plan of faults.
//
// A [World] runs several clients against one server in virtual time, under a
// plan of faults, and returns a [trace.Result]: the trace of all that happened, every
// change at the server, what was left at rest, who got stuck. The same seed and
// plan give the same trace, byte for byte, on any number of processors; another
// seed is another schedule.
//
//	w := sim.World{
//		Seed:    1,
//		Clients: []sim.Actor{{Name: "a", Run: script}, {Name: "b", Run: script}},
//		Plan:    []fault.Fault{{Kind: fault.DropReply, Client: "b", Request: 5}},
//	}
//	result, err := w.Run()
//
// Use a fakezk.Server to test that code does what it should, and a World to learn
// whether it still does when the network, the server or its session fails at
// the worst moment. Package fuzz builds on it: it makes plans and judges results.
//
// A fault whose coordinates match nothing in a run is reported in Result.Missed. It
// never passes silently.
//
// # Virtual time
//
// In a bubble time passes only when every goroutine of it waits for something
// in the bubble: a channel, a timer, a condition made there. Waiting for a
// mutex, for the network or for a channel made outside does not count, and code
// that spins keeps time from passing at all; a World reports both as
// Result.Frozen. The clock of a bubble begins at midnight UTC of 2000-01-01.
package sim
