package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	exhibits "github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/saved"
)

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
	ofGallery, err := provedExhibits(l)
	if err != nil {
		return "", err
	}
	return paragraph("What zksim prove says of recipes, with 2 clients and 1 round, within "+
			"60,000 runs. The seconds are those of the processors. A redundant run is one that its "+
			"fault does not reach, or that ends when the rest is known.") +
			commandBlock("zksim prove NAME --faults 0 --runs 60000 --for 0s") +
			table([]string{"recipe", "faults", "result", "classes", "runs", "redundant", "seconds"},
				rows) + "\n" + ofGallery,
		nil
}

// provedExhibits lets zksim prove the published exhibits of the gallery, which must fail: with the
// script of a proof, and else with that of the smallest scenario that hunts have found.
func provedExhibits(l *runner) (string, error) {
	var listed []struct{ Slug string }
	if err := l.askZksim(&listed, nil, "gallery", "--list"); err != nil {
		return "", err
	}
	scripts := []string{"2 clients, 1 round, seed 1", "as in the smallest scenario of hunts"}
	found, all, smallest := make([][3]int, len(scripts)), 0, 0
	var left []string
	for _, e := range listed {
		own, needs, err := ownScript(l, e.Slug)
		if err != nil {
			return "", err
		}
		at := 0
		faults, proved, err := proveExhibit(l, e.Slug)
		if err == nil && faults < 0 && own != nil {
			at = 1
			faults, proved, err = proveExhibit(l, e.Slug, own...)
		}
		switch {
		case err != nil:
			return "", err
		case faults < 0:
			left = append(left, "`"+e.Slug+"` ("+needs+")")
			continue
		}
		all++
		found[at][faults]++
		if proved {
			smallest++
		}
	}
	var rows [][]string
	for i, script := range scripts {
		row := []string{script}
		for _, n := range found[i] {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	return paragraph("Of the %d exhibits of the gallery, proofs find %d to fail, each within %d "+
			"runs of one server and at most two faults that take no time. Of %d the plan is proved "+
			"to be the smallest.", len(listed), all, exhibitRuns, smallest) +
			commandBlock("zksim prove SLUG --faults 2 --for 0s --runs "+strconv.Itoa(exhibitRuns)) +
			table([]string{"script", "no fault", "one fault", "two faults"}, rows) + "\n" +
			paragraph("Not found, with the script and the faults of their smallest scenarios: %s.",
				strings.Join(left, ", ")),
		nil
}

// exhibitRuns is the number of runs after which a proof of an exhibit gives up.
const exhibitRuns = 4000

// proveExhibit returns the number of faults with which an exhibit fails, -1 if it does not, and
// whether fewer are proved not to do.
func proveExhibit(l *runner, slug string, flags ...string) (faults int, smallest bool, err error) {
	var p struct {
		Smallest  string
		Violation *struct{ Minimal struct{ Plan []string } }
	}
	err = l.askZksim(&p, nil, append([]string{"prove", slug, "--faults", "2", "--for", "0s",
		"--runs", strconv.Itoa(exhibitRuns)}, flags...)...)
	var failed *failure
	switch {
	case errors.As(err, &failed) || err == nil && p.Violation == nil:
		return -1, false, nil // if it has failed, a run is too long for a proof
	case err != nil:
		return 0, false, err
	}
	return len(p.Violation.Minimal.Plan), p.Smallest != "", nil
}

// ownScript returns the flags for the script of an exhibit's scenario, nil if it is too large or
// for several servers, and the script and the faults in words.
func ownScript(l *runner, slug string) (flags []string, words string, err error) {
	name := filepath.Join(l.root, "fuzz", "gallery", "testdata", slug+".yaml")
	f, err := saved.Load(name, exhibits.Catalogue().Find)
	if err != nil {
		return nil, "", err
	}
	s := f.Scenario
	clients, rounds, seed := strconv.Itoa(s.Script.Clients), strconv.Itoa(s.Script.Rounds),
		strconv.FormatUint(s.Seed, 10)
	needs := []string{"clients " + clients, "rounds " + rounds, "seed " + seed}
	if s.Script.Servers > 1 {
		needs = append(needs, fmt.Sprint("servers ", s.Script.Servers))
	} else if s.Script.Clients < 4 && s.Script.Rounds < 4 {
		flags = []string{"--clients", clients, "--rounds", rounds, "--seed", seed}
	}
	for _, f := range s.Plan {
		needs = append(needs, string(f.Kind))
	}
	return flags, strings.Join(needs, ", "), nil
}
