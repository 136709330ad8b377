package fakezk_test

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

	"github.com/zksim/zksim/fakezk"
)

// drawing are hands that all wake at the same instants, draw names and send equal
// requests, each in a goroutine that it starts.
func drawing(inTurn bool) fakezk.World {
	acl := zk.WorldACL(zk.PermAll)
	return fakezk.World{Seed: 3, Clients: []fakezk.Actor{actor("a", func(_ context.Context, c *fakezk.Client) {
		conn := c.Conn()
		conn.Create("/n", nil, 0, acl)
		start := time.Now().Add(time.Second).Truncate(time.Second)
		c.Hands(4, func(h *fakezk.Hand) {
			for round := range 5 {
				time.Sleep(time.Until(start.Add(time.Duration(round) * time.Second)))
				done := make(chan string)
				go func() {
					var name [8]byte
					if inTurn {
						fakezk.AwaitTurn("Create")
						defer fakezk.Dawdle()
					}
					rand.Read(name[:])
					path, err := conn.Create("/n/x-", nil, zk.FlagSequence, acl)
					done <- fmt.Sprintf("%s %v for %x", path, err, name)
				}()
				h.Note("has made %s", <-done)
			}
		})
	})}}
}

func TestHandsOfOneSeedHaveOneTrace(t *testing.T) {
	for range 20 {
		if !runTwice(t, drawing(true)) {
			return
		}
	}
}

// TestHandsOutOfTurnRace is the control.
func TestHandsOutOfTurnRace(t *testing.T) {
	first := runWorld(t, drawing(false)).Trace.Hash()
	for range 200 {
		if runWorld(t, drawing(false)).Trace.Hash() != first {
			return
		}
	}
	t.Error("the traces are equal: nothing raced")
}

func TestHandsHaveNamesAndPanics(t *testing.T) {
	var mu sync.Mutex
	var names []string
	r := runWorld(t, fakezk.World{Clients: []fakezk.Actor{actor("a", func(ctx context.Context, c *fakezk.Client) {
		c.Hands(3, func(h *fakezk.Hand) {
			if h.Sleep(ctx, time.Second) != nil {
				return
			}
			h.Note("number %d", h.Number())
			mu.Lock()
			names = append(names, h.Name()) // each at an instant of its own
			mu.Unlock()
			if h.Number() == 2 {
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
