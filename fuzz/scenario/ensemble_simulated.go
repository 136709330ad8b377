package scenario

import "fmt"

// simulations is the number of runs that [Outcome.Simulated] plays.
const simulations = 20

// Simulated says in a line what a simulation repeats of a violation on a running ensemble: it plays
// the scenario there with several seeds. first is the first run that violates the same property,
// nil if there is none. The line is "" for any other outcome.
func (o *Outcome) Simulated() (line string, first *Outcome) {
	property := o.Property()
	if o.Scenario.On == nil || property == "" {
		return "", nil
	}
	s, shown := o.Scenario, 0
	s.On = nil
	for i := range uint64(simulations) {
		s.Seed = o.Scenario.Seed + i
		run, err := s.Run()
		if err != nil {
			return fmt.Sprintf("a simulation cannot play it: %v", err), nil
		}
		if run.Property() == property {
			if shown++; shown == 1 {
				first = run
			}
		}
	}
	if shown == 0 {
		return fmt.Sprintf("in a simulation none of %d seeds violates %s: it needs the times or the "+
			"order that the servers had", simulations, property), nil
	}
	return fmt.Sprintf("in a simulation %d of %d seeds violate %s, too; the first is seed %d, of "+
		"which each run is the same", shown, simulations, property, first.Scenario.Seed), first
}
