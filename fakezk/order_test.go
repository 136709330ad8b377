package fakezk_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
)

// racers each create the same node, and then one of their own; note tells who
// was first.
func racers(names ...string) []fakezk.Actor {
	var actors []fakezk.Actor
	for _, name := range names {
		actors = append(actors, actor(name, func(ctx context.Context, c *fakezk.Client) {
			for _, path := range []string{"/race", "/" + name} {
				_, err := c.Conn().Create(path, nil, 0, zk.WorldACL(zk.PermAll))
				c.Note("%s: %v", path, err)
			}
		}))
	}
	return actors
}

// requestOrder is the order of a run's requests, in one line.
func requestOrder(r *fakezk.Result) string {
	var order []string
	for _, p := range r.Requests {
		order = append(order, p.Client+p.Path)
	}
	return strings.Join(order, " ")
}

// TestChoicesReachEveryOrder goes through all choices there are, without
// skipping any, and sees each order of the four requests in which each client's
// own come one after the other.
func TestChoicesReachEveryOrder(t *testing.T) {
	orders := map[string]bool{}
	open := [][]int{nil}
	for runs := 0; len(open) > 0; runs++ {
		if runs > 20_000 {
			t.Fatal("no end of choices")
		}
		numbers := open[len(open)-1]
		open = open[:len(open)-1]
		w := fakezk.World{Clients: racers("a", "b"), Schedule: fakezk.Schedule{Kind: fakezk.Choices, Numbers: numbers}, Settle: time.Millisecond}
		r := runWorld(t, w)
		orders[requestOrder(r)] = true
		way := slices.Clone(numbers)
		for i := len(numbers); i < min(len(r.Decisions), 9); i++ {
			for n := 1; n < len(r.Decisions[i].Candidates); n++ {
				open = append(open, append(slices.Clone(way), n))
			}
			way = append(way, r.Decisions[i].Picked)
		}
	}
	if len(orders) != 6 {
		t.Errorf("saw the orders %v; expected 6", orders)
	}
}

// TestChoicesAreFollowed: the same choices make the same trace, and what is
// recorded is what was asked for.
func TestChoicesAreFollowed(t *testing.T) {
	w := fakezk.World{Clients: racers("a", "b"), Schedule: fakezk.Schedule{Kind: fakezk.Choices, Numbers: []int{1, 0, 1, 1}}}
	if !runTwice(t, w) {
		return
	}
	r := runWorld(t, w)
	for i, n := range w.Schedule.Numbers {
		d := r.Decisions[i]
		if d.Picked != n {
			t.Errorf("decision %d picked %d; expected %d of %v", i, d.Picked, n, d.Candidates)
		}
		if len(d.Candidates) < 2 {
			t.Errorf("decision %d had nothing to decide: %v", i, d.Candidates)
		}
	}
}

// TestPrioritiesStarveUntilTheyChange: whoever has the highest priority does all it
// wants to first, unless it falls behind.
func TestPrioritiesStarveUntilTheyChange(t *testing.T) {
	orders := map[string]int{}
	for seed := range uint64(20) {
		w := fakezk.World{Seed: seed, Clients: racers("a", "b"), Schedule: fakezk.Schedule{Kind: fakezk.Priorities}}
		orders[requestOrder(runWorld(t, w))]++
	}
	for _, order := range []string{"a/race a/a b/race b/b", "b/race b/b a/race a/a"} {
		if orders[order] == 0 {
			t.Errorf("20 seeds never had the order %q, but %v", order, orders)
		}
	}
	for changes, want := range []int{2, 4, 6} {
		seen := map[string]bool{}
		for seed := range uint64(200) {
			var numbers []int
			for i := range changes {
				numbers = append(numbers, 1+int(seed/10)+i*(1+int(seed%10)))
			}
			if seed%2 > 0 {
				slices.Reverse(numbers) // it matters who has fallen how far behind
			}
			w := fakezk.World{Seed: seed, Clients: racers("a", "b"), Schedule: fakezk.Schedule{Kind: fakezk.Priorities, Numbers: numbers}}
			seen[requestOrder(runWorld(t, w))] = true
		}
		if len(seen) != want {
			t.Errorf("with %d changes of priority there are the orders %v; expected %d", changes, seen, want)
		}
	}
}

func TestSchedulesAreDeterministicUnderFaults(t *testing.T) {
	for seed := range uint64(40) {
		for _, schedule := range []fakezk.Schedule{
			{Kind: fakezk.Priorities, Numbers: []int{3, 9}},
			{Kind: fakezk.Choices, Numbers: []int{1, 0, 2, 1, 0, 1}},
		} {
			plan := []fakezk.Fault{
				{Kind: fakezk.Stall, Client: "a", Request: 1 + int(seed%5), For: time.Second},
				{Kind: fakezk.CutMidFrame, Client: "b", Request: 2},
				{Kind: fakezk.StallMidFrame, Client: "b", Request: 3, For: 3 * time.Second},
				{Kind: fakezk.Blackhole, Client: "a", Request: 4, For: 2 * time.Second},
			}
			w := fakezk.World{Seed: seed, Clients: lockers(3, 2), Plan: plan[seed%2:], Schedule: schedule}
			for i := range w.Clients {
				w.Clients[i].Name = string(rune('a' + i))
			}
			if !runTwice(t, w) {
				return
			}
		}
	}
}

