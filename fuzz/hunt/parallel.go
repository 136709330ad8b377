package hunt

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
)

// parallel calls f for 0 to n-1, several at the same time, each in its own goroutine, and returns
// when all have ended. When f(i) returns false, it begins no call after i; when ctx is done, it
// begins no more calls. The numbers of the calls are always 0 up to some number. workers below 1
// means GOMAXPROCS.
func parallel(ctx context.Context, n, workers int, f func(i int) (goOn bool)) {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next, end atomic.Int64
	end.Store(int64(n))
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= end.Load() {
					return
				}
				if !f(int(i)) {
					lower(&end, i+1)
				}
			}
		})
	}
	group.Wait()
}

// workers is how many scenarios with a script run at a time, if that many are asked for. On a
// running ensemble they mostly wait.
func workers(asked int, s scenario.Script, on *scenario.Ensemble) int {
	if asked < 1 && on != nil {
		return workersOnEnsemble(s)
	}
	return asked
}

// workersOnEnsemble is how many scenarios with a script run at a time on a running ensemble. A
// server takes maxClientCnxns from one address, 60 unless it is set. If the scenarios needed more,
// the server would refuse them, and other programs of this machine.
func workersOnEnsemble(s scenario.Script) int {
	const (
		most      = 16
		perServer = 48
	)
	ofScenario := s.Clients + 1 // one is past the proxy
	return min(most, max(1, perServer*max(1, s.Servers)/ofScenario))
}

func lower(n *atomic.Int64, to int64) {
	for now := n.Load(); now > to && !n.CompareAndSwap(now, to); now = n.Load() {
	}
}

// played is a scenario that was played.
type played struct {
	outcome  *scenario.Outcome
	diverges *Divergence // nil if there was one run, or two that are the same
	counts   bool        // in a proof: with true counts it is another run; see Proof.Counts
	// inTime is, in a proof, another run of the plan: that of a hunt. It is nil if none was played.
	inTime *scenario.Outcome
	err    error
}

// playOne plays a scenario, once, or twice to compare the outcomes. Every error names the scenario.
func playOne(s scenario.Scenario, twice bool) (r played) {
	defer func() {
		if r.err != nil {
			r.err = fmt.Errorf("%s, plan %v: %w", s, s.Plan, r.err)
		}
	}()
	r.outcome, r.err = saved.Play(s)
	if !twice || r.err != nil {
		return r
	}
	again, err := saved.Play(s)
	if err != nil {
		r.err = err
		return r
	}
	if d := DivergenceOf(r.outcome, again); d.Difference != "" {
		r.diverges = &d
	}
	return r
}
