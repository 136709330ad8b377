package scenario_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestHoldsOutlastTheirSession: if the session of a hold ends, one hold in three goes on for long,
// and one until the next grant. The end of another session changes nothing.
func TestHoldsOutlastTheirSession(t *testing.T) {
	const grant = 200 * time.Millisecond
	held := func(seed uint64, session int64, plan ...fault.Fault) (d time.Duration) {
		w := scenario.Workload{Name: "own", Impl: "mine", Judge: scenario.Invariants(),
			Play: func(p *scenario.Player, _ scenario.Script) {
				if p.Index() == 1 {
					p.Pause(grant)
					p.Begin(ops.Lock, "").OK(linearizability.Result{})
					return
				}
				if session != 0 {
					p.NameSession(func() int64 { return session })
				}
				_, _, _ = p.Conn().Exists("/") // it has a session
				p.Begin(ops.Lock, "").OK(linearizability.Result{})
				began := time.Now() // of the World
				p.Hold("hold", nil)
				d = time.Since(began)
			}}
		_, err := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1},
			Seed: seed, Plan: plan}.Run()
		check.OK(t, err)
		return d
	}
	for _, c := range []struct {
		about, plan   string
		session       int64 // of the hold, 0: that of the connection
		long, granted bool
	}{
		{"the session of the hold", "expire client=a at=14ms", 0, true, true},
		{"the same, with its nodes left", "late-reap-unlike-3.8 20s client=a at=14ms", 0, true, true},
		{"another session", "expire client=a at=14ms", 1, false, false},
	} {
		f, err := fault.Parse(c.plan)
		check.OK(t, err)
		long, granted := 0, 0
		for seed := range uint64(40) {
			switch more := held(seed, c.session, f) - held(seed, c.session); {
			case more >= scenario.LongHold:
				long++
			case more > grant/2:
				granted++
			case more > time.Millisecond:
				t.Errorf("%s, seed %d: the hold takes %s more", c.about, seed, more)
			}
		}
		if long > 0 != c.long || granted > 0 != c.granted {
			t.Errorf("%s: of 40 holds %d go on for long, and %d until the next grant", c.about, long,
				granted)
		}
	}
}

// TestAWatchIsLeft, also if the client has set it anew in another connection: its node has not
// changed.
func TestAWatchIsLeft(t *testing.T) {
	for _, plan := range [][]fault.Fault{
		nil, {{Kind: fault.Cut, Client: "a", At: 50 * time.Millisecond}},
	} {
		w := scenario.Workload{Name: "own", Impl: "mine",
			Judge: func(e scenario.Evidence) (linearizability.Report, error) {
				check.Equal(t, len(e.Rest.Watches), 1, "watches that are left, with plan %v", plan)
				return linearizability.Report{}, nil
			},
			Play: func(p *scenario.Player, _ scenario.Script) {
				_, err := p.Conn().Create("/a", nil, 0, zk.WorldACL(zk.PermAll))
				check.OK(t, err)
				_, _, _, err = p.Conn().ExistsW("/a")
				check.OK(t, err)
				p.Pause(3 * time.Second)
			}}
		s := scenario.Scenario{Workload: w, Plan: plan,
			Script: scenario.Script{Clients: 1, Rounds: 1}}
		_, err := s.Run()
		check.OK(t, err)
	}
}
