package main

import (
	_ "embed"
	"fmt"
	"strings"
)

// points sweeps every implementation with the default script.
func points(l *runner) (string, error) {
	var known struct {
		Workloads []struct {
			Name            string            `json:"name"`
			Implementations []string          `json:"implementations"`
			Flawed          map[string]string `json:"flawed"` // property, by implementation
		} `json:"workloads"`
	}
	if err := l.askZksim(&known, nil, "list"); err != nil {
		return "", err
	}
	var rows [][]string
	for _, w := range known.Workloads {
		for _, impl := range w.Implementations {
			var s struct{ Points, Survived, Undecided int }
			if err := l.askZksim(&s, nil, "sweep", w.Name, "--impl", impl); err != nil {
				return "", err
			}
			rows = append(rows, []string{w.Name, "`" + impl + "`",
				fmt.Sprintf("%d of %d", s.Survived, s.Points), fmt.Sprint(s.Undecided),
				w.Flawed[impl]})
		}
	}
	return paragraph("A fault point is one fault at one step of a run with 3 clients and 2 "+
		"rounds. Kinds with a duration are tried with 1 s, 3 s and 10 s; the session timeout is "+
		"4 s.") +
		commandBlock("zksim sweep WORKLOAD --impl NAME") +
		table([]string{"workload", "implementation", "survived", "undecided", "known flaw"},
			rows), nil
}

// libraryNotes are the footnotes of the comparison. They explain failures and have no figures.
//
//go:embed libraries.md
var libraryNotes string

// otherLibraries measures which faults the recipes of other libraries survive.
func otherLibraries(l *runner) (string, error) {
	out, err := l.measured("./others", "--markdown")
	if err != nil {
		return "", err
	}
	const heading = "\n| kind "
	_, comparison, _ := strings.Cut(out, heading)
	about, notes, _ := strings.Cut(libraryNotes, "\n---\n")
	return about + heading + comparison + notes, nil
}
