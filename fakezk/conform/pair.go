package conform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// A pair is the two servers, each with a client that cleans up.
type pair struct {
	targets  [2]Target
	cleaners [2]*cleaner
	fresh    bool
	able     map[string]bool // what was found out
}

func newPair(ctx context.Context, a, b Target, fresh bool) (*pair, error) {
	p := &pair{targets: [2]Target{a, b}, fresh: fresh, able: map[string]bool{}}
	for i, t := range p.targets {
		c, err := newCleaner(ctx, t, fresh)
		if err != nil {
			p.close()
			return nil, err
		}
		p.cleaners[i] = c
	}
	if at := [2]int64{p.cleaners[0].start, p.cleaners[1].start}; fresh && at[0] != at[1] {
		p.close()
		return nil, fmt.Errorf("not two fresh servers: %s is at zxid %d, %s at %d", a.Name, at[0], b.Name, at[1])
	}
	return p, nil
}

func (p *pair) close() {
	for _, c := range p.cleaners {
		if c != nil {
			c.link.close()
		}
	}
}

// leave deletes what scripts have left, and gives a root that was ours its first
// data and ACL again.
func (p *pair) leave(ctx context.Context) error {
	_, err := both(p, func(i int) (struct{}, error) {
		err := p.cleaners[i].clean(ctx)
		if err == nil && p.fresh {
			err = p.cleaners[i].restoreRoot(ctx)
		}
		return struct{}{}, err
	})
	return err
}

// both does something with each server at the same time.
func both[T any](p *pair, do func(i int) (T, error)) ([2]T, error) {
	var results [2]T
	var errs [2]error
	done := make(chan struct{})
	go func() {
		defer close(done)
		results[1], errs[1] = do(1)
	}()
	results[0], errs[0] = do(0)
	<-done
	for i, err := range errs {
		if err != nil {
			return results, fmt.Errorf("%s: %w", p.targets[i].Name, err)
		}
	}
	return results, nil
}

// play plays a script on both servers, step by step, to the first difference.
// It returns how many steps were compared.
func (p *pair) play(ctx context.Context, s script) (int, *Difference, error) {
	players, err := p.players(ctx, s)
	if err != nil {
		return 0, nil, err
	}
	defer players[0].abandon()
	defer players[1].abandon()
	diff, ops, err := p.steps(ctx, players, s)
	if err != nil {
		return ops, nil, err
	}
	ends, err := both(p, func(i int) (outcome, error) { return players[i].end(ctx) })
	if err != nil {
		return ops, nil, err
	}
	if diff == nil && !slices.Equal(ends[0], ends[1]) {
		diff = s.difference(len(s.steps), ends)
		diff.Steps = append(diff.Steps, "# at the end, on all connections")
	}
	return ops, diff, nil
}

// players gets both servers ready for a script.
func (p *pair) players(ctx context.Context, s script) ([2]*player, error) {
	return both(p, func(i int) (*player, error) {
		if err := p.cleaners[i].clean(ctx); err != nil {
			return nil, err
		}
		if err := p.cleaners[i].makeRoot(ctx); err != nil {
			return nil, err
		}
		start, err := p.cleaners[i].zxid(ctx)
		if p.fresh && s.family == freshFamily {
			start = 0
		}
		return newPlayer(p.targets[i], start), err
	})
}

// steps plays the steps until one differs.
func (p *pair) steps(ctx context.Context, players [2]*player, s script) (*Difference, int, error) {
	for n, step := range s.steps {
		seen, err := both(p, func(i int) (outcome, error) { return players[i].play(ctx, step) })
		if err != nil {
			return nil, n, fmt.Errorf("%s: %s: %s: %w", s.family, s.name, step.text, err)
		}
		if !slices.Equal(seen[0], seen[1]) {
			return s.difference(n+1, seen), n + 1, nil
		}
	}
	return nil, len(s.steps), nil
}

// difference describes the difference at the last of n steps.
func (s script) difference(n int, seen [2]outcome) *Difference {
	d := &Difference{Family: s.family, Script: s.name, A: seen[0], B: seen[1]}
	for i, step := range s.steps[:n] {
		if i == 0 || step.number == 0 || step.number != s.steps[i-1].number {
			d.Steps = append(d.Steps, cmp.Or(step.line, step.text))
		}
	}
	if last := s.steps[n-1]; last.line != "" && last.line != last.text {
		d.Steps = append(d.Steps, "# that is: "+last.text)
	}
	return d
}
