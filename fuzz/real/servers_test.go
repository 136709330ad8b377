// Package real plays the workloads of package fuzz against a real ZooKeeper: the same
// scripts, the same faults by a proxy, the same judges. It holds tests only. They
// skip where there is no Java or no ZooKeeper.
//
//	go test ./fuzz/real -v                                  a sample of the single faults, a few random plans
//	go test ./fuzz/real -v -points 0 -plans 0 -timeout 6h   every single fault, of every workload
//	go test ./fuzz/real -v -run Survive/lock -points 0      of the locks
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
	points  = flag.Int("points", 3, "how many single faults each right workload has to survive; 0 means all there are")
	plans   = flag.Int("plans", 1, "how many random plans of two or three faults")
	seed    = flag.Uint64("seed", 1, "chooses the faults and what the scripts draw")
	servers = flag.Int("servers", 16, "how many servers run at a time; they mostly wait")
	clients = flag.Int("clients", 2, "how many clients a workload has")
	rounds  = flag.Int("rounds", 2, "how often each takes its turn")
)

// pool lends servers, each to one run at a time.
type pool struct {
	idle chan *realzk.Server
}

// startPool starts the servers; they are gone when the test ends.
func startPool(t *testing.T, size int) *pool {
	t.Helper()
	opts := realzk.Options{
		TickTime: scenario.TickTime(0),
		Properties: map[string]string{
			"znode.container.checkIntervalMs":                    strconv.FormatInt((time.Minute / scenario.DefaultPace).Milliseconds(), 10),
			"zookeeper.DigestAuthenticationProvider.superDigest": realworld.SuperDigest,
		},
		JVMFlags: []string{"-Xmx64m"},
	}
	p := &pool{idle: make(chan *realzk.Server, max(1, size))}
	for range max(1, size) {
		p.idle <- realzk.Start(t, opts)
	}
	return p
}

// run plays one scenario on the next server that is idle.
func (p *pool) run(t *testing.T, s scenario.Scenario) (*scenario.Outcome, error) {
	t.Helper()
	server := <-p.idle
	defer func() { p.idle <- server }()
	return s.RunReal(t.Context(), server, 0)
}

// each does something n times, all at once: what is bounded is the servers.
func each(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}
