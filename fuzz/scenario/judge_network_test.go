package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
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

func checkOnNetwork(t *testing.T, o *scenario.Outcome, want string) {
	t.Helper()
	if o.Status() != linearizability.Unknown || !o.OnNetwork() || o.Summary() != want {
		t.Errorf("%s, on the network: %v, %q; want unknown, true, %q",
			o.Status(), o.OnNetwork(), o.Summary(), want)
	}
}

// onceAlone is a scenario of one client and one round without faults.
func onceAlone(w scenario.Workload) scenario.Scenario {
	return scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1}
}

// silentResolver has a name server that does not answer until over is closed.
func silentResolver(over <-chan struct{}) net.Resolver {
	return net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			<-over
			return nil, net.ErrClosed
		},
	}
}

// resolving is a lock that looks up a host, with a name server that never answers.
type resolving struct{ resolver net.Resolver }

func (l *resolving) Lock(ctx context.Context) error {
	_, err := l.resolver.LookupHost(ctx, "zk1.example.")
	return err
}

func (*resolving) Unlock(context.Context) error { return nil }

func TestRealNetworkInVirtualTimeIsUndecided(t *testing.T) {
	if sim.Overlaid {
		t.Skip("then it is not the real network")
	}
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	w := object.Lock(func(object.Env) object.Locker { return &resolving{silentResolver(over)} })
	w.Freeze = 200 * time.Millisecond
	o := run(t, onceAlone(w.Named("resolving")))
	const want = "the run froze: at judge_network_test.go:49 a goroutine looks up a host on the " +
		"real network, for which no virtual time can pass; zksim go test runs such code"
	checkOnNetwork(t, o, want)
}

// dialling is a lock that dials an address before it locks.
type dialling struct{ address string }

