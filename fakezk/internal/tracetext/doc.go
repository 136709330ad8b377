// Package tracetext puts requests, replies, events, changes and faults into the words
// of a trace. Simulated and real worlds use the same words.
package tracetext
