// Package trace has the record of a run of a world, simulated or real: a [Result].
//
// Its [Trace] is text with one line for each thing that happened. The number of a line, from 1, is
// called a step. Everything else in a Result refers to steps: the requests and notifications that
// faults can select, the faults that acted, the changes at the server, and the connection and
// session events that the clients received.
//
// Worlds write a Result with [New] and [Notes]; all others read it.
package trace
