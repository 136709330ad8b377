package real

import (
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// serverFaults are faults on single servers of an ensemble.
var serverFaults = []string{
	"failover-keep 2s request=3",
	"restart 2s server=2 at=300ms",
	"failover-lose 2s client=b request=4",
	"blackhole 2s server=3 at=100ms",
	"refuse 2s server=1 at=100ms",
	"cut client=a server=2 request=2",
	"restart 1s client=a request=6",
	"pause-server 3s client=a request=4",
	"isolate 3s client=b request=4",
	"elect 2s client=a request=3",
}

// TestEnsembleTellsRightFromWrong: right workloads survive on three real servers, of which one is
// killed, cut off or loses single messages. A wrong one does not survive that the leader dies when
// it has applied a write.
func TestEnsembleTellsRightFromWrong(t *testing.T) {
	t.Parallel()
	right := []scenario.Workload{find("lock", "recipes.Lock"), find("counter", "")}
	faults := serverFaults[:1]
	if testrun.Full() {
		right, faults = nil, serverFaults
		for i, w := range builtin.Workloads().Sound() {
			if i%4 == 0 {
				right = append(right, w)
			}
		}
	}
	p := startEnsemble(t)
	isFound(t, p, control{
		exhibit("added-twice"),
		"failover-keep 1s client=a op=setData request=1", linearizability.Delivery,
	})
	var total tally
	for _, w := range right {
		t.Run(w.Name+"/"+w.Impl, func(t *testing.T) {
			n := survivesOnAnEnsemble(t, p, w, faults)
			t.Log(n)
			total.add(n)
		})
	}
	t.Logf("seed %d, %d workloads: %s", *seed, len(right), &total)
}

func survivesOnAnEnsemble(t *testing.T, p *pool, w scenario.Workload, faults []string) *tally {
	t.Helper()
	n := &tally{}
	s := scenario.Scenario{Workload: w, Seed: *seed,
		Script: scenario.Script{Clients: *clients, Rounds: *rounds, Servers: 3}}
	for _, line := range faults {
		f, err := fault.Parse(line)
		check.OK(t, err)
		s.Plan = []fault.Fault{f}
		n.try(t, p, s)
	}
	if !testrun.Full() {
		return n
	}
	s.Plan = nil
	if base := n.try(t, p, s); base != nil {
		for _, plan := range somePlans(base) {
			s.Plan = plan
			n.try(t, p, s)
		}
	}
	return n
}
