package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
)

// outputFlags choose how a report is printed: as text for a terminal unless one of them is given.
type outputFlags struct {
	Markdown bool `xor:"output" help:"Print a table for a README."`
	JSON     bool `xor:"output" help:"Print all that was measured, durations in nanoseconds."`
}

// A report is a table, notes on how to read it, and the figures behind it.
type report struct {
	Title  string     `json:"title"`
	Notes  []string   `json:"notes"`
	Header []string   `json:"-"`
	Rows   [][]string `json:"-"`
	Data   any        `json:"data"`
}

func (f outputFlags) print(w io.Writer, r report) error {
	switch {
	case f.JSON:
		return printJSON(w, r)
	case f.Markdown:
		return printMarkdown(w, r)
	}
	return printText(w, r)
}

func printJSON(w io.Writer, r report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("print as JSON: %w", err)
	}
	return nil
}

// printMarkdown aligns all columns but the first to the right.
func printMarkdown(w io.Writer, r report) error {
	var b strings.Builder
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(r.Header)
	fmt.Fprintf(&b, "|---%s|\n", strings.Repeat("|---:", len(r.Header)-1))
	for _, cells := range r.Rows {
		row(cells)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\n%s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printText(w io.Writer, r report) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.Title)
	for _, note := range r.Notes {
		fmt.Fprintln(&b, note)
	}
	fmt.Fprintln(&b)
	t := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, strings.Join(r.Header, "\t"))
	for _, cells := range r.Rows {
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// machine describes the machine, the Go release and the versions of the servers.
func machine(servers []*server) string {
	parts := []string{
		fmt.Sprintf("%d processors", runtime.NumCPU()),
		runtime.GOOS + "/" + runtime.GOARCH, runtime.Version(),
	}
	for _, s := range servers {
		if s.version != "" {
			parts = append(parts, s.name+" is "+s.version)
		}
	}
	return strings.Join(parts, ", ") + "."
}
