// Package value judges shared values, registers, counters and generators of ids.
package value
