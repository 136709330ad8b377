package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/fakezk/fault"
	exhibits "github.com/zksim/zksim/fuzz/gallery"
	"github.com/zksim/zksim/fuzz/saved"
)

// exhibitRuns is the number of runs after which a proof of an exhibit gives up.
const exhibitRuns = 4000

// A try is a proof of an exhibit: what it says of the script, and its flags.
type try struct {
	script string
	flags  []string
}

const (
	usualScript  = "2 clients, 1 round, seed 1"
	ownScript    = "as in the smallest scenario of hunts"
	ownDurations = "with faults that last as in that scenario"
)

// provedExhibits lets zksim prove the published exhibits of the gallery, which must fail: with the
// script of a proof, with that of the smallest scenario that hunts have found, and with faults that
// last, if that has some.
func provedExhibits(l *runner) (string, error) {
	var listed []struct{ Slug, Source string }
	if err := l.askZksim(&listed, nil, "gallery", "--list"); err != nil {
		return "", err
	}
	listed = slices.DeleteFunc(listed, func(e struct{ Slug, Source string }) bool {
		return e.Source == "planted"
	})
	found, all, smallest := map[string][]int{}, 0, 0
	proofs, hunts := map[string][]float64{}, map[string][]float64{} // seconds of a processor
	left := map[string][]string{}
	for _, e := range listed {
		tries, needs, err := triesOf(l, e.Slug)
		if err != nil {
			return "", err
		}
		var p exhibitProof
		for _, t := range tries {
			if p, err = proveExhibit(l, e.Slug, t.flags...); err != nil {
				return "", err
			}
			if p.Violation != nil {
				if found[t.script] == nil {
					found[t.script] = make([]int, 3)
				}
				found[t.script][len(p.Violation.Minimal.Plan)]++
				all++
				proofs[t.script] = append(proofs[t.script], l.cpu.Seconds())
				if err := l.askZksim(new(galleryOutput), nil, "gallery", e.Slug); err != nil {
					return "", err
				}
				hunts[t.script] = append(hunts[t.script], l.cpu.Seconds())
				break
			}
		}
		switch {
		case p.Violation != nil && p.Smallest != "":
			smallest++
		case p.Violation != nil:
		case strings.Contains(needs, "servers"):
			left["servers"] = append(left["servers"], "`"+e.Slug+"` ("+needs+")")
		case p.tooLong:
			left["long"] = append(left["long"], "`"+e.Slug+"` ("+needs+")")
		default:
			left["more"] = append(left["more"], fmt.Sprintf("`%s` (%s; an estimated %s)", e.Slug, needs,
				thousands(int(p.Estimate))))
		}
	}
	var rows [][]string
	for _, script := range []string{usualScript, ownScript, ownDurations} {
		row := []string{script}
		for n := range 3 {
			row = append(row, strconv.Itoa(append(found[script], 0, 0, 0)[n]))
		}
		row = append(row, usualAndWorst(proofs[script]), usualAndWorst(hunts[script]))
		rows = append(rows, row)
	}
	return paragraph("Of the %d exhibits of the gallery, proofs find %d to fail, each within %d "+
			"runs and at most two faults. Of %d the plan is proved to be the smallest.",
			len(listed), all, exhibitRuns, smallest) +
			commandBlock("zksim prove SLUG --faults 2 --for 0s --runs "+strconv.Itoa(exhibitRuns)) +
			table([]string{"script", "no fault", "one fault", "two faults", "proof", "hunt"}, rows) +
			"\n" + paragraph("The last columns are seconds of a processor, the median and the most of "+
			"these exhibits: of their proofs, and of hunts by `zksim gallery SLUG`, each with making "+
			"the finding small.") + "\n" +
			paragraph("Not found, with the script and the faults of their smallest scenarios. They "+
				"need faults of several servers: %s.", strings.Join(left["servers"], ", ")) + "\n" +
			paragraph("They try again for ever after pauses that take no time, so that a run is too "+
				"long for a proof: %s.", strings.Join(left["long"], ", ")) + "\n" +
			paragraph("They have more runs: %s.", strings.Join(left["more"], ", ")),
		nil
}

// usualAndWorst are the median and the greatest of some times, "-" for none.
func usualAndWorst(seconds []float64) string {
	if len(seconds) == 0 {
		return "-"
	}
	return figure.Significant(figure.Median(seconds)) + " / " +
		figure.Significant(slices.Max(seconds))
}

type exhibitProof struct {
	Smallest  string
	Estimate  float64
	Violation *struct{ Minimal struct{ Plan []string } }
	tooLong   bool // a run is
}

func proveExhibit(l *runner, slug string, flags ...string) (p exhibitProof, err error) {
	p.tooLong, err = prove(l, &p, slug, exhibitRuns, flags...)
	return p, err
}

// prove decodes what zksim prove says within a number of runs, unless a run is too long for it.
func prove(l *runner, into any, name string, runs int, flags ...string) (tooLong bool, err error) {
	err = l.askZksim(into, nil, append([]string{"prove", name, "--for", "0s",
		"--runs", strconv.Itoa(runs)}, flags...)...)
	var failed *failure
	if errors.As(err, &failed) && strings.Contains(failed.stderr, "too long for a proof") {
		return true, nil
	}
	return false, err
}

// triesOf returns the proofs of an exhibit, and the script and the faults of its smallest scenario
// in words.
func triesOf(l *runner, slug string) (tries []try, words string, err error) {
	name := filepath.Join(l.root, "fuzz", "gallery", "testdata", slug+".yaml")
	f, err := saved.Load(name, exhibits.Catalogue().Find)
	if err != nil {
		return nil, "", err
	}
	s := f.Scenario
	clients, rounds, seed := strconv.Itoa(s.Script.Clients), strconv.Itoa(s.Script.Rounds),
		strconv.FormatUint(s.Seed, 10)
	needs := []string{"clients " + clients, "rounds " + rounds, "seed " + seed}
	tries = []try{{usualScript, []string{"--faults", "2"}}}
	own := []string{"--clients", clients, "--rounds", rounds, "--seed", seed}
	var lengths []string
	for _, f := range s.Plan {
		needs = append(needs, string(f.Kind))
		for _, kind := range fault.KindsFor(1) {
			if kind.Kind == f.Kind && kind.Lasts && !slices.Contains(lengths, f.For.String()) {
				lengths = append(lengths, f.For.String())
			}
		}
	}
	if s.Script.Servers > 1 {
		needs = append(needs, fmt.Sprint("servers ", s.Script.Servers))
		own = append(own, "--servers", strconv.Itoa(s.Script.Servers))
	}
	if s.Script.Clients < 4 && s.Script.Rounds < 4 {
		tries = append(tries, try{ownScript, append([]string{"--faults", "2"}, own...)})
		if len(lengths) > 0 && len(s.Plan) < 3 {
			tries = append(tries, try{ownDurations, append([]string{"--faults",
				strconv.Itoa(len(s.Plan)), "--lasting", strings.Join(lengths, ",")}, own...)})
		}
	}
	return tries, strings.Join(needs, ", "), nil
}
