package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/bench/internal/proc"
)

// A report is a table, and notes on how to read it.
type report struct {
	Notes  []string
	Header []string
	Rows   [][]string
}

// print prints the table in Markdown, with aligned columns for a terminal. All columns but the
// first are aligned to the right on a page.
func (r report) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	row := func(cells []string) { fmt.Fprintf(t, "| %s\t|\n", strings.Join(cells, "\t| ")) }
	row(r.Header)
	fmt.Fprintf(t, "|---%s\t|\n", strings.Repeat("\t|---:", len(r.Header)-1))
	for _, cells := range r.Rows {
		row(cells)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(t, "\n%s\n", figure.Wrapped(note))
	}
	return t.Flush()
}

// machine describes the machine, the Go release and the versions of the servers.
func machine(servers []*server) (string, error) {
	text, err := proc.Machine()
	for _, s := range servers {
		if s.version != "" {
			text += fmt.Sprintf(", %s is %s", s.name, s.version)
		}
	}
	return text + ".", err
}
