// Package overlay makes, from a user's own Go, the files with which go -overlay builds programs
// whose code runs unmodified in a World: in virtual time, and equal in each run of a seed.
//
// A few lines are inserted in files of the standard library; functions of our own, in files of
// their own (directory std), do the rest. Nothing of Go's code is part of this module. In a program
// without a World, and outside of a World's bubble, all behaves as before.
//
// # What differs in a World's bubble
//
//   - One goroutine runs at a time, until it waits. Those that can run wait in a queue, in the
//     order in which they became able to. So the scheduler and the number of processors have no
//     influence.
//   - Each goroutine draws the order of maps, the choice of select, and math/rand's global numbers
//     from a source that follows from its parent's, the virtual time and the number of the draw.
//   - Waiting for a mutex lets virtual time pass if a goroutine of the same bubble keeps the mutex.
//     If it is held by a goroutine outside, such as that of another World, time waits for it.
//   - Dials by TCP and look-ups of hosts are asked of a hook.
package overlay
