package trace

import (
	"iter"
	"slices"
	"strings"
)

// Activity is the state of a goroutine of a run, read from its stack.
type Activity int

// The activities of a goroutine.
const (
	// Rests: it waits for the run, or for virtual time to pass.
	Rests Activity = iota
	// Waits: it waits for something else, a mutex, for instance, so that virtual time stands still.
	Waits
	// Runs: it computes.
	Runs
)

// ActivityOf is the activity of the goroutine of a stack.
func ActivityOf(stack string) Activity {
	header, _, _ := strings.Cut(stack, "\n")
	_, state, _ := strings.Cut(header, "[")
	switch {
	case strings.Contains(header, "(durable)"):
		return Rests
	case slices.ContainsFunc(waits, func(w string) bool { return strings.HasPrefix(state, w) }):
		return Waits
	}
	return Runs
}

// waits are the beginnings of the states of goroutines that are blocked.
var waits = []string{"sync.", "semacquire", "chan ", "select", "IO wait"}

// Stacks are the stacks of single goroutines in a text of Result.
func Stacks(text string) iter.Seq[string] { return strings.SplitSeq(text, "\n\n") }

// UsesNetwork reports whether the goroutine of a stack looks up or dials a host on the real
// network.
func UsesNetwork(stack string) bool {
	return LooksUp(stack) || strings.Contains(stack, "\nnet.(*Dialer).Dial")
}

// LooksUp reports whether the goroutine of a stack looks up a host.
func LooksUp(stack string) bool {
	return strings.Contains(stack, "\nnet.(*Resolver).") || strings.Contains(stack, "\nnet.Lookup")
}

// WaitsForMutex reports whether the goroutine of a stack waits for a mutex.
func WaitsForMutex(stack string) bool {
	header, _, _ := strings.Cut(stack, "\n")
	return strings.Contains(header, "[sync.Mutex.") || strings.Contains(header, "[sync.RWMutex.")
}
