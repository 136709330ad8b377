// Package real plays the workloads of package fuzz against a real ZooKeeper: the same
// scripts, the same faults by a proxy, the same judges. It has tests only, which skip
// if there is no Java or no ZooKeeper.
//
//	go test ./fuzz/real -v                                  a sample of faults and plans
//	go test ./fuzz/real -v -points 0 -plans 0 -timeout 6h   every single fault
//	go test ./fuzz/real -v -run Survive/lock -points 0      every single fault on locks
package real

import (
	"flag"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/realworld"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/realzk"
)

var (
	points  = flag.Int("points", 1, "number of single faults for each right workload; 0 means all")
	plans   = flag.Int("plans", 0, "number of random plans of two or three faults")
	seed    = flag.Uint64("seed", 1, "seed of the choice of faults and of the scripts")
	servers = flag.Int("servers", 8, "number of servers at a time; they mostly wait")
	clients = flag.Int("clients", 2, "number of clients of a workload")
	rounds  = flag.Int("rounds", 2, "number of rounds of each client")
)

// pool lends servers or ensembles, each to one run at a time.
type pool struct {
	idle  chan []realworld.Server
	start func() []realworld.Server // an ensemble in place of one that has diverged
}

// startPool starts the servers. They stop when the test ends.
func startPool(t *testing.T, size int) *pool {
	t.Helper()
	p := &pool{idle: make(chan []realworld.Server, max(1, size))}
	for range max(1, size) {
		p.idle <- []realworld.Server{realzk.Start(t, options())}
	}
	return p
}

// startEnsemble starts an ensemble of three servers. They stop when the test ends.
func startEnsemble(t *testing.T) *pool {
	t.Helper()
	p := &pool{idle: make(chan []realworld.Server, 1)}
	p.start = func() (servers []realworld.Server) {
		for _, s := range realzk.StartEnsemble(t, 3, options()) {
			servers = append(servers, s)
		}
		return servers
	}
	p.idle <- p.start()
	return p
}

// options are those of servers for RunReal.
func options() realzk.Options {
	const pace = 8 // the default of RunReal
	return realzk.Options{
		TickTime: 2 * time.Second / pace,
		Properties: map[string]string{
			"znode.container.checkIntervalMs":                    strconv.FormatInt((time.Minute / pace).Milliseconds(), 10),
			"zookeeper.DigestAuthenticationProvider.superDigest": realworld.SuperDigest,
		},
		JVMFlags: []string{"-Xmx64m"}, Cuttable: true,
	}
}

// run plays one scenario on idle servers, and waits for them if there are none.
func (p *pool) run(t *testing.T, s scenario.Scenario) (*scenario.Outcome, error) {
	t.Helper()
	servers := <-p.idle
	defer func() { p.idle <- servers }()
	o, err := s.RunReal(t.Context(), servers, 0)
	if err == nil && o.Result.Diverged != "" {
		t.Logf("a new ensemble is started: %s\n%s", o.Result.Diverged, o.Result.Trace)
		servers = p.start()
	}
	return o, err
}

// each calls do n times at once. The number of servers bounds how many runs go on.
func each(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}