func TestScheduleText(t *testing.T) {
	for _, s := range []fakezk.Schedule{
		{}, {Kind: fakezk.Priorities}, {Kind: fakezk.Priorities, Numbers: []int{3, 17}}, {Kind: fakezk.Choices, Numbers: []int{0, 2, 1}},
	} {
		again, err := fakezk.ParseSchedule(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q reads back as %q, %v", s, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                `schedule is empty; expected latencies, priorities or choices`,
		"latencies 3":     `schedule latencies takes no numbers, got [3]`,
		"luck":            `schedule "luck"; expected latencies, priorities or choices`,
		"choices 1 x":     `schedule "choices 1 x": "x" is no number`,
		"choices -1":      `schedule choices: -1; expected numbers from 0`,
		"priorities 0":    `schedule priorities: 0; expected numbers from 1`,
		"priorities 9e99": `schedule "priorities 9e99": "9e99" is no number`,
	} {
		if _, err := fakezk.ParseSchedule(text); fmt.Sprint(err) != want {
			t.Errorf("%q: %v; expected %s", text, err, want)
		}
	}
	w := fakezk.World{Schedule: fakezk.Schedule{Kind: fakezk.Choices, Numbers: []int{-1}}}
	if _, err := w.Run(); err == nil {
		t.Error("a World takes a schedule that makes no sense")
	}
}

// TestCommuting: what is skipped because it commutes must make no difference.
func TestCommuting(t *testing.T) {
	deliveries := map[string]fakezk.Delivery{}
	all := fakezk.World{
		Nodes:    map[string]string{"/p": "", "/q": ""},
		Schedule: fakezk.Schedule{Kind: fakezk.Choices},
		Clients: []fakezk.Actor{
			asker("a1", func(c *zk.Conn) error { _, _, err := c.Get("/p"); return err }),
			asker("a2", func(c *zk.Conn) error { _, err := c.Set("/p", nil, -1); return err }),
			asker("a3", func(c *zk.Conn) error { _, _, err := c.Get("/q"); return err }),
			asker("a4", func(c *zk.Conn) error { _, _, err := c.Children("/p"); return err }),
			asker("a5", func(c *zk.Conn) error { _, err := c.Create("/p/x", nil, 0, zk.WorldACL(zk.PermAll)); return err }),
			asker("a6", func(c *zk.Conn) error { _, err := c.Sync("/p"); return err }),
		},
	}
	names := map[string]string{"a1": "get /p", "a2": "set /p", "a3": "get /q", "a4": "list /p", "a5": "create /p/x", "a6": "sync /p"}
	for _, d := range runWorld(t, all).Decisions {
		for _, c := range d.Candidates {
			if c.Up && c.Number == 2 { // after the handshake
				deliveries[names[c.Client]] = c
			}
		}
	}
	for _, c := range []struct {
		a, b     string
		commutes bool
	}{
		{"get /p", "get /q", true}, {"get /p", "list /p", true}, {"set /p", "get /q", true}, {"sync /p", "set /p", true},
		{"get /p", "set /p", false}, {"list /p", "create /p/x", false}, {"get /p", "create /p/x", false}, {"set /p", "create /p/x", false},
		{"get /q", "create /p/x", true},
	} {
		a, b := deliveries[c.a], deliveries[c.b]
		if a.Client == "" || b.Client == "" {
			t.Fatalf("%s or %s was never a candidate: %v", c.a, c.b, deliveries)
		}
		if a.Commutes(b) != c.commutes || b.Commutes(a) != c.commutes {
			t.Errorf("%s and %s commute: %v; expected %v", c.a, c.b, a.Commutes(b), c.commutes)
		}
	}
}

// asker asks once, at the same time as all others.
func asker(name string, ask func(*zk.Conn) error) fakezk.Actor {
	return actor(name, func(ctx context.Context, c *fakezk.Client) {
		conn := c.Conn()
		for conn.State() != zk.StateHasSession {
			if c.Sleep(ctx, time.Millisecond) != nil {
				return
			}
		}
		if c.Sleep(ctx, time.Second-time.Duration(c.Now())) == nil {
			c.Note("%v", ask(conn))
		}
	})
}

// TestASequentialNodeMayBeAnyThatBeginsLikeIt: its creation does not commute with a
// look at what may be its name, but with one at another node.
func TestASequentialNodeMayBeAnyThatBeginsLikeIt(t *testing.T) {
	for _, path := range []string{"/n-0000000000", "/m"} {
		commutes := path == "/m"
		r := runWorld(t, fakezk.World{
			Schedule: fakezk.Schedule{Kind: fakezk.Choices}, Nodes: map[string]string{"/m": ""},
			Clients: []fakezk.Actor{
				actor("a", func(_ context.Context, c *fakezk.Client) {
					_, err := c.Conn().Create("/n-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
					c.Note("create: %v", err)
				}),
				actor("b", func(_ context.Context, c *fakezk.Client) {
					_, _, err := c.Conn().Exists(path)
					c.Note("exists: %v", err)
				}),
			},
		})
		met := false
		for _, d := range r.Decisions {
			if len(d.Candidates) != 2 || len(d.Candidates[0].Numbered) == 0 || len(d.Candidates[1].Reads) == 0 {
				continue
			}
			met = true
			a, b := d.Candidates[0], d.Candidates[1]
			if a.Commutes(b) != commutes || b.Commutes(a) != commutes {
				t.Errorf("create /n- commutes with exists %s: %v", path, a.Commutes(b))
			}
		}
		if !met {
			t.Errorf("exists %s never met create: %v", path, r.Decisions)
		}
	}
}
