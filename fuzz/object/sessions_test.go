package object_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
)

// visit is a lock with a new session for each hold, beside the session of its client. It listens to
// the events of the session, since it has no other signal of loss.
type visit struct {
	connect  func() (*zk.Conn, <-chan zk.Event)
	path     string
	deaf     bool // it does not listen
	tried    bool
	conn     *zk.Conn
	lock     *recipes.Lock
	lost     chan struct{}
	finished chan struct{} // the listener has ended
}

func (v *visit) Lock(ctx context.Context) error {
	if !v.tried { // the first call fails before there is a session
		v.tried = true
		return errors.New("not yet")
	}
	conn, events := v.connect()
	v.conn, v.lost, v.finished = conn, make(chan struct{}), make(chan struct{})
	v.lock = recipes.NewLock(conn, v.path, recipes.SessionTimeout(scenario.SessionTimeout))
	go func(lost, finished chan struct{}) {
		defer close(finished)
		for ev := range events {
			if ev.State == zk.StateExpired && !v.deaf {
				close(lost)
				return
			}
		}
	}(v.lost, v.finished)
	if err := v.lock.Lock(ctx); err != nil {
		v.leave()
		return err
	}
	return nil
}

func (v *visit) leave() {
	v.conn.Close() // ends the session, and the channel of events
	<-v.finished
}

func (v *visit) Unlock(ctx context.Context) error {
	err := v.lock.Unlock(ctx)
	if errors.Is(err, recipes.ErrNotHeld) {
		err = nil
	}
	if err == nil {
		v.leave()
	}
	return err
}

func (v *visit) Lost() <-chan struct{} { return v.lost }
func (v *visit) Token() int64          { return v.lock.Token() }

func (v *visit) Session() int64 { return v.conn.SessionID() }

// visits is the workload of a visit, with the connections of Env or, if dials is set, its own.
func visits(deaf, dials bool) scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		connect := env.Connect
		if dials {
			connect = func() (*zk.Conn, <-chan zk.Event) {
				conn, events, err := zk.Connect([]string{env.Address}, scenario.SessionTimeout,
					zk.WithLogInfo(false))
				if err != nil {
					panic(err)
				}
				return conn, events
			}
		}
		return &visit{connect: connect, path: env.Path, deaf: deaf}
	}, object.LockClaims{Fair: true}).Named("visit")
}

// TestAnObjectMayHaveManySessions: judges and faults know the client of each session. A hold ends
// with its session, and the judge finds a holder that does not listen.
func TestAnObjectMayHaveManySessions(t *testing.T) {
	ways := []bool{false}
	if sim.Overlaid {
		ways = append(ways, true)
	}
	for _, dials := range ways {
		for _, deaf := range []bool{false, true} {
			found, sessions := 0, 0
			for at := 5 * time.Millisecond; at < 400*time.Millisecond; at += 15 * time.Millisecond {
				o, err := saved.Play(scenario.Scenario{
					Workload: visits(deaf, dials), Script: scenario.Script{Clients: 2, Rounds: 3},
					Seed: uint64(at),
					Plan: []fault.Fault{{Kind: fault.Expire, Client: "a", At: at}},
				})
				check.OK(t, err)
				sessions = max(sessions, len(o.Result.SessionClient))
				if o.Property() == "" {
					continue
				}
				found++
				if !deaf {
					t.Errorf("dials %v, expire at %v: %s\n%s", dials, at, o.Summary(), o.Story())
				}
			}
			if deaf && found == 0 {
				t.Errorf("dials %v: a holder that does not listen is not found", dials)
			}
			if sessions < 2*(1+3) {
				t.Errorf("dials %v: %d sessions", dials, sessions)
			}
		}
	}
}

// TestEachHandleHasItsSession: the locks of several goroutines of a client, each with sessions of
// its own, are judged by these.
func TestEachHandleHasItsSession(t *testing.T) {
	for seed := range uint64(20) {
		o, err := scenario.Scenario{
			Workload: visits(false, false), Seed: seed,
			Script: scenario.Script{Clients: 2, Rounds: 2, Goroutines: 3},
		}.Run()
		check.OK(t, err)
		if o.Property() != "" {
			t.Fatalf("seed %d: %s\n%s", seed, o.Summary(), o.Story())
		}
	}
}
