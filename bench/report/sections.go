package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/bench/internal/figure"
)

// A section of the page, and the function that measures it.
type section struct {
	name    string // of --only
	title   string // on the page
	takes   time.Duration
	measure func(*runner) (string, error) // its text
}

// long is the time of a section that is measured only if --only names it, or with --all.
const long = 15 * time.Minute

// sections are all sections, in the order of the page. Their times are those of two cores.
var sections = []section{
	{"determinism", "Determinism", 6 * time.Minute, determinism},
	{"hunts", "Hunts in right recipes", 22 * time.Minute, hunts},
	{"points", "Fault points of the recipes", 6 * time.Minute, points},
	{"libraries", "Beside other libraries", 40 * time.Minute, otherLibraries},
	{"planted", "Planted bugs", 2 * time.Minute, planted},
	{"gallery", "Published bugs", 20 * time.Minute, gallery},
	{"strategies", "Strategies on the gallery", time.Hour, strategies},
	{"proofs", "Proofs", 6 * time.Hour, proofs},
	{"larger-proofs", "Larger proofs", 15 * time.Minute, largerProofs},
	{"proved-exhibits", "Published bugs by proof", time.Hour, provedExhibits},
	{"real", "The workloads against a real ZooKeeper", 30 * time.Minute, realServer},
	{"conform", "The comparison with a real ZooKeeper", 10 * time.Minute, conformance},
	{"speed", "Scenarios per second", 3 * time.Minute, speed},
	{"own-module", "Processor time and memory of go test", 2 * time.Minute, ownModule},
	{"requests", "Requests per second over TCP", 4 * time.Minute, requests},
	{"in-memory", "Requests in memory", time.Minute, inMemory},
	{"start", "Start", time.Minute, start},
	{"memory", "Memory of the server", time.Minute, memory},
	{"attacks", "Attacks on the server", 10 * time.Minute, attacks},
}

// titled finds a section by its title.
func titled(title string) (section, bool) {
	i := slices.IndexFunc(sections, func(s section) bool { return s.title == title })
	if i < 0 {
		return section{}, false
	}
	return sections[i], true
}

// table is a Markdown table. The columns but the first are aligned to the right.
func table(header []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(header)
	fmt.Fprintf(&b, "|---%s|\n", strings.Repeat("|---:", len(header)-1))
	for _, cells := range rows {
		line(cells)
	}
	return b.String()
}

// quoted is a command as a shell takes it.
func quoted(words ...string) string {
	var shown []string
	for _, w := range words {
		if strings.ContainsAny(w, "^$|* ") {
			w = "'" + w + "'"
		}
		shown = append(shown, w)
	}
	return strings.Join(shown, " ")
}

// commandBlock is a paragraph of the page with commands, one a line.
func commandBlock(commands ...string) string {
	return "\n    " + strings.Join(commands, "\n    ") + "\n\n"
}

// paragraph wraps text, but not within code between backticks.
func paragraph(format string, args ...any) string {
	return figure.Wrapped(fmt.Sprintf(format, args...)) + "\n"
}
