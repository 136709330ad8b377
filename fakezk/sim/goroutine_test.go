package sim

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
	"github.com/zksim/zksim/internal/check"
)

// drawing has goroutines that all wake at the same instants, draw names and send equal requests,
// each in a goroutine that it starts.
func drawing(inTurn bool) World {
	return World{Seed: 3,
		Clients: []Actor{actor("a", func(_ context.Context, c *Client) {
			conn := c.Conn()
			conn.Create("/n", nil, 0, worldACL)
			start := time.Now().Add(time.Second).Truncate(time.Second)
			c.Goroutines(4, func(g *Goroutine) {
				for round := range 5 {
					time.Sleep(time.Until(start.Add(time.Duration(round) * time.Second)))
					done := make(chan string)
					go func() {
						var name [8]byte
						if inTurn {
							AwaitTurn("Create")
							defer Linger()
						}
						rand.Read(name[:])
						path, err := conn.Create("/n/x-", nil, zk.FlagSequence, worldACL)
						done <- fmt.Sprintf("%s %v for %x", path, err, name)
					}()
					g.Note("has made %s", <-done)
				}
			})
		})}}
}

// coinciding has goroutines that sleep, each for other times, to the same instants, and send equal
// requests there.
func coinciding(inTurn bool) World {
	return World{Schedule: Schedule{Kind: Priorities},
		Clients: []Actor{actor("a", func(_ context.Context, c *Client) {
			conn := c.Conn()
			conn.Create("/n", nil, 0, worldACL)
			start := time.Now()
			c.Goroutines(4, func(g *Goroutine) {
				for round := range 5 {
					back := time.Duration(g.Number()) * time.Microsecond
					time.Sleep(time.Until(start.Add(time.Duration(round+1)*time.Second - back)))
					if inTurn {
						AwaitTurn("Create")
					} else {
						time.Sleep(back)
					}
					path, err := conn.Create("/n/x-", nil, zk.FlagSequence, worldACL)
					g.Note("has made %s %v", path, err)
				}
			})
		})}}
}

// TestGoroutinesInTurnHaveOneTrace, and without turns they race: pauses of different microseconds
// do not replace turns. In a program of zksim go nothing races.
func TestGoroutinesInTurnHaveOneTrace(t *testing.T) {
	for name, world := range map[string]func(inTurn bool) World{
		"drawing": drawing, "coinciding": coinciding,
	} {
		for range 20 {
			if !runTwice(t, world(true)) {
				break
			}
		}
		first, raced := mustRun(t, world(false)).Trace.Hash(), false
		for n := 0; n < 200 && !raced; n++ {
			raced = mustRun(t, world(false)).Trace.Hash() != first
		}
		check.Equal(t, raced, !Overlaid, "%s: goroutines without turns race", name)
	}
}

// TestGoroutinesWakeOneByOne, although all sleep to the same instant, and nothing else orders their
// next steps.
func TestGoroutinesWakeOneByOne(t *testing.T) {
	for range 50 {
		var mu sync.Mutex
		var names []string
		mustRun(t,
			World{Clients: []Actor{actor("a", func(ctx context.Context, c *Client) {
				end := c.Now() + time.Second
				c.Goroutines(4, func(g *Goroutine) {
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
	r := mustRun(t, World{Clients: []Actor{actor("a",
		func(ctx context.Context, c *Client) {
			c.Goroutines(3, func(g *Goroutine) {
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
	check.Contains(t, r.Trace.String(), "a.2      number 1", "trace: %s", r.Trace)
}
