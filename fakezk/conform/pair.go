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
	able     map[string]bool // the tested abilities
	newest   [2]int64        // the id of each server's last session
}

func newPair(ctx context.Context, a, b Target, fresh bool) (*pair, error) {
	p := &pair{targets: [2]Target{a, b}, fresh: fresh, able: map[string]bool{}}
	for i, t := range p.targets {
		c, err := newCleaner(ctx, t, fresh)
		if err != nil {
			p.close(ctx)
			return nil, err
		}
		p.cleaners[i], p.newest[i] = c, c.session
	}
	zxidA, zxidB := p.cleaners[0].start.zxid, p.cleaners[1].start.zxid
	if fresh && zxidA != zxidB {
		p.close(ctx)
		return nil, fmt.Errorf("not two fresh servers: %s is at zxid %d, %s at %d",
			a.Name, zxidA, b.Name, zxidB)
	}
	return p, nil
}

func (p *pair) close(ctx context.Context) {
	for _, c := range p.cleaners {
		if c != nil {
			c.close(ctx)
		}
	}
}

// leave deletes the nodes of scripts, and restores the root of fresh servers.
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

// both calls do for both servers concurrently.
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

// played is the result of a script.
type played struct {
	reached  int // number of steps, to the end or to the first difference
	compared int // number of those with a connection
	diff     *Difference
}

// play plays a script on both servers, step by step, to the first difference.
func (p *pair) play(ctx context.Context, s script) (played, error) {
	players, err := p.players(ctx, s)
	if err != nil {
		return played{}, err
	}
	defer func() {
		for i, player := range players {
			player.abandon(ctx)
			p.newest[i] = player.view.newest
		}
	}()
	result, err := p.steps(ctx, players, s)
	if err != nil {
		return result, err
	}
	ends, err := both(p, func(i int) (outcome, error) { return players[i].end(ctx) })
	if err == nil && result.diff == nil && !slices.Equal(ends[0], ends[1]) {
		result.diff = s.difference(len(s.steps), ends)
		result.diff.Steps = append(result.diff.Steps, "# at the end, when all sessions are closed")
	}
	return result, err
}

// players prepares both servers for a script.
func (p *pair) players(ctx context.Context, s script) ([2]*player, error) {
	return both(p, func(i int) (*player, error) {
		return p.cleaners[i].player(ctx, s, p.newest[i])
	})
}

// player prepares a server for a script. newest is the id of its last session.
func (c *cleaner) player(ctx context.Context, s script, newest int64) (*player, error) {
	if err := c.makeFreshRoot(ctx); err != nil {
		return nil, err
	}
	begin, err := c.mark(ctx)
	v := newView(begin.zxid, newClock(c.start, begin))
	v.newest = newest
	if c.fresh && s.family == freshFamily {
		v.start = 0
	}
	return newPlayer(c.t, v), err
}

// makeFreshRoot deletes the nodes of earlier scripts, and creates Root.
func (c *cleaner) makeFreshRoot(ctx context.Context) error {
	if err := c.clean(ctx); err != nil {
		return err
	}
	return c.makeRoot(ctx)
}

// steps plays the steps until one differs.
func (p *pair) steps(ctx context.Context, players [2]*player, s script) (played, error) {
	var result played
	for n, step := range s.steps {
		seen, err := both(p, func(i int) (outcome, error) { return players[i].play(ctx, step) })
		if err != nil {
			return result, fmt.Errorf("%s: %s: %s: %w", s.family, s.name, step.text, err)
		}
		result.reached++
		if !seen[0].didNothing() || !seen[1].didNothing() {
			result.compared++
		}
		if !step.agree(seen) {
			result.diff = s.difference(n+1, seen)
			return result, nil
		}
	}
	return result, nil
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
