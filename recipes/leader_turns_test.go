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
	"github.com/zksim/zksim/recipes"
)

// The classic demonstration of a leader selector: ten candidates with auto-requeue lead for one to
// five seconds each and stand again, on one connection as in Curator's example, and on ten.
const (
	candidates = 10
	atLeast    = 30 // turns
	playTime   = 2 * time.Minute
	takeOver   = 50 * time.Millisecond // from one leader to the next
)

// stage has the candidates and their turns.
type stage struct {
	mu    sync.Mutex
	turns []stageTurn
}

type stageTurn struct {
	who        int
	begin, end time.Duration // end 0: leads yet
	epoch      int64
}

// candidate is the i-th of ten.
func (s *stage) candidate(c *sim.Client, i int) *recipes.LeaderSelector {
	lead := recipes.LeaderFunc(func(ctx context.Context) {
		s.lead(ctx, c, i, recipes.LeaderEpoch(ctx))
	})
	name := fmt.Sprint("candidate-", i)
	return recipes.NewLeaderSelector(c.Conn(), "/master", name, lead).AutoRequeue()
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
	pause := func(d time.Duration) {
		if err := c.Sleep(ctx, d); err != nil {
			c.Note("the World ends: %v", err)
		}
	}
	var selectors []*recipes.LeaderSelector
	for _, i := range who {
		pause(time.Duration(i+1)*100*time.Millisecond - c.Now())
		sel := s.candidate(c, i)
		if err := sel.Start(); err != nil {
			c.Note("start: %v", err)
		}
		selectors = append(selectors, sel)
	}
	for at, sel := range selectors {
		pause(playTime + time.Duration(who[at])*100*time.Millisecond - c.Now())
		if err := sel.Close(ctx); err != nil {
			c.Note("close: %v", err)
		}
	}
}

// problem returns the fault of the turns, or "": they must follow the order in which the candidates
// came and requeued, and each must begin soon.
func (s *stage) problem() string {
	if len(s.turns) < atLeast {
		return fmt.Sprintf("%d turns, expected %d at least", len(s.turns), atLeast)
	}
	for i, t := range s.turns[:atLeast] {
		switch {
		case t.who != i%candidates:
			return fmt.Sprintf("turn %d is that of %d; out of order", i, t.who)
		case t.end < t.begin+time.Second || t.end > t.begin+5*time.Second+time.Millisecond:
			return fmt.Sprintf("turn %d lasts from %v to %v", i, t.begin, t.end)
		case i == 0:
		case t.begin < s.turns[i-1].end:
			return fmt.Sprintf(
				"turn %d begins at %v, before %v, the end of the last", i, t.begin,
				s.turns[i-1].end,
			)
		case t.begin > s.turns[i-1].end+takeOver:
			return fmt.Sprintf(
				"turn %d begins at %v, long after %v, the end of the last", i, t.begin,
				s.turns[i-1].end,
			)
		case t.epoch <= s.turns[i-1].epoch:
			return fmt.Sprintf("turn %d has epoch %d after %d", i, t.epoch, s.turns[i-1].epoch)
		}
	}
	return ""
}

// longest is the longest time from one leader to the next.
func (s *stage) longest() (longest time.Duration) {
	for i := 1; i < min(len(s.turns), atLeast); i++ {
		longest = max(longest, s.turns[i].begin-s.turns[i-1].end)
	}
	return longest
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
			return fmt.Sprintf("%s is notified of %s of %s: %d times", e.Client, e.Type,
				e.Path, told[key])
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

// scenes are the two ways to run the play.
var scenes = map[string]func(s *stage) []sim.Actor{
	"on one connection": func(s *stage) []sim.Actor {
		return []sim.Actor{{Name: "all", Run: func(ctx context.Context, c *sim.Client) {
			s.play(ctx, c, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
		}}}
	},
	"on ten connections": func(s *stage) (all []sim.Actor) {
		for i := range candidates {
			all = append(all, sim.Actor{Name: fmt.Sprint("client-", i), Run: func(
				ctx context.Context, c *sim.Client,
			) {
				s.play(ctx, c, i)
			}})
		}
		return all
	},
}

func TestTenCandidatesAlternate(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var longest time.Duration
			for seed := range seeds() / 5 {
				var hashes [2]string
				for i := range hashes {
					s := &stage{}
					w := sim.World{Seed: seed, Clients: scene(s)}
					res, err := w.Run()
					if err != nil {
						t.Fatal(err)
					}
					hashes[i] = res.Trace.Hash()
					longest = max(longest, s.longest())
					for _, problem := range []string{
						s.problem(), herd(res), res.Leaked, res.Frozen,
						strings.Join(leftovers(res, "/master"), " "),
					} {
						if problem != "" {
							t.Fatalf("seed %d: %s\n%s", seed, problem, res.Trace)
						}
					}
				}
				if hashes[0] != hashes[1] {
					t.Errorf("seed %d: two traces", seed)
				}
			}
			t.Logf("at most %v from one leader to the next", longest)
		})
	}
}

// TestJudgesOfTurnsCanFail: ten candidates that take turns by a HerdLock come in any order, and
// each release wakes all of them.
func TestJudgesOfTurnsCanFail(t *testing.T) {
	s := &stage{}
	w := sim.World{}
	for i := range candidates {
		w.Clients = append(w.Clients, sim.Actor{Name: fmt.Sprint("client-", i), Run: func(
			ctx context.Context, c *sim.Client,
		) {
			l := recipes.NewHerdLock(c.Conn(), "/master/lock")
			for c.Now() < playTime {
				if err := l.Lock(ctx); err != nil {
					return
				}
				s.lead(ctx, c, i, l.Token())
				if err := l.Unlock(ctx); err != nil {
					return
				}
			}
		}})
	}
	res, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.problem(); !strings.Contains(got, "out of order") {
		t.Errorf("of the order: %q", got)
	}
	if got := herd(res); got == "" {
		t.Error("nothing of the herd")
	}
}

func TestProblemsOfTurnsAreTold(t *testing.T) {
	good := func() *stage {
		s := &stage{}
		for i := range atLeast {
			begin := time.Duration(i) * 4 * time.Second
			s.turns = append(
				s.turns, stageTurn{
					who: i % candidates, begin: begin, end: begin + 4*time.Second - takeOver,
					epoch: int64(i),
				},
			)
		}
		return s
	}
	if got := good().problem(); got != "" {
		t.Errorf("good turns: %s", got)
	}
	for want, spoil := range map[string]func(s *stage){
		"turns, expected":   func(s *stage) { s.turns = s.turns[1:] },
		"out of order":      func(s *stage) { s.turns[7].who = 8 },
		"lasts":             func(s *stage) { s.turns[7].end = s.turns[7].begin },
		"before":            func(s *stage) { s.turns[7].begin = s.turns[6].end - 1 },
		"long after":        func(s *stage) { s.turns[7].begin = s.turns[6].end + 2*takeOver },
		"has epoch 6 after": func(s *stage) { s.turns[7].epoch = 6 },
	} {
		s := good()
		if spoil(s); !strings.Contains(s.problem(), want) {
			t.Errorf("%q; want %q", s.problem(), want)
		}
	}
}
