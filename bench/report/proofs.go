package main

import (
	"fmt"
	"strings"
)

// proved are the proofs that are measured, as arguments of zksim prove.
var proved = []string{
	"recipes.Lock --faults 0", "recipes.ReentrantLock --faults 0", "recipes.RWLock --faults 0",
	"recipes.Semaphore --faults 0 --seed 11", "recipes.LeaderLatch --faults 0 --seed 8",
	"recipes.Barrier --faults 0 --seed 48", "recipes.Barrier --faults 0 --seed 16",
	"recipes.Counter --faults 0", "recipes.SharedValue --faults 0", "recipes.IDGenerator --faults 0",
	"recipes.Queue --faults 0", "recipes.LockQueue --faults 0", "recipes.DoubleBarrier --faults 0",
	"recipes.TreeCache --faults 0",
	"recipes.Lock --faults 0 --servers 3", "recipes.ReentrantLock --faults 0 --servers 3",
	"recipes.SharedValue --faults 0 --servers 3",
	"recipes.Lock --faults 1", "recipes.ReentrantLock --faults 1", "recipes.RWLock --faults 1",
	"recipes.Semaphore --faults 1 --seed 54", "recipes.Semaphore --faults 1 --seed 11",
	"recipes.LeaderLatch --faults 1 --seed 8",
	"recipes.Barrier --faults 1 --seed 48", "recipes.Counter --faults 1", "recipes.SharedValue --faults 1",
	"recipes.IDGenerator --faults 1", "recipes.Queue --faults 1", "recipes.LockQueue --faults 1",
}

// larger are bounds of which the time is estimated, from a number of runs. With a fault so few runs
// would tell nothing: the first thousands have none.
var larger = []struct {
	words string
	flags []string
}{
	{"2 clients, 1 round", []string{"--faults", "0"}},
	{"2 clients, 2 rounds", []string{"--faults", "0", "--rounds", "2"}},
	{"3 clients, 1 round", []string{"--faults", "0", "--clients", "3"}},
	{"2 clients, 1 round, 3 servers", []string{"--faults", "0", "--servers", "3"}},
}

// largerProofs is a table of about how long proofs of all recipes take.
func largerProofs(l *runner) (string, error) {
	columns := []string{"recipe"}
	for _, b := range larger {
		columns = append(columns, b.words)
	}
	var rows [][]string
	var listed struct {
		Workloads []struct{ Implementations []string }
	}
	if err := l.askZksim(&listed, nil, "list"); err != nil {
		return "", err
	}
	for _, w := range listed.Workloads {
		for _, name := range w.Implementations {
			if !strings.HasPrefix(name, "recipes.") {
				continue
			}
			row := []string{"`" + name + "`"}
			for _, b := range larger {
				cell, err := estimate(l, name, b.flags)
				if err != nil {
					return "", err
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
	}
	return paragraph("About how long proofs without faults take of a processor, by an estimate from "+
		"1,000 runs that is rough and can be far too low: at most a minute, an hour, a day, or more. "+
		"Of some a run is too long for a proof: -. Those that end within 1,000 runs have their "+
		"seconds.") + "\n" +
		table(columns, rows), nil
}

// estimate says about how long a proof takes, and exactly if it ends within its runs; "-" if a run is
// too long for one.
func estimate(l *runner, name string, flags []string) (string, error) {
	var p struct {
		Holds    bool
		Runs     int
		Estimate float64
	}
	tooLong, err := prove(l, &p, name, 1000, flags...)
	if tooLong {
		return "-", nil
	}
	if p.Holds {
		return "holds, " + seconds(l.cpu) + " s", err
	}
	return about(l.cpu.Seconds() * max(1, p.Estimate/float64(p.Runs))), err
}

// about is a number of seconds in words.
func about(seconds float64) string {
	switch {
	case seconds <= 60:
		return "a minute"
	case seconds <= 3600:
		return "an hour"
	case seconds <= 24*3600:
		return "a day"
	}
	return "more"
}

// proofs lets zksim prove recipes, without faults as far as that goes in a number of runs.
func proofs(l *runner) (string, error) {
	var rows [][]string
	for _, flags := range proved {
		var p struct {
			Holds                    bool
			Runs, Classes, Redundant int
			Estimate                 float64
		}
		args := append([]string{"prove"}, strings.Fields(flags)...)
		if strings.Contains(flags, "--faults 0") {
			args = append(args, "--runs", "600000")
		}
		if err := l.askZksim(&p, nil, append(args, "--for", "0s")...); err != nil {
			return "", err
		}
		result, runs := "holds", thousands(p.Runs)
		if !p.Holds {
			result = fmt.Sprintf("%s of an estimated %s runs", runs, thousands(int(p.Estimate)))
		}
		rows = append(rows, []string{"`" + flags + "`", result, thousands(p.Classes), runs,
			thousands(p.Redundant), seconds(l.cpu)})
	}
	return paragraph("What zksim prove says of recipes, with 2 clients and 1 round. Without faults "+
			"it ends after 600,000 runs. The seconds are those of the processors. A redundant run is "+
			"one that its fault does not reach, or that ends when the rest is known.") +
			commandBlock("zksim prove ARGUMENTS --for 0s --runs 600000") +
			table([]string{"arguments", "result", "classes", "runs", "redundant", "seconds"}, rows),
		nil
}
