// Command report measures and writes docs/measurements.md, a page of dated figures.
//
//	go run -C bench ./report                      the sections that take minutes
//	go run -C bench ./report --only speed,start   these sections
//	go run -C bench ./report --all                all sections; hours
//	go run -C bench ./report --list               the sections, and how long each takes
//
// Each section is measured by one function of this package, from the output of commands that it
// names on the page. A section that is not measured keeps its text and its date. The page is
// written after each section, so that an interrupt loses one section at most. An error names a
// missing dependency of a section (Java, ZooKeeper, the other libraries); the page then stays as it
// was.
//
// Figures of speed and memory depend on the machine and on its other work, so the
// page names both. It needs Linux.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/alecthomas/kong"
	"github.com/zksim/zksim/bench/internal/command"
	"github.com/zksim/zksim/bench/internal/proc"
)

type flags struct {
	Only []string `xor:"which" placeholder:"NAME" help:"Measure these sections only."`
	All  bool     `xor:"which" help:"Measure all sections, those that take long, too."`
	List bool     `xor:"which" help:"List the sections."`
	Page string   `placeholder:"FILE" help:"The page, instead of docs/measurements.md."`
}

func main() {
	command.Main("report", func(ctx context.Context, args []string) error {
		return run(ctx, os.Stdout, os.Stderr, args)
	})
}

// run is the command, with the arguments and outputs as parameters, as tests need it.
func run(ctx context.Context, out, log io.Writer, args []string) (err error) {
	var c flags
	_, err = command.Parse(&c, out, log, args, kong.Name("report"),
		kong.Description("Measures and writes docs/measurements.md."))
	if errors.Is(err, command.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.List {
		return printSections(out)
	}
	chosen, err := c.chosen()
	if err != nil {
		return err
	}
	l, err := newRunner(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if c.Page == "" {
		c.Page = filepath.Join(l.root, "docs", "measurements.md")
	}
	return c.renew(l, chosen)
}

// printSections prints one line for each section, with its time on two idle cores.
func printSections(out io.Writer) error {
	for _, s := range sections {
		minutes := s.takes.Minutes()
		_, err := fmt.Fprintf(out, "%-12s %3.0f min   %s\n", s.name, minutes, s.title)
		if err != nil {
			return err
		}
	}
	return nil
}

// chosen are the sections that the flags name.
func (c *flags) chosen() ([]section, error) {
	var chosen []section
	known := map[string]bool{}
	for _, s := range sections {
		known[s.name] = true
		if c.All || s.takes < long && len(c.Only) == 0 || slices.Contains(c.Only, s.name) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range c.Only {
		if !known[name] {
			return nil, fmt.Errorf("--only %s: no such section; see --list", name)
		}
	}
	return chosen, nil
}

// renew measures sections and writes the page after each.
func (c *flags) renew(l *runner, chosen []section) error {
	p, err := readPage(c.Page)
	if err != nil {
		return err
	}
	for _, s := range chosen {
		load, err := proc.LoadAverage()
		if err != nil {
			return err
		}
		began := time.Now()
		body, err := s.measure(l)
		if err != nil {
			return fmt.Errorf("section %s: %w", s.name, err)
		}
		header, err := measured(s, began, load)
		if err != nil {
			return err
		}
		p.set(s.name, header+"\n"+body)
		if err := p.write(c.Page); err != nil {
			return err
		}
	}
	return nil
}

// measured says when, where and how a section was measured.
func measured(s section, began time.Time, load float64) (string, error) {
	machine, err := proc.Machine()
	if err != nil {
		return "", err
	}
	besides := ""
	if load >= 0.5 {
		besides = fmt.Sprintf(" beside other work (load average %.1f)", load)
	}
	return paragraph("Measured on %s%s: %s; in %s by `go run -C bench ./report --only %s`.",
		began.Format(time.DateOnly), besides, machine,
		time.Since(began).Round(time.Second), s.name), nil
}
