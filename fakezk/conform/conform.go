package conform

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Target is one of the two servers.
type Target struct {
	// Name is its name in the report; empty means its address, or A or B.
	Name string
	// Address is host:port. Dial, if not nil, is used instead; every call must
	// return a new connection.
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

// Options selects the scripts of a comparison. The zero value compares all families and
// no random operations.
type Options struct {
	// Families are the names of the families to play, out of those of Families and
	// "random"; none means all of them.
	Families []string
	// Ops is the number of random operations to compare, in scripts of some 60.
	Ops int
	// Seed determines the random operations. 0 is a seed, too.
	Seed uint64
	// Fresh says that both servers have just been started and have no other client.
	// Then the family "fresh" compares absolute zxids, and scripts also create and
	// delete nodes at "/". Compare fails if the root of one server was ever changed,
	// or if the two have not had the same number of sessions.
	Fresh bool
	// Patience is the time to wait for an expected frame; 0 means 30 s. No frame in
	// time is a difference from a frame.
	Patience time.Duration
	// Progress, if not nil, is called after every script.
	Progress func(Progress)
}

// Progress is the state of a comparison.
type Progress struct {
	Family                  string // the present one
	Operations, Differences int    // so far, in all families
}

// Compare plays the same scripts on two servers and compares every answer. The error is
// one that prevents the comparison, such as a lost server, and wraps ctx's error if ctx
// is done; the report then has the results so far.
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

// chooseFamilies returns the families to play.
func chooseFamilies(opts Options) ([]string, error) {
	all := Families()
	for _, name := range opts.Families {
		if name != randomFamily && !slices.Contains(all, name) {
			return nil, fmt.Errorf("there is no family %q; expected one of %s",
				name, strings.Join(append(all, randomFamily), ", "))
		}
	}
	wanted := func(name string) bool {
		return len(opts.Families) == 0 || slices.Contains(opts.Families, name)
	}
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
	for _, s := range fixedScripts()[name] {
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

// script plays one script and adds its result to the report.
func (c *comparison) script(ctx context.Context, s script, row *FamilyReport) error {
	result, err := c.pair.play(ctx, s)
	row.add(result)
	if result.diff != nil {
		c.addDifference(row, *result.diff)
	}
	c.progress(row.Name)
	return err
}

// add counts a script.
func (f *FamilyReport) add(result played) {
	f.Scripts++
	f.Operations += result.compared
	f.Void += result.reached - result.compared
}

func (c *comparison) addDifference(row *FamilyReport, d Difference) {
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