func (l dialling) Lock(context.Context) error {
	conn, err := net.DialTimeout("tcp", l.address, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

func (dialling) Unlock(context.Context) error { return nil }

// TestRefusedDialOnTheRealNetworkIsUndecided: no virtual time passes, and the code goes on, but no
// verdict on it is right.
func TestRefusedDialOnTheRealNetworkIsUndecided(t *testing.T) {
	if sim.Overlaid {
		t.Skip("then it is not the real network")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	address := listener.Addr().String()
	check.OK(t, listener.Close())
	w := object.Lock(func(object.Env) object.Locker { return dialling{address} })
	o := run(t, onceAlone(w.Named("dialling")))
	checkOnNetwork(t, o, "client a: lock found no server, though no fault was in its way: "+
		"the code seems to dial on the real network (dial tcp "+address+
		": connect: connection refused); zksim go test runs such code")
}

// TestRefusedDialOfTheWorldIsNoUseOfTheNetwork: a fault refuses it.
func TestRefusedDialOfTheWorldIsNoUseOfTheNetwork(t *testing.T) {
	w := object.Lock(func(env object.Env) object.Locker { return &guarded{conn: env.Conn} })
	s := onceAlone(w.Named("guarded"))
	s.Plan = plan(t, "refuse 10s client=a at=1us")
	o := run(t, s)
	if o.OnNetwork() || !strings.Contains(o.Story(), "could not connect to a server") {
		t.Errorf("on the network: %v\n%s", o.OnNetwork(), o.Story())
	}
}

// TestViolationWithoutARequestNamesTheOverlay: the violation stays, as it may be a bug.
func TestViolationWithoutARequestNamesTheOverlay(t *testing.T) {
	const hint = "; no client has sent a request: " +
		"if the code dials by itself, use zksim go test"
	wait := func() { select {} } // for a connection, for instance
	for property, call := range map[string]func(){
		linearizability.Liveness: wait, linearizability.Orphans: func() { go wait() },
	} {
		o := run(t, onceAlone(scenario.Workload{Name: "own", Impl: "silent",
			Judge: scenario.Invariants(), Play: func(p *scenario.Player, _ scenario.Script) {
				_ = p.Call("call", "", func(context.Context) error { call(); return nil })
			}}))
		if o.Property() != property || o.OnNetwork() ||
			strings.HasSuffix(o.Summary(), hint) == sim.Overlaid {
			t.Errorf("property %q, summary %q", o.Property(), o.Summary())
		}
	}
}

// mumbling is a lock without exclusion. Its calls fail at first, in words like those of a dial.
type mumbling struct {
	conn   *zk.Conn
	failed bool
}

func (l *mumbling) Lock(context.Context) error {
	if _, _, err := l.conn.Get("/holder"); err != nil && !l.failed {
		l.failed = true
		return fmt.Errorf("lookup holder: %w", err)
	}
	return nil
}

func (*mumbling) Unlock(context.Context) error { return nil }

// TestErrorTextsHideNoViolation: a client that has reached the World does not dial elsewhere.
func TestErrorTextsHideNoViolation(t *testing.T) {
	w := object.Lock(func(env object.Env) object.Locker { return &mumbling{conn: env.Conn} })
	s := onceAlone(w.Named("mumbling"))
	s.Script = scenario.Script{Clients: 3, Rounds: 3}
	o := run(t, s)
	if o.OnNetwork() || o.Property() != linearizability.Safety ||
		o.SharesConn() {
		t.Errorf("on the network: %v, property %q: %s", o.OnNetwork(), o.Property(), o.Summary())
	}
}

// TestSharedConnectionAccusesNoLock: that of the first client or of the last one. A client alone
// that keeps it in a variable is judged.
func TestSharedConnectionAccusesNoLock(t *testing.T) {
	for _, first := range []bool{true, false} {
		for clients := 1; clients <= 3; clients++ {
			var all atomic.Pointer[zk.Conn]
			w := object.Lock(func(env object.Env) object.Locker {
				if all.Load() == nil || !first {
					all.Store(env.Conn)
				}
				return &global{&all, env.Path}
			})
			s := onceAlone(w.Named("sharing"))
			s.Script = scenario.Script{Clients: clients, Rounds: 2}
			o := run(t, s)
			if o.SharesConn() != (clients > 1) || o.Status() == linearizability.Violated ||
				clients == 1 && o.Status() != linearizability.OK {
				t.Errorf("%d clients, first %v: %v: %s", clients, first, o.Status(), o.Summary())
			}
			if clients == 3 && !first {
				check.Contains(t, o.Summary(), "clients a and c share a connection: a's unlock "+
					"(steps 48 to 52) sent no request, and an answer to c's ended it (step 51)")
			}
		}
	}
}

// global is a right lock on a connection that is read anew for each call.
type global struct {
	conn *atomic.Pointer[zk.Conn]
	path string
}

func (l *global) Lock(ctx context.Context) error {
	return (&polling{conn: l.conn.Load(), path: l.path}).Lock(ctx)
}

func (l *global) Unlock(context.Context) error { return l.conn.Load().Delete(l.path, -1) }

// polling is a right lock, if each client has a connection of its own.
type polling struct {
	conn *zk.Conn
	path string
}

func (l *polling) Lock(ctx context.Context) error {
	for {
		_, err := l.conn.Create(l.path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrNodeExists) || ctx.Err() != nil {
			return err
		}
		time.Sleep(time.Second)
	}
}

func (l *polling) Unlock(context.Context) error { return l.conn.Delete(l.path, -1) }

// TestAPanicIsNoUseOfTheNetwork, though a call has found no server before.
func TestAPanicIsNoUseOfTheNetwork(t *testing.T) {
	o := run(t, unseen(func(p *scenario.Player) {
		p.Do("look", "", func(context.Context) (linearizability.Result, error) {
			return linearizability.Result{}, zk.ErrNoServer
		})
		panic("boom")
	}))
	if o.OnNetwork() || o.Status() != linearizability.Violated {
		t.Errorf("on the network: %v, %s: %s", o.OnNetwork(), o.Status(), o.Summary())
	}
}
