// Package carry decides what a connection with faults does to what passes through it.
package carry
