package conform

import (
	"fmt"
	"strings"
)

// Report is the result of a comparison.
type Report struct {
	// A and B are the names of the servers.
	A, B     string
	Families []FamilyReport
	// Differences are the differences found, at most one of each script: later ones
	// may be its consequences.
	Differences []Difference
	// Unrepeated are the differences of random scripts that had none in five repetitions. Either
	// another client or the search for containers has interfered, or a server is rarely wrong. As
	// these cannot be distinguished, they count as differences.
	Unrepeated []Difference
}

// FamilyReport is a row of the table.
type FamilyReport struct {
	Name string
	// Scripts is the number of scripts played, Operations of steps compared.
	Scripts, Operations, Differences int
	// Void is the number of steps for which neither server had a connection. They are
	// not in Operations.
	Void int
	// Skipped is the number of scripts that need an ability which a server lacks, and
	// SkippedFor names it.
	Skipped    int
	SkippedFor string
}

// Difference is the first step of a script with different answers of the two servers.
type Difference struct {
	Family, Script string
	// Steps is the script up to that step, in the notation of this package.
	Steps []string
	// A and B are the servers' answers, as lines of text.
	A, B []string
	// Repeated is the number of Repetitions in which the script differed again. Both
	// are 0 for scripts of the families, which are not repeated.
	Repeated, Repetitions int
}

// Equal reports whether the comparison found no difference. Unrepeated ones count.
func (r *Report) Equal() bool { return len(r.Differences)+len(r.Unrepeated) == 0 }

// Table returns a table with a line for each family.
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
		fmt.Fprintf(&b, "%d random scripts more differed once and not in %d repetitions\n", n,
			repetitions)
	}
	return b.String()
}

// Explain returns a difference as text: the script and the differing parts of the answers.
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
	writeAnswer(&b, r.A, onlyA, onlyB)
	writeAnswer(&b, r.B, onlyB, onlyA)
	return b.String()
}

func writeAnswer(b *strings.Builder, name string, lines, other []string) {
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

// trimCommon removes the common lines at the start and at the end.
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

// clip shortens a long line to the part around an offset.
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
