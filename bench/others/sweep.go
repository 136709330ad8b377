package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
)

// faultKinds are those that are tried at every request.
var faultKinds = []fault.Kind{fault.DropRequest, fault.DropReply, fault.Expire}

const (
	// patience is how long nothing may happen before a run counts as stuck, and
	// confirmPatience the same for the repetition of a failure.
	patience        = 6 * time.Second
	confirmPatience = 12 * time.Second
	// tries is how often a point is played at most; to count, it must fail each time.
	tries = 3
)

// A sweep is the result of one recipe.
type sweep struct {
	library, recipe string
	version         string
	points          int // number of points that were reached
	survived        int // number of points survived, the flaky ones included
	flaky, failures []string
	broken          string   // the violation without a fault, or ""
	story           []string // of the first failure
}

// String is one line.
func (s *sweep) String() string {
	name := fmt.Sprintf("%s %s", s.library, s.recipe)
	if s.version != "" {
		name += " (" + s.version + ")"
	}
	if s.broken != "" {
		return fmt.Sprintf("%s: fails without a fault: %s", name, s.broken)
	}
	return fmt.Sprintf("%s: survived %d of %d fault points, %d of them flaky",
		name, s.survived, s.points, len(s.flaky))
}

// workerGroup is a set of workers for one library.
type workerGroup struct {
	library *library
	dir     string // of the drivers' sources
	workers []*worker
}

func newGroup(l *library, dir string, size int) *workerGroup {
	c := &workerGroup{library: l, dir: dir}
	for range size {
		c.workers = append(c.workers, &worker{group: c})
	}
	return c
}

// stop ends all drivers.
func (c *workerGroup) stop() {
	for _, w := range c.workers {
		w.stop()
	}
}

// sweep tries every point of a recipe.
func (c *workerGroup) sweep(ctx context.Context, rc *recipe) (*sweep, error) {
	s := &sweep{library: c.library.name, recipe: rc.name}
	points, err := c.workers[0].base(ctx, rc, s)
	if err != nil || s.broken != "" {
		return s, err
	}
	results := make([]result, len(points))
	todo := make(chan int)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, w := range c.workers {
		wg.Go(func() {
			for i := range todo {
				var err error
				if results[i], err = w.try(ctx, rc, points[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range points {
		select {
		case todo <- i:
		case <-ctx.Done():
		}
	}
	close(todo)
	wg.Wait()
	for i, r := range results {
		s.add(points[i], r)
	}
	return s, context.Cause(ctx)
}

// A result is the result of one point.
type result struct {
	reached, flaky bool
	bad            string
	story          []string
}

func (s *sweep) add(p point, r result) {
	switch {
	case !r.reached:
		return
	case r.flaky:
		s.flaky = append(s.flaky, fmt.Sprintf("%s: %s", p, r.bad))
		s.survived++
	case r.bad != "":
		s.failures = append(s.failures, fmt.Sprintf("%s: %s", p, r.bad))
		if s.story == nil {
			s.story = r.story
		}
	default:
		s.survived++
	}
	s.points++
}

// worker plays runs one after the other, with one driver until that is stuck.
type worker struct {
	group   *workerGroup
	driver  *driver
	version string // of the library, as the driver says
}

func (w *worker) stop() {
	if w.driver != nil {
		w.driver.kill()
		w.driver = nil
	}
}

// play plays one run.
func (w *worker) play(
	ctx context.Context, rc *recipe, p point, patience time.Duration,
) (*outcome, error) {
	if w.driver == nil {
		var err error
		if w.driver, err = w.group.library.start(w.group.dir); err != nil {
			return nil, err
		}
		w.version = w.driver.version
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, err := play(w.driver, rc, p, patience)
	if err != nil || out.stuck {
		w.stop()
	}
	return out, err
}

// base plays three times without a fault and lists the points of the longest run.
func (w *worker) base(ctx context.Context, rc *recipe, s *sweep) ([]point, error) {
	var most []requests
	for range tries {
		out, err := w.play(ctx, rc, point{}, patience)
		if err != nil {
			return nil, err
		}
		s.version = w.version
		if out.bad != "" {
			s.broken, s.story = out.bad, out.story
			return nil, nil
		}
		most = larger(most, out.requests)
	}
	var points []point
	for _, kind := range faultKinds {
		for _, r := range most {
			for n := range r.number {
				points = append(points, point{kind, r.client, r.op, n + 1})
			}
		}
	}
	return points, nil
}

// larger is the larger number of each operation; both lists have the same order.
func larger(a, b []requests) []requests {
	for i := range a {
		b[i].number = max(a[i].number, b[i].number)
	}
	return b
}

// try plays with one fault. A failure counts if it occurs each time.
func (w *worker) try(ctx context.Context, rc *recipe, p point) (result, error) {
	out, err := w.play(ctx, rc, p, patience)
	if err != nil {
		return result{}, err
	}
	r := result{reached: out.fired, bad: out.bad, story: out.story}
	for n := 1; n < tries && r.bad != ""; n++ {
		again, err := w.play(ctx, rc, p, confirmPatience)
		if err != nil {
			return result{}, err
		}
		if again.bad == "" {
			r.flaky = true
			return r, nil
		}
	}
	return r, nil
}
