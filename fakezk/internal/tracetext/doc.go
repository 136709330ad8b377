// Package tracetext puts requests, replies, events and changes into the words of a
// trace. The same words are used by simulated and real worlds.
package tracetext
