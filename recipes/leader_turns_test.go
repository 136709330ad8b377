package recipes_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
)

// The classic demonstration of a leader selector: ten candidates with auto-requeue lead for one to
// five seconds each and stand again, on one connection as in Curator's example, and on ten.
const (
	candidates = 10
	atLeast    = 30 // turns
	playTime   = 2 * time.Minute
	takeOver   = 50 * time.Millisecond // from one leader to the next
)

// stage has the turns of the candidates.
type stage struct {
	mu    sync.Mutex
	turns []stageTurn
}

type stageTurn struct {
	who        int
	begin, end time.Duration // end 0: leads yet
	epoch      int64
}

// lead is one turn.
func (s *stage) lead(ctx context.Context, c *sim.Client, i int, epoch int64) {
	s.mu.Lock()
	turn := len(s.turns)
	s.turns = append(s.turns, stageTurn{who: i, begin: c.Now(), epoch: epoch})
	s.mu.Unlock()
	c.Note("%d becomes leader", i)
	hold := time.Second + time.Duration((turn*7+i*3)%9)*500*time.Millisecond
	if err := c.Sleep(ctx, hold); err != nil {
		c.Note("%d is told to stop: %v", i, context.Cause(ctx))
	}
	c.Note("%d leaves", i)
	s.mu.Lock()
	s.turns[turn].end = c.Now()
	s.mu.Unlock()
}

// play lets candidates start one after the other and stand until the play is over.
func (s *stage) play(ctx context.Context, c *sim.Client, who ...int) {
	note := func(err error) {
		if err != nil {
			c.Note("%v", err)
		}
	}
	var selectors []*recipes.LeaderSelector
	for _, i := range who {
		note(c.Sleep(ctx, time.Duration(i+1)*100*time.Millisecond-c.Now()))
		lead := recipes.LeaderFunc(func(ctx context.Context) {
			s.lead(ctx, c, i, recipes.LeaderEpoch(ctx))
		})
		sel := recipes.NewLeaderSelector(c.Conn(), "/master", fmt.Sprint("candidate-", i), lead)
		note(sel.AutoRequeue().Start())
		selectors = append(selectors, sel)
	}
	for at, sel := range selectors {
		note(c.Sleep(ctx, playTime+time.Duration(who[at])*100*time.Millisecond-c.Now()))
		note(sel.Close(ctx))
	}
}

// problem returns the fault of the turns, or "": they must follow the order in which the candidates
// came and requeued, and each must begin soon.
func (s *stage) problem() string {
	if len(s.turns) < atLeast {
		return fmt.Sprintf("%d turns, expected %d at least", len(s.turns), atLeast)
	}
	for i, t := range s.turns[:atLeast] {
		last := stageTurn{end: t.begin, epoch: -1}
		if i > 0 {
			last = s.turns[i-1]
		}
		if t.who != i%candidates || t.epoch <= last.epoch ||
			t.end < t.begin+time.Second || t.end > t.begin+5*time.Second+time.Millisecond ||
			t.begin < last.end || t.begin > last.end+takeOver {
			return fmt.Sprintf("turn %d is %+v, after %+v", i, t, last)
		}
	}
	return ""
}

// herd returns the fault of the notifications, or "": each release wakes at most one candidate
// besides the releasing one, and nothing else wakes a candidate. When candidates leave for good,
// the watches of those in the middle stay, and are not counted.
func herd(res *trace.Result) string {
	told := map[string]int{} // by path and client
	for _, e := range res.Events {
		key := e.Path + " " + e.Client
		told[key]++
		if e.Type != "NodeDeleted" || !strings.HasPrefix(e.Path, "/master/") || told[key] > 1 {
			return fmt.Sprintf("%s is notified of %s of %s", e.Client, e.Type, e.Path)
		}
	}
	releases := 0
	for _, c := range res.Changes {
		if c.Kind != trace.NodeDeleted || !strings.HasPrefix(c.Path, "/master/") ||
			c.Time > playTime {
			continue
		}
		if releases++; c.Notified > 1 {
			return fmt.Sprintf("the release of %s wakes %d", c.Path, c.Notified)
		}
	}
	if releases < atLeast {
		return fmt.Sprintf("%d releases", releases)
	}
	return ""
}

// onStage makes clients of a function that is called for each candidate.
func onStage(run func(ctx context.Context, c *sim.Client, i int)) (all []sim.Actor) {
	for i := range candidates {
		all = append(all, sim.Actor{
			Name: fmt.Sprint("client-", i),
			Run:  func(ctx context.Context, c *sim.Client) { run(ctx, c, i) },
		})
	}
	return all
}

func TestTenCandidatesAlternate(t *testing.T) {
	for name, scene := range map[string]func(s *stage) []sim.Actor{
		"on one connection": func(s *stage) []sim.Actor {
			return []sim.Actor{{Name: "all", Run: func(ctx context.Context, c *sim.Client) {
				s.play(ctx, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
			}}}
		},
		"on ten connections": func(s *stage) []sim.Actor {
			return onStage(func(ctx context.Context, c *sim.Client, i int) { s.play(ctx, c, i) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(2) {
				s := &stage{}
				w := sim.World{Seed: seed, Clients: scene(s)}
				res, err := w.Run()
				check.OK(t, err)
				for _, problem := range []string{
					s.problem(), herd(res), res.Leaked, res.Frozen,
					strings.Join(leftovers(res, "/master"), " "),
				} {
					if problem != "" {
						t.Fatalf("seed %d: %s\n%s", seed, problem, res.Trace)
					}
				}
			}
		})
	}
}

// TestJudgesOfTurnsCanFail: ten candidates that take turns by a HerdLock come in any order, and
// each release wakes all of them.
func TestJudgesOfTurnsCanFail(t *testing.T) {
	s := &stage{}
	w := sim.World{Clients: onStage(func(ctx context.Context, c *sim.Client, i int) {
		l := classic.NewHerdLock(c.Conn(), "/master/lock")
		for c.Now() < playTime && l.Lock(ctx) == nil {
			s.lead(ctx, c, i, l.Token())
			if l.Unlock(ctx) != nil {
				return
			}
		}
	})}
	res, err := w.Run()
	check.OK(t, err)
	if s.problem() == "" || herd(res) == "" {
		t.Errorf("of the order: %q, of the herd: %q", s.problem(), herd(res))
	}
}
