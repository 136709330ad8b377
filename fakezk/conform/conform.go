package conform

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"time"
)

// Target is one of the two servers.
type Target struct {
	// Name is what the report calls it; empty means its address, or A or B.
	Name string
	// Address is host:port. Dial, if not nil, is used instead; every call must
	// give a new connection.
	Address string
	Dial    func(ctx context.Context) (net.Conn, error)

	patience time.Duration // of Options
}

func (t Target) dial(ctx context.Context) (net.Conn, error) {
	if t.Dial != nil {
		return t.Dial(ctx)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", t.Address)
}

// Options say what to compare. The zero value compares all families and no
// random operations.
type Options struct {
	// Families are the names of those to play, of Families and "random"; none
	// means all of them.
	Families []string
	// Ops is how many random operations to compare, in scripts of some 60.
	Ops int
	// Seed decides what they are; 0 is a seed like any other.
	Seed uint64
	// Fresh says that both servers have just been started and are nobody else's.
	// Then zxids are compared as they are in the family "fresh", and everything
	// else is compared at "/" too, where nodes are made and deleted. Compare
	// fails if the root of one of them was ever changed, or if the two have not had
	// equally many sessions.
	Fresh bool
	// Patience is how long to wait for what has to come; 0 means 30 s. A server
	// from which nothing comes in time differs from one that answers.
	Patience time.Duration
	// Progress, if not nil, hears of every script played.
	Progress func(Progress)
}

// Progress says how far a comparison is.
type Progress struct {
	Family                  string // the one under way
	Operations, Differences int    // so far, in all families
}

// Compare plays the same scripts on two servers and compares every answer. The
// error says what kept it from comparing, and wraps ctx's error if that was it;
// the report then holds what was compared before.
func Compare(ctx context.Context, a, b Target, opts Options) (*Report, error) {
	a.Name, b.Name = cmp.Or(a.Name, a.Address, "A"), cmp.Or(b.Name, b.Address, "B")
	a.patience = cmp.Or(opts.Patience, defaultPatience)
	b.patience = a.patience
	chosen, err := chooseFamilies(opts)
	if err != nil {
		return &Report{}, err
	}
	p, err := newPair(ctx, a, b, opts.Fresh)
	if err != nil {
		return &Report{}, err
	}
	defer p.close(ctx)
	c := &comparison{pair: p, opts: opts, report: &Report{A: a.Name, B: b.Name}}
	for _, family := range chosen {
		if err := c.family(ctx, family); err != nil {
			return c.report, err
		}
	}
	return c.report, p.leave(ctx)
}

const defaultPatience = 30 * time.Second

// comparison is a Compare under way.
type comparison struct {
	pair   *pair
	opts   Options
	report *Report
}

const randomFamily = "random"

// chooseFamilies checks the names that were asked for.
func chooseFamilies(opts Options) ([]string, error) {
	all := Families()
	for _, name := range opts.Families {
		if name != randomFamily && !slices.Contains(all, name) {
			return nil, fmt.Errorf("there is no family %q; expected one of %q", name, append(all, randomFamily))
		}
	}
	wanted := func(name string) bool { return len(opts.Families) == 0 || slices.Contains(opts.Families, name) }
	chosen := slices.DeleteFunc(all, func(name string) bool { return !wanted(name) })
	if opts.Ops > 0 && wanted(randomFamily) {
		chosen = append(chosen, randomFamily)
	}
	return chosen, nil
}

// family plays all scripts of one family.
func (c *comparison) family(ctx context.Context, name string) error {
	c.report.Families = append(c.report.Families, FamilyReport{Name: name})
	row := &c.report.Families[len(c.report.Families)-1]
	if name == randomFamily {
		return c.random(ctx, row)
	}
	for _, s := range fixedScripts[name] {
		lacks, err := c.pair.lacks(ctx, s.needs)
		if err != nil {
			return err
		}
		if lacks != "" {
			row.Skipped++
			row.SkippedFor = lacks
			continue
		}
		if err := c.script(ctx, s, row); err != nil {
			return err
		}
	}
	return nil
}

// script plays one script and enters what came of it.
func (c *comparison) script(ctx context.Context, s script, row *FamilyReport) error {
	what, err := c.pair.play(ctx, s)
	row.add(what)
	if what.diff != nil {
		c.found(row, *what.diff)
	}
	c.progress(row.Name)
	return err
}

// add counts a script that was played.
func (f *FamilyReport) add(what played) {
	f.Scripts++
	f.Operations += what.compared
	f.Void += what.reached - what.compared
}

func (c *comparison) found(row *FamilyReport, d Difference) {
	row.Differences++
	c.report.Differences = append(c.report.Differences, d)
}

func (c *comparison) progress(family string) {
	if c.opts.Progress == nil {
		return
	}
	p := Progress{Family: family}
	for _, f := range c.report.Families {
		p.Operations += f.Operations
		p.Differences += f.Differences
	}
	c.opts.Progress(p)
}
