package conform

import (
	"fmt"
	"strings"
)

// Report is what a comparison led to.
type Report struct {
	// A and B are the names of the servers.
	A, B     string
	Families []FamilyReport
	// Differences are all that were found, one of each script at most: what
	// comes after a difference may be its consequence.
	Differences []Difference
	// Unrepeated are the differences of random scripts, whole ones, that showed no
	// difference in any of five repetitions. Either something outside of the script
	// has changed a server, another client or the search for containers, or a server
	// is seldom wrong. As nothing tells these apart, they are differences too.
	Unrepeated []Difference
}

// FamilyReport is a row of the table.
type FamilyReport struct {
	Name string
	// Scripts were played, with so many steps compared.
	Scripts, Operations, Differences int
	// Void steps had no connection on either server; they are not counted.
	Void int
	// Skipped scripts need something that a server does not have: SkippedFor.
	Skipped    int
	SkippedFor string
}

// Difference is the first step of a script that two servers answered
// differently.
type Difference struct {
	Family, Script string
	// Steps lead to it, in the notation of this package; the last one is it.
	Steps []string
	// A and B are what each server answered, line by line.
	A, B []string
	// Repeated says in how many of Repetitions the script differed again. Scripts
	// of the families are not repeated, and both are 0.
	Repeated, Repetitions int
}

// Equal reports whether no difference was found, not even one that did not show
// again.
func (r *Report) Equal() bool { return len(r.Differences)+len(r.Unrepeated) == 0 }

// Table is a line for each family.
func (r *Report) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %8s %11s %12s\n", "family", "scripts", "operations", "differences")
	var sum FamilyReport
	for _, f := range r.Families {
		fmt.Fprintf(&b, "%-14s %8d %11d %12d", f.Name, f.Scripts, f.Operations, f.Differences)
		if f.Skipped > 0 {
			fmt.Fprintf(&b, "   %d skipped: %s", f.Skipped, f.SkippedFor)
		}
		b.WriteByte('\n')
		sum.Scripts += f.Scripts
		sum.Operations += f.Operations
		sum.Differences += f.Differences
	}
	fmt.Fprintf(&b, "%-14s %8d %11d %12d\n", "total", sum.Scripts, sum.Operations, sum.Differences)
	if n := len(r.Unrepeated); n > 0 {
		fmt.Fprintf(&b, "%d random scripts more differed once and not in %d repetitions\n", n, repetitions)
	}
	return b.String()
}

// Explain tells of a difference: the script, the two answers, and where they part.
func (r *Report) Explain(d Difference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.Family, d.Script)
	if d.Repetitions > 0 && d.Repeated < d.Repetitions {
		fmt.Fprintf(&b, "    # differs in %d of %d repetitions\n", d.Repeated, d.Repetitions)
	}
	for _, s := range d.Steps {
		fmt.Fprintf(&b, "    %s\n", clip(s, 0))
	}
	onlyA, onlyB := trimCommon(d.A, d.B)
	tell(&b, r.A, onlyA, onlyB)
	tell(&b, r.B, onlyB, onlyA)
	return b.String()
}

func tell(b *strings.Builder, name string, lines, other []string) {
	fmt.Fprintf(b, "  %s:\n", name)
	if len(lines) == 0 {
		b.WriteString("    nothing more\n")
	}
	for i, line := range lines {
		from := 0
		if i < len(other) {
			from = commonPrefix(line, other[i])
		}
		fmt.Fprintf(b, "    %s\n", clip(line, from))
	}
}

// trimCommon leaves out the lines with which both begin and end.
func trimCommon(a, b []string) ([]string, []string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// clip shortens a long line to what is around a place.
func clip(line string, around int) string {
	const before, width = 80, 400
	if len(line) <= width {
		return line
	}
	from := max(0, min(around-before, len(line)-width))
	to := min(len(line), from+width)
	text := strings.ToValidUTF8(line[from:to], "")
	if from > 0 {
		text = "... " + text
	}
	if to < len(line) {
		text += " ..."
	}
	return text
}
