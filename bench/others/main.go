package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/zksim/zksim/fuzz"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := measure(ctx, os.Stdout, os.Stderr, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "others:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	only    *regexp.Regexp // LIBRARY/RECIPE
	workers int
	verbose bool
	dir     string // of the drivers
	out     io.Writer
	errors  io.Writer
}

// measure is the whole command but the process.
func measure(ctx context.Context, out, errs io.Writer, args []string) (err error) {
	s := &settings{out: out, errors: errs}
	flags := flag.NewFlagSet("others", flag.ContinueOnError)
	flags.SetOutput(errs)
	only := flags.String("run", "", "measure only what matches this `pattern`, LIBRARY/RECIPE")
	flags.IntVar(&s.workers, "workers", 4, "how many runs are played side by side")
	flags.BoolVar(&s.verbose, "v", false, "print every failure, and what happened in the first of a recipe")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.workers < 1 {
		return fmt.Errorf("-workers %d; expected at least 1", s.workers)
	}
	if s.only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	if s.dir, err = os.MkdirTemp("", "zksim-others"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	if err := os.CopyFS(s.dir, drivers); err != nil {
		return err
	}
	if err := s.ours(ctx); err != nil {
		return err
	}
	for i := range libraries {
		if err := s.library(ctx, &libraries[i]); err != nil {
			return err
		}
	}
	return nil
}

// ours measures the workloads of package fuzz.
func (s *settings) ours(ctx context.Context) error {
	for _, w := range fuzz.Workloads() {
		if !s.only.MatchString(oursName + "/" + w.Impl) {
			continue
		}
		found, err := sweepOurs(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Impl, err)
		}
		s.print(found)
	}
	return nil
}

// library measures the recipes of a library, or says what is missing.
func (s *settings) library(ctx context.Context, l *library) error {
	c := newCrew(l, s.dir, s.workers)
	defer c.stop()
	for i := range l.recipes {
		rc := &l.recipes[i]
		if !s.only.MatchString(l.name + "/" + rc.name) {
			continue
		}
		found, err := c.sweep(ctx, rc)
		if errors.Is(err, errMissing) {
			fmt.Fprintf(s.out, "%s is left out: %v\n", l.name, err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", l.name, rc.name, err)
		}
		s.print(found)
	}
	return nil
}

// storyLines are as many as are printed of what happened in a run: a client that
// tries in vain does so for a long time.
const storyLines = 40

// print says what came of a recipe.
func (s *settings) print(found *sweep) {
	fmt.Fprintln(s.out, found)
	if !s.verbose {
		return
	}
	for _, line := range found.failures {
		fmt.Fprintln(s.out, "  failed", line)
	}
	for _, line := range found.flaky {
		fmt.Fprintln(s.out, "  flaky ", line)
	}
	for _, line := range found.story[:min(len(found.story), storyLines)] {
		fmt.Fprintln(s.out, "    |", line)
	}
}
