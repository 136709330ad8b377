// Package service is ordinary code, which knows nothing of zksim. TestAnyGo runs its tests by
// zksim go test, and some by go test.
package service

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
)

// A store dials by the name of a host, and holds a mutex over its requests.
type store struct {
	mu   sync.Mutex
	conn *zk.Conn
}

func open() (*store, error) {
	conn, _, err := zk.Connect([]string{"zk1.prod.example:2181"}, 10*time.Second,
		zk.WithLogInfo(false))
	return &store{conn: conn}, err
}

func (s *store) put(path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
	return err
}

// TestTimePasses: a request that stalls for three seconds, with a mutex held and another goroutine
// that waits for it.
func TestTimePasses(t *testing.T) {
	var took time.Duration
	play(t, sim.World{
		Plan:   []fault.Fault{{Kind: fault.Delay, Client: "a", Request: 1, For: 3 * time.Second}},
		Freeze: time.Second,
		Clients: []sim.Actor{{Name: "a", Run: func(_ context.Context, c *sim.Client) {
			s, err := open()
			if err != nil {
				t.Error(err)
				return
			}
			defer s.conn.Close()
			var both sync.WaitGroup
			for _, path := range []string{"/x", "/y"} {
				both.Go(func() {
					if err := s.put(path); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			took = c.Now()
		}}},
	})
	if took < 3*time.Second {
		t.Errorf("it took %v of virtual time", took)
	}
}

// TestHashes prints a hash for each of some runs of a seed, and one of another seed.
func TestHashes(t *testing.T) {
	for range 25 {
		fmt.Println("hash of seed 1:", chaos(t, 1))
	}
	fmt.Println("hash of seed 2:", chaos(t, 2))
}

// TestHashesInParallel prints hashes of Worlds that run side by side.
func TestHashesInParallel(t *testing.T) {
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 25 {
				fmt.Println("hash of seed 1:", chaos(t, 1))
			}
		})
	}
	workers.Wait()
	fmt.Println("hash of seed 2:", chaos(t, 2))
}

// seen is shared by all runs and Worlds: its mutexes are held by goroutines of other Worlds, too.
var seen sync.Map

// chaos is a hash of the trace of two clients with eight goroutines each, which range over maps,
// select, draw numbers and race for a mutex.
func chaos(t *testing.T, seed uint64) string {
	script := func(ctx context.Context, c *sim.Client) {
		put := func(path string) error { // without the overlay, no mutex may be held
			_, err := c.Conn().Create(path, nil, 0, zk.WorldACL(zk.PermAll))
			return err
		}
		if sim.Overlaid {
			s, err := open()
			if err != nil {
				t.Error(err)
				return
			}
			defer s.conn.Close()
			put = s.put
		}
		var all sync.WaitGroup
		var lines sync.Mutex
		var written []string
		for i := range 8 {
			all.Go(func() {
				shards := map[string]int{}
				for n := range 30 {
					shards[fmt.Sprint("shard-", n)] = n
				}
				one, two := make(chan int, 4), make(chan int, 4)
				for range 4 {
					one <- 1
					two <- 2
				}
				for range 3 {
					var order []string
					for name := range shards {
						order = append(order, strings.TrimPrefix(name, "shard-"))
					}
					picked := 0
					select {
					case picked = <-one:
					case picked = <-two:
					}
					seen.Store(order[0], picked)
					time.Sleep(time.Duration(rand.Intn(1000)) * time.Microsecond)
					err := put(fmt.Sprintf("/%s-%d-%d-%d", c.Name(), i, picked, rand.Intn(1e6)))
					lines.Lock()
					written = append(written, fmt.Sprint(i, order, picked, err))
					lines.Unlock()
				}
			})
		}
		all.Wait()
		c.Note("%s", strings.Join(written, "; "))
	}
	hash := fnv.New64a()
	fmt.Fprint(hash, play(t, sim.World{
		Seed: seed, Clients: []sim.Actor{{Name: "a", Run: script}, {Name: "b", Run: script}},
	}))
	return fmt.Sprintf("%x", hash.Sum64())
}

// play returns the trace of a run, which must end well.
func play(t *testing.T, w sim.World) string {
	r, err := w.Run()
	if err != nil {
		t.Error(err)
		return ""
	}
	if len(r.Panics)+len(r.Leaked)+len(r.Frozen)+len(r.Busy) > 0 {
		t.Errorf("busy %v, panics %v\nleaked %s\nfrozen %s", r.Busy, r.Panics, r.Leaked, r.Frozen)
	}
	return r.Trace.String()
}
