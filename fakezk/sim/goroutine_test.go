package sim_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
)

// drawing has goroutines that all wake at the same instants, draw names and send equal requests,
// each in a goroutine that it starts.
func drawing(inTurn bool) sim.World {
	acl := zk.WorldACL(zk.PermAll)
	return sim.World{Seed: 3,
		Clients: []sim.Actor{actor("a", func(_ context.Context, c *sim.Client) {
			conn := c.Conn()
			conn.Create("/n", nil, 0, acl)
			start := time.Now().Add(time.Second).Truncate(time.Second)
			c.Goroutines(4, func(g *sim.Goroutine) {
				for round := range 5 {
					time.Sleep(time.Until(start.Add(time.Duration(round) * time.Second)))
					done := make(chan string)
					go func() {
						var name [8]byte
						if inTurn {
							sim.AwaitTurn("Create")
							defer sim.Linger()
						}
						rand.Read(name[:])
						path, err := conn.Create("/n/x-", nil, zk.FlagSequence, acl)
						done <- fmt.Sprintf("%s %v for %x", path, err, name)
					}()
					g.Note("has made %s", <-done)
				}
			})
		})}}
}

func TestGoroutinesOfOneSeedHaveOneTrace(t *testing.T) {
	for range 20 {
		if !runTwice(t, drawing(true)) {
			return
		}
	}
}

// TestGoroutinesOutOfTurnRace is the control.
func TestGoroutinesOutOfTurnRace(t *testing.T) {
	first := runWorld(t, drawing(false)).Trace.Hash()
	for range 200 {
		if runWorld(t, drawing(false)).Trace.Hash() != first {
			return
		}
	}
	t.Error("the traces are equal: nothing raced")
}

// coinciding has goroutines that sleep, each for other times, to the same instants, and send equal
// requests there.
func coinciding(inTurn bool) sim.World {
	acl := zk.WorldACL(zk.PermAll)
	return sim.World{Schedule: sim.Schedule{Kind: sim.Priorities},
		Clients: []sim.Actor{actor("a", func(_ context.Context, c *sim.Client) {
			conn := c.Conn()
			conn.Create("/n", nil, 0, acl)
			start := time.Now()
			c.Goroutines(4, func(g *sim.Goroutine) {
				for round := range 5 {
					back := time.Duration(g.Number()) * time.Microsecond
					time.Sleep(time.Until(start.Add(time.Duration(round+1)*time.Second - back)))
					if inTurn {
						sim.AwaitTurn("Create")
					} else {
						time.Sleep(back)
					}
					path, err := conn.Create("/n/x-", nil, zk.FlagSequence, acl)
					g.Note("has made %s %v", path, err)
				}
			})
		})}}
}

func TestGoroutinesHaveOneTraceWhateverTheySleep(t *testing.T) {
	for range 20 {
		if !runTwice(t, coinciding(true)) {
			return
		}
	}
}

// TestGoroutinesThatSleepToOneInstantRace is the control: pauses of different microseconds do not
// replace turns.
func TestGoroutinesThatSleepToOneInstantRace(t *testing.T) {
	first := runWorld(t, coinciding(false)).Trace.Hash()
	for range 200 {
		if runWorld(t, coinciding(false)).Trace.Hash() != first {
			return
		}
	}
	t.Error("the traces are equal: nothing raced")
}

// TestGoroutinesWakeOneByOne, although all sleep to the same instant, and nothing else orders their
// next steps.
func TestGoroutinesWakeOneByOne(t *testing.T) {
	for range 50 {
		var mu sync.Mutex
		var names []string
		runWorld(t,
			sim.World{Clients: []sim.Actor{actor("a", func(ctx context.Context, c *sim.Client) {
				end := c.Now() + time.Second
				c.Goroutines(4, func(g *sim.Goroutine) {
					if g.Sleep(ctx, end-c.Now()) == nil {
						mu.Lock()
						defer mu.Unlock()
						names = append(names, g.Name())
					}
				})
			})}})
		if want := []string{"a", "a.2", "a.3", "a.4"}; !slices.Equal(names, want) {
			t.Fatalf("they wake in the order %q", names)
		}
	}
}

func TestGoroutinesHaveNamesAndPanics(t *testing.T) {
	var mu sync.Mutex
	var names []string
	r := runWorld(t, sim.World{Clients: []sim.Actor{actor("a",
		func(ctx context.Context, c *sim.Client) {
			c.Goroutines(3, func(g *sim.Goroutine) {
				if g.Sleep(ctx, time.Second) != nil {
					return
				}
				g.Note("number %d", g.Number())
				mu.Lock()
				names = append(names, g.Name()) // each at an instant of its own
				mu.Unlock()
				if g.Number() == 2 {
					panic("no such luck")
				}
			})
		})}})
	if want := []string{"a", "a.2", "a.3"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if len(r.Panics) != 1 || !strings.Contains(r.Panics[0], "client a.3: panic: no such luck") {
		t.Errorf("panics %q", r.Panics)
	}
	if !strings.Contains(r.Trace.String(), "a.2      number 1") {
		t.Errorf("trace:\n%s", r.Trace)
	}
}
