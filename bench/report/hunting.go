package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
)

// huntOutput is the output of zksim fuzz --json, for one workload or for all.
type huntOutput struct {
	Hunts       []struct{ Runs int } `json:"hunts"` // of all
	Runs        int                  `json:"runs"`
	Undecided   int                  `json:"undecided"`
	Divergences int                  `json:"divergences"`
	Findings    findings             `json:"findings"`
}

// findings is a number, or the list of the findings of one workload.
type findings int

// UnmarshalJSON counts a list.
func (f *findings) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err == nil {
		*f = findings(len(list))
		return nil
	}
	return json.Unmarshal(text, (*int)(f))
}

// determinism runs scenarios twice.
func determinism(l *runner) (string, error) {
	var rows [][]string
	twice := func(procs int, args ...string) error {
		var env []string
		shown := append([]string{"zksim"}, args...)
		if procs > 0 {
			setting := fmt.Sprintf("GOMAXPROCS=%d", procs)
			env, shown = []string{setting}, append([]string{setting}, shown...)
		}
		began := time.Now()
		var h huntOutput
		if err := l.askZksim(&h, env, args...); err != nil {
			return err
		}
		rows = append(rows, []string{"`" + quoted(shown...) + "`", thousands(h.Runs),
			strconv.Itoa(h.Divergences), seconds(time.Since(began))})
		return nil
	}
	for _, procs := range []int{1, 2, 4} {
		err := twice(procs, "fuzz", "lock", "--runs", "1000", "--check-determinism")
		if err != nil {
			return "", err
		}
	}
	err := twice(0, "fuzz", "all", "--clients", "2", "--rounds", "1", "--runs", "102300",
		"--seed", "401", "--check-determinism")
	if err != nil {
		return "", err
	}
	return paragraph("Each scenario is run twice. The two traces are compared.") + "\n" +
		table([]string{"command", "scenarios", "divergences", "seconds"}, rows), nil
}

// hunts hunts in every recipe that promises to survive.
func hunts(l *runner) (string, error) {
	args := []string{"fuzz", "all", "--clients", "2", "--rounds", "1",
		"--runs", "1000000", "--seed", "5002"}
	began := time.Now()
	var h huntOutput
	if err := l.askZksim(&h, nil, args...); err != nil {
		return "", err
	}
	took := time.Since(began)
	return paragraph("All strategies in turns, %d implementations without a known bug, 2 clients, "+
		"1 round: %s scenarios in %s s (%.0f per second), %d findings, %d undecided.", len(h.Hunts),
		thousands(h.Runs), seconds(took),
		float64(h.Runs)/took.Seconds(), h.Findings, h.Undecided) +
		commandBlock("zksim "+quoted(args...)), nil
}

// planted counts the deliberately wrong recipes of the gallery that a test finds.
func planted(l *runner) (string, error) {
	args := []string{"test", "./fuzz/gallery", "-run", "^TestPlantedAreFound$", "-full",
		"-count=1", "-json"}
	out, err := l.run("go", args...)
	if err != nil {
		return "", err
	}
	passed, err := passedSubtests(out)
	if err != nil {
		return "", err
	}
	return paragraph("%d recipes with a planted bug. A test finds each.", len(passed)) +
		commandBlock("go "+quoted(args...)), nil
}

// passedSubtests lists the passed subtests that have no subtests, from the output of go test -json.
func passedSubtests(out string) ([]string, error) {
	var names []string
	parents := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Action, Package, Test string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("output of go test -json: %w", err)
		}
		name := e.Package + "." + e.Test
		if i := strings.LastIndex(e.Test, "/"); i >= 0 {
			parents[e.Package+"."+e.Test[:i]] = true
			if e.Action == "pass" {
				names = append(names, name)
			}
		}
	}
	leaf := func(name string) bool { return parents[name] }
	return slices.DeleteFunc(names, leaf), lines.Err()
}

