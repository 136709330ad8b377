package scenario

import (
	"slices"

	"github.com/zksim/zksim/linearizability"
)

const (
	panicProperty  = "panic"  // of code that panics
	frozenProperty = "frozen" // of code that keeps virtual time from passing
)

// ofEveryRun are the properties by which this package judges every run: scripts must end, calls
// must end with their contexts and their object, and no goroutine may be left.
var ofEveryRun = []string{
	linearizability.Liveness, linearizability.Orphans, panicProperty, frozenProperty,
}

// properties are all properties that have a name, in the order in which they are listed.
func properties() []string {
	return append(linearizability.Properties(), InvariantProperty, panicProperty, frozenProperty)
}

// MayViolate lists the properties that a run of the workload may violate: those of its Judge, and
// those by which every run is judged. If w.Properties is nil, any property may be among them.
func (w Workload) MayViolate() []string {
	if w.Properties == nil {
		return properties()
	}
	all := append(slices.Clone(w.Properties), ofEveryRun...)
	list := slices.DeleteFunc(properties(), func(p string) bool { return !slices.Contains(all, p) })
	for _, p := range w.Properties { // of a Judge with names of its own
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}
