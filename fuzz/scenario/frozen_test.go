package scenario_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// guarded is a lock that holds a mutex while it waits for the server.
type guarded struct {
	guard sync.Mutex
	conn  *zk.Conn
}

func (l *guarded) Lock(context.Context) error {
	l.guard.Lock()
	defer l.guard.Unlock()
	_, err := l.conn.Create("/lock", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	return err
}

func (l *guarded) Unlock(context.Context) error { return l.conn.Delete("/lock", -1) }

// TestMutexHeldWhileWaitingIsUndecided: in a real program time would pass. The headline names the
// mutex and both places.
func TestMutexHeldWhileWaitingIsUndecided(t *testing.T) {
	if sim.Overlaid {
		t.Skip("then time passes")
	}
	var one guarded // of both goroutines
	w := object.Lock(func(env object.Env) object.Locker {
		one.conn = env.Conn
		return &one
	})
	w.Freeze = 200 * time.Millisecond
	o := run(t, scenario.Scenario{
		Workload: w.Named("guarded"),
		Script:   scenario.Script{Clients: 1, Rounds: 1, Goroutines: 2}, Seed: 1,
	})
	const want = "the run froze: at frozen_test.go:26 a goroutine waits for the mutex l.guard, " +
		"and the holder waits at frozen_test.go:28, so that no virtual time can pass" +
		"; zksim go test runs such code"
	if o.Status() != linearizability.Unknown || o.Property() != "" || o.Summary() != want ||
		o.Result.Spins {
		t.Errorf("%s, property %q, summary %q; want unknown, %q", o.Status(), o.Property(),
			o.Summary(), want)
	}
	if story := o.Story(); !strings.HasPrefix(story, "verdict: unknown: "+want+"\n") {
		t.Errorf("the story begins otherwise:\n%s", story)
	}
}

// TestSpinningAfterTheEndHidesNothing: liveness is judged before the connections are closed.
func TestSpinningAfterTheEndHidesNothing(t *testing.T) {
	var over atomic.Bool
	t.Cleanup(func() { over.Store(true) })
	s := unseen(func(p *scenario.Player) {
		p.Do("look", "", func(context.Context) (linearizability.Result, error) {
			_, _, changed, err := p.Conn().ExistsW("/never")
			<-changed // also when the connection is closed
			for !over.Load() {
				p.Conn().State()
			}
			return linearizability.Result{}, err
		})
	})
	s.Workload.Freeze = 100 * time.Millisecond
	o := run(t, s)
	if o.Property() != linearizability.Liveness || !strings.Contains(o.Summary(), "look") ||
		!o.Result.Spins || o.Result.Frozen != "" {
		t.Errorf("property %q, summary %q; spins %v, frozen %q", o.Property(), o.Summary(),
			o.Result.Spins, o.Result.Frozen)
	}
	orphans, _ := o.Report.Verdict(linearizability.Orphans)
	if !strings.Contains(orphans.Summary, "it spins at ") {
		t.Errorf("%s; want where it spins", orphans)
	}
}

// locksTwice is a lock that locks its own mutex twice, or in its twin not.
type locksTwice struct {
	guarded
	right bool
}

func (l *locksTwice) Lock(ctx context.Context) error {
	if !l.right {
		l.guard.Lock()
		l.guard.Lock()
		defer l.guard.Unlock()
		defer l.guard.Unlock()
	}
	return l.guarded.Lock(ctx)
}

// TestDeadlockIsAViolation: no goroutine is left that could unlock the mutex, however much time
// passes.
func TestDeadlockIsAViolation(t *testing.T) {
	if sim.Overlaid {
		t.Skip("then time passes")
	}
	for _, right := range []bool{false, true} {
		w := object.Lock(func(env object.Env) object.Locker {
			return &locksTwice{guarded{conn: env.Conn}, right}
		})
		w.Freeze = 200 * time.Millisecond
		o := run(t, scenario.Scenario{Workload: w.Named("twice"),
			Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1})
		if right {
			check.Equal(t, o.Property(), "", "%s", o.Summary())
			continue
		}
		check.Equal(t, o.Property(), "frozen")
		check.Equal(t, o.Summary(), "the run froze in a deadlock: at frozen_test.go:99 a goroutine "+
			"waits for the mutex l.guard; no goroutine is left that could unlock it")
		check.Contains(t, o.Story(), "where it broke, the innermost call first:\n\n")
	}
}