// galleryOutput is the output of zksim gallery --json.
type galleryOutput struct {
	Exhibits []struct {
		Source       string  `json:"source"`
		Hunts        int     `json:"hunts"`
		Found        int     `json:"found"`
		Seconds      float64 `json:"seconds"`       // the median of its hunts
		WorstSeconds float64 `json:"worst_seconds"` // the longest of its hunts
		Runs         int     `json:"runs"`          // the median of its hunts
		Faults       int     `json:"faults"`
		Clients      int     `json:"clients"`
	} `json:"exhibits"`
}

// gallery hunts every exhibit with ten seeds.
func gallery(l *runner) (string, error) {
	args := []string{"gallery", "--seeds", "10"}
	var h galleryOutput
	if err := l.askZksim(&h, nil, args...); err != nil {
		return "", err
	}
	var found, all, faults, clients, ours int
	var usual []float64
	var worst float64
	for _, e := range h.Exhibits {
		found, all = found+e.Found, all+e.Hunts
		faults, clients = max(faults, e.Faults), max(clients, e.Clients)
		if e.Source == "ours" {
			ours++
		}
		usual, worst = append(usual, e.Seconds), max(worst, e.WorstSeconds)
	}
	_, spread := h.spread()
	return paragraph("%d exhibits, %d published and %d found by zksim's authors, with ten seeds "+
		"each: %s of %s hunts found the bug. Number of scenarios until then, by exhibit: %s "+
		"(median / 90th percentile / maximum). Time: %s s in the median, %s s at most. The "+
		"minimized scenarios have at most %d faults and %d clients.",
		len(h.Exhibits), len(h.Exhibits)-ours, ours,
		thousands(found), thousands(all), spread, figure.Significant(figure.Median(usual)),
		figure.Significant(worst), faults, clients) + commandBlock("zksim "+quoted(args...)), nil
}

// spread returns the number of exhibits that were found, and the numbers of scenarios that this has
// taken, as text: the median, that of nine in ten, and the greatest.
func (h *galleryOutput) spread() (found int, runs string) {
	var all []int
	for _, e := range h.Exhibits {
		if e.Found > 0 {
			all = append(all, e.Runs)
		}
	}
	slices.Sort(all)
	return len(all), fmt.Sprintf("%d / %d / %d", figure.Percentile(all, 50),
		figure.Percentile(all, 90), figure.Percentile(all, 100))
}

// strategies hunts every exhibit with each strategy alone, and with all by turns.
func strategies(l *runner) (string, error) {
	var known struct {
		Strategies []struct{ Name string } `json:"strategies"`
	}
	if err := l.askZksim(&known, nil, "list"); err != nil {
		return "", err
	}
	rows := [][]string{}
	hunt := func(name string, flags ...string) error {
		var h galleryOutput
		args := append([]string{"gallery", "--runs", "1000"}, flags...)
		if err := l.askZksim(&h, nil, args...); err != nil {
			return err
		}
		found, runs := h.spread()
		rows = append(rows, []string{name, fmt.Sprintf("%d of %d", found, len(h.Exhibits)), runs})
		return nil
	}
	if err := hunt("all, in turns (the default)"); err != nil {
		return "", err
	}
	for _, s := range known.Strategies {
		if err := hunt("`"+s.Name+"`", "--strategy", s.Name); err != nil {
			return "", err
		}
	}
	return paragraph("The number of exhibits that each strategy finds alone, within 1,000 "+
		"scenarios each, with seed 1.") +
		commandBlock("zksim gallery --runs 1000 --strategy NAME") +
		table([]string{"strategy", "found",
			"scenarios until then: median / 90th percentile / maximum"},
			rows), nil
}

// thousands and seconds write numbers for the page.
func thousands(n int) string { return figure.Thousands(float64(n)) }

func seconds(d time.Duration) string { return figure.Significant(d.Seconds()) }
