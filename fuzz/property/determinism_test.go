package property

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"pgregory.net/rapid"
)

// traces are the hashes of the runs of a property with clients that write at the same time.
func traces(t *testing.T) []string {
	t.Helper()
	var hashes []string
	c := &checker{name: "p", body: func(rt *rapid.T, w *World) {
		rt.Repeat(map[string]func(*rapid.T){
			"write": func(rt *rapid.T) {
				path := "/" + rapid.StringMatching("[a-c]").Draw(rt, "name")
				for _, client := range Clients() {
					w.Go(client, func() {
						conn := w.Conn(client)
						if _, err := conn.Set(path, []byte(client), -1); err == zk.ErrNoNode {
							_, err = conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
							_ = err
						}
					})
				}
			},
			"sleep": func(*rapid.T) { w.Sleep(3 * time.Second) },
			"look":  func(*rapid.T) { w.Tree("/") },
		})
	}, seen: func(r *trace.Result) { hashes = append(hashes, r.Trace.Hash()) }}
	rapid.Check(t, c.check)
	return hashes
}

// TestSameSeedSameTrace: two runs of rapid with one seed have equal traces, and another seed has
// others.
func TestSameSeedSameTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	testrun.SetFlag(t, "rapid.checks", "10")
	testrun.SetFlag(t, "rapid.seed", "5")
	first, second := traces(t), traces(t)
	check.Equal(t, len(first), 10)
	check.List(t, first, second)
	testrun.SetFlag(t, "rapid.seed", "6")
	if other := traces(t); other[3] == first[3] {
		t.Error("another seed has the same trace")
	}
}

// TestFailureWithFunctionsThatWaitHasOneTrace: the body fails while a client has a second function
// to run.
func TestFailureWithFunctionsThatWaitHasOneTrace(t *testing.T) {
	hashes := map[string]bool{}
	for range 20 {
		w := newWorld(nil, func(_ *rapid.T, w *World) {
			for _, path := range []string{"/1", "/2"} {
				w.Go("a", func() {
					_, _ = w.Conn("a").Create(path, nil, 0,
						zk.WorldACL(zk.PermAll))
				})
			}
			panic("the body fails")
		})
		result, err := sim.World{Seed: 1, Clients: w.actors()}.Run()
		check.OK(t, err)
		hashes[result.Trace.Hash()] = true
	}
	check.Equal(t, len(hashes), 1)
}

// TestAFunctionBeginsWhenTheBodyWaits: else the scheduler would decide which of them is first.
func TestAFunctionBeginsWhenTheBodyWaits(t *testing.T) {
	Check(t, func(rt *rapid.T, w *World) {
		var mu sync.Mutex
		var order []string
		note := func(who string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, who)
		}
		var waits []func()
		for _, client := range []string{"b", "a"} {
			waits = append(waits, w.Go(client, func() { note(client) }))
		}
		note("body")
		for _, wait := range waits {
			wait()
		}
		if !slices.Equal(order, []string{"body", "a", "b"}) {
			rt.Fatalf("%q; expected the body, a and b", order)
		}
		_, _, _ = w.Conn("a").Exists("/")
	})
}
