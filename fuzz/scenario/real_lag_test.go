package scenario

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// TestRealServersMayLag for longer than simulated ones: a leader waits for its followers for the
// syncLimit, and a run with a short stall is judged as it is. Of one server no read is stale all
// the same, unless it may be one of a running ensemble.
func TestRealServersMayLag(t *testing.T) {
	var got time.Duration
	s := Scenario{Script: Script{Clients: 1, Rounds: 1}, Workload: Workload{
		Judge: func(e Evidence) (linearizability.Report, error) {
			got = e.Lag
			return linearizability.Report{}, nil
		},
	}}
	for servers, want := range map[int]time.Duration{1: maxStalled, 3: 10 * time.Second} {
		s.Script.Servers = servers
		o, err := s.judgeReal(&trace.Result{}, nil)
		if err != nil || got != want || o.History.OneServer != (servers == 1) {
			t.Errorf("%d real servers may lag by %v, want %v; %v", servers, got, want, err)
		}
	}
	s.On, s.Script.Servers = &Ensemble{}, 1
	if o, err := s.judgeReal(&trace.Result{}, nil); err != nil || o.History.OneServer {
		t.Errorf("a server of a running ensemble is taken for the only one; %v", err)
	}
	s.On, s.Script.Servers = nil, 3
	if _, err := s.judge(&trace.Result{}, nil, s.Script.lag()); err != nil || got != sim.MostLag {
		t.Errorf("simulated servers may lag by %v, want %v; %v", got, sim.MostLag, err)
	}
}
