package main

import "fmt"

// proved are the recipes of which proofs are measured.
var proved = []string{"recipes.Lock", "recipes.ReentrantLock", "recipes.RWLock",
	"recipes.Semaphore", "recipes.LeaderLatch", "recipes.Barrier", "recipes.Counter",
	"recipes.SharedValue", "recipes.IDGenerator", "recipes.Queue", "recipes.LockQueue",
	"recipes.DoubleBarrier"}

// provedWithFaults are those of which proofs with one fault are measured.
var provedWithFaults = []string{"recipes.Lock", "recipes.ReentrantLock", "recipes.RWLock",
	"recipes.Semaphore", "recipes.LeaderLatch", "recipes.Barrier", "recipes.Counter",
	"recipes.SharedValue", "recipes.IDGenerator"}

// proofs lets zksim prove recipes, as far as that goes in a number of runs.
func proofs(l *runner) (string, error) {
	var rows [][]string
	prove := func(name, faults string) error {
		var p struct {
			Holds                    bool
			Runs, Classes, Redundant int
			Estimate                 float64
		}
		err := l.askZksim(&p, nil, "prove", name, "--faults", faults, "--runs", "60000",
			"--for", "0s")
		if err != nil {
			return err
		}
		result, runs := "holds", thousands(p.Runs)
		if !p.Holds {
			result = fmt.Sprintf("%s of an estimated %s runs", runs, thousands(int(p.Estimate)))
		}
		rows = append(rows, []string{"`" + name + "`", faults, result, thousands(p.Classes), runs,
			thousands(p.Redundant), seconds(l.cpu)})
		return nil
	}
	for _, name := range proved {
		if err := prove(name, "0"); err != nil {
			return "", err
		}
	}
	for _, name := range provedWithFaults {
		if err := prove(name, "1"); err != nil {
			return "", err
		}
	}
	return paragraph("What zksim prove says of recipes, with 2 clients and 1 round, within "+
			"60,000 runs. The seconds are those of the processors. A redundant run is one that its "+
			"fault does not reach, or that ends when the rest is known.") +
			commandBlock("zksim prove NAME --faults 0 --runs 60000 --for 0s") +
			table([]string{"recipe", "faults", "result", "classes", "runs", "redundant", "seconds"},
				rows),
		nil
}
