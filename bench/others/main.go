package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/alecthomas/kong"
	"github.com/zksim/zksim/bench/internal/command"
	"github.com/zksim/zksim/fuzz/builtin"
)

func main() {
	command.Main("others", func(ctx context.Context, args []string) error {
		return execute(ctx, os.Stdout, os.Stderr, args)
	})
}

type flags struct {
	Run      string `placeholder:"PATTERN" help:"Measure only the LIBRARY/RECIPE that match."`
	Workers  int    `default:"4" help:"How many runs are played at the same time."`
	Verbose  bool   `short:"v" help:"Print every failure, and the story of a recipe's first."`
	Markdown bool   `help:"Print the comparison as a table, at the end."`
}

// execute is the command, with the arguments and outputs as parameters, as tests need it.
func execute(ctx context.Context, out, errs io.Writer, args []string) error {
	var c flags
	_, err := command.Parse(&c, out, errs, args, kong.Name("others"),
		kong.Description("Measures which faults the recipes of other libraries survive."))
	if errors.Is(err, command.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.Workers < 1 {
		return fmt.Errorf("--workers %d; expected at least 1", c.Workers)
	}
	only, err := regexp.Compile(c.Run)
	if err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	return c.measure(ctx, &measurement{flags: &c, only: only, out: out})
}

// measurement is one execution of the command.
type measurement struct {
	*flags
	only *regexp.Regexp // matches LIBRARY/RECIPE
	dir  string         // of the drivers
	out  io.Writer
	done []*sweep
}

// measure measures and prints.
func (c *flags) measure(ctx context.Context, m *measurement) (err error) {
	if m.dir, err = os.MkdirTemp("", "zksim-others"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.dir)) }()
	if err := os.CopyFS(m.dir, drivers); err != nil {
		return err
	}
	if err := m.ours(ctx); err != nil {
		return err
	}
	for i := range libraries {
		if err := m.library(ctx, &libraries[i]); err != nil {
			return err
		}
	}
	if c.Markdown {
		return printTable(m.out, m.done)
	}
	return nil
}

// ours measures the workloads of package fuzz.
func (m *measurement) ours(ctx context.Context) error {
	for _, w := range builtin.Workloads() {
		if !m.only.MatchString(oursName + "/" + w.Impl) {
			continue
		}
		found, err := sweepOurs(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Impl, err)
		}
		m.take(found)
	}
	return nil
}

// library measures the recipes of a library, or prints the missing dependency.
func (m *measurement) library(ctx context.Context, l *library) error {
	c := newGroup(l, m.dir, m.Workers)
	defer c.stop()
	for i := range l.recipes {
		rc := &l.recipes[i]
		if !m.only.MatchString(l.name + "/" + rc.name) {
			continue
		}
		found, err := c.sweep(ctx, rc)
		if errors.Is(err, errMissing) {
			fmt.Fprintf(m.out, "%s is left out: %v\n", l.name, err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", l.name, rc.name, err)
		}
		m.take(found)
	}
	return nil
}

// storyLines bounds the lines of a story that are printed: a client that retries in
// vain makes a long one.
const storyLines = 40

// take keeps the sweep of a recipe and prints it.
func (m *measurement) take(found *sweep) {
	m.done = append(m.done, found)
	fmt.Fprintln(m.out, found)
	if !m.Verbose {
		return
	}
	for _, line := range found.failures {
		fmt.Fprintln(m.out, "  failed", line)
	}
	for _, line := range found.flaky {
		fmt.Fprintln(m.out, "  flaky ", line)
	}
	for _, line := range found.story[:min(len(found.story), storyLines)] {
		fmt.Fprintln(m.out, "    |", line)
	}
}
