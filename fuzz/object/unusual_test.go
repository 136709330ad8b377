package object_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/recipes"
)

// The objects below are right, and written in an unusual way: without optional methods, polling,
// slow, chatty, with data in their znodes. No hunt may find a violation in them.

// polite is a slow connection. With asks it sends an exists before each write and each list of
// children.
type polite struct {
	recipes.Conn
	asks  bool
	pause time.Duration
}

func (c polite) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	c.ask(path)
	return c.Conn.Create(path, data, flags, acl)
}

func (c polite) Delete(path string, version int32) error {
	c.ask(path)
	return c.Conn.Delete(path, version)
}

func (c polite) Children(path string) ([]string, *zk.Stat, error) {
	c.ask(path)
	return c.Conn.Children(path)
}

func (c polite) ask(path string) {
	if c.asks {
		_, _, _ = c.Conn.Exists(path) // the answer does not matter
	}
	time.Sleep(c.pause)
}

type (
	lost  interface{ Lost() <-chan struct{} }
	token interface{ Token() int64 }
	// ender is an object with a Close.
	ender interface {
		Close(ctx context.Context) error
	}
)

// pollingLock is a lock that polls.
type pollingLock struct {
	seats
	held seat
}

func alone(before []string) bool { return len(before) == 0 }

func (l *pollingLock) Lock(ctx context.Context) (err error) {
	l.held, err = l.take(ctx, "write", alone)
	return err
}

func (l *pollingLock) Unlock(context.Context) error { return l.leave(l.held) }

// unusual returns the objects by name. n decides their draws.
func unusual(n uint64) map[string]scenario.Workload {
	timeout := recipes.SessionTimeout(scenario.SessionTimeout)
	draw := rand.New(rand.NewPCG(n, 0))
	asks, pause := draw.IntN(2) == 0, time.Duration(draw.IntN(3))*30*time.Millisecond
	period := []time.Duration{3, 20, 500}[draw.IntN(3)] * time.Millisecond
	conn := func(env object.Env) recipes.Conn {
		if asks || pause > 0 {
			return polite{env.InTurn(), asks, pause}
		}
		return env.InTurn()
	}
	polling := func(env object.Env, period time.Duration) seats {
		return seats{conn: conn(env), dir: env.Path, name: env.Name, period: period,
			lease: "lease of " + env.Name}
	}
	return map[string]scenario.Workload{
		"lock without options": object.Lock(func(env object.Env) object.Locker {
			return struct{ object.Locker }{recipes.NewLock(conn(env), env.Path, timeout)}
		}),
		"lock with try only": object.Lock(func(env object.Env) object.Locker {
			l := recipes.NewLock(conn(env), env.Path, timeout)
			return struct {
				object.Locker
				object.TryLocker
			}{l, l}
		}),
		"lock with loss only": object.Lock(func(env object.Env) object.Locker {
			l := recipes.NewLock(conn(env), env.Path, timeout)
			return struct {
				object.Locker
				lost
			}{l, l}
		}),
		"lock without close": object.Lock(func(env object.Env) object.Locker {
			l := recipes.NewLock(conn(env), env.Path, timeout)
			return struct {
				object.Locker
				lost
				token
			}{l, l, l}
		}),
		"lock without token": object.Lock(func(env object.Env) object.Locker {
			l := recipes.NewLock(conn(env), env.Path, timeout)
			return struct {
				object.Locker
				lost
				ender
			}{l, l, l}
		}),
		"polling lock": object.Lock(func(env object.Env) object.Locker {
			return &pollingLock{seats: polling(env, period)}
		}, object.LockClaims{Fair: true}),
		"lazy lock": object.Lock(func(env object.Env) object.Locker {
			return &pollingLock{seats: polling(env, 3*time.Minute)}
		}),
		"rwlock without tokens": object.RWLock(func(env object.Env) object.RWLocker {
			return struct{ object.RWLocker }{recipes.NewRWLock(conn(env), env.Path, timeout)}
		}),
		"queue that only takes": object.Queue(func(env object.Env) object.Queuer {
			return struct{ object.Queuer }{recipes.NewQueue(conn(env), env.Path)}
		}, object.QueueClaims{
			Items: "/queue/items", LeavesAtRest: []string{"/queue/claims", "/queue/dedup"},
		}),
		"bare elector": object.Election(func(env object.Env) object.Elector {
			return struct{ object.Elector }{&shyElector{seats: polling(env, period)}}
		}),
		"lock queue without poll": object.LockQueue(func(env object.Env) object.LockQueuer {
			return takingQueue{recipes.NewLockQueue(conn(env), env.Path)}
		}, object.LockQueueClaims{QueueClaims: object.QueueClaims{
			Items: "/queue/items", LeavesAtRest: []string{"/queue/dedup"},
		}}),
		"revocable without loss": object.Revocable(func(env object.Env) object.RevocableLocker {
			return struct{ object.RevocableLocker }{recipes.NewRevocableLock(conn(env), env.Path,
				timeout)}
		}),
		"semaphore without tokens": object.Semaphore(func(env object.Env) object.Acquirer {
			return numberless{recipes.NewSemaphore(conn(env), env.Path, 2, timeout)}
		}, object.SemaphoreClaims{
			LockClaims: object.LockClaims{LeavesAtRest: []string{"/semaphore/leases",
				"/semaphore/lock"}},
			Nodes: "/semaphore/leases",
		}),
		"polling rwlock": object.RWLock(func(env object.Env) object.RWLocker {
			return &pollingRWLock{seats: polling(env, period)}
		}),
		"guide lock": object.Lock(func(env object.Env) object.Locker {
			return &guideLock{pollingLock{seats: polling(env, 0)}}
		}, object.LockClaims{Fair: true, MaxHerd: 1}),
		"attended lock": object.Lock(func(env object.Env) object.Locker {
			return newAttendedLock(env, polling(env, period))
		}),
		"closed lock": object.Lock(func(env object.Env) object.Locker {
			return newClosedLock(recipes.NewLock(conn(env), env.Path, timeout))
		}),
		"frank lock": object.Lock(func(env object.Env) object.Locker {
			return &frankLock{pollingLock{seats: polling(env, period)}}
		}),
		"shy elector": object.Election(func(env object.Env) object.Elector {
			s := polling(env, period)
			s.lease = ""
			return &shyElector{seats: s}
		}),
		"scanning priority queue": object.PriorityQueue(func(env object.Env) object.PriorityQueuer {
			return scanningQueue{conn(env), env.Path}
		}, object.QueueClaims{MayOvertake: true, MayLose: true}),
		"polling semaphore": object.Semaphore(func(env object.Env) object.Acquirer {
			return &pollingSemaphore{polling(env, period)}
		}),
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

type takingQueue struct{ *recipes.LockQueue }

func (q takingQueue) Take(ctx context.Context) (object.Delivery, error) {
	return q.LockQueue.Take(ctx)
}
func (takingQueue) Poll() {}

// numberless is a semaphore with leases without tokens.
type numberless struct{ sem *recipes.Semaphore }

type numberlessLease struct{ object.Lease }

func (numberlessLease) Token() int64 { return 0 }

func (s numberless) Acquire(ctx context.Context) (object.Lease, error) {
	l, err := s.sem.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return numberlessLease{l}, nil
}

// pollingRWLock is a read-write lock that polls. A writer goes on reading with its znode.
type pollingRWLock struct {
	seats
	reading, writing int
	held             seat
}

func (l *pollingRWLock) lock(ctx context.Context, mode string, free func([]string) bool) error {
	if l.reading+l.writing > 0 && l.held.session == l.conn.SessionID() {
		return nil
	}
	l.reading, l.writing = 0, 0
	held, err := l.take(ctx, mode, free)
	if err == nil {
		l.held = held
	}
	return err
}

func (l *pollingRWLock) Lock(ctx context.Context) error {
	err := l.lock(ctx, "write", alone)
	if err == nil {
		l.writing++
	}
	return err
}

func (l *pollingRWLock) RLock(ctx context.Context) error {
	err := l.lock(ctx, "read", func(before []string) bool {
		return !slices.Contains(before, "write")
	})
	if err == nil {
		l.reading++
	}
	return err
}

func (l *pollingRWLock) Unlock(context.Context) error  { return l.unlock(&l.writing) }
func (l *pollingRWLock) RUnlock(context.Context) error { return l.unlock(&l.reading) }

func (l *pollingRWLock) unlock(levels *int) error {
	if l.reading+l.writing > 1 {
		*levels--
		return nil
	}
	err := l.leave(l.held)
	if err == nil {
		*levels = 0
	}
	return err
}

type pollingSemaphore struct{ seats }

type pollingLease struct {
	*pollingSemaphore
	held seat
}

func (s *pollingSemaphore) Acquire(ctx context.Context) (object.Lease, error) {
	held, err := s.take(ctx, "lease", func(before []string) bool { return len(before) < 2 })
	if err != nil {
		return nil, err
	}
	return pollingLease{s, held}, nil
}

func (l pollingLease) Token() int64                  { return l.held.token }
func (l pollingLease) Release(context.Context) error { return l.leave(l.held) }

// unusualRuns is the number of scenarios of each unusual object, and as many careless ones.
var unusualRuns = flag.Int("unusual.runs", 0,
	"scenarios of each unusual object, and as many careless ones; 0: 8, with -full 100")

// TestUnusualObjectsSurvive: no hunt finds a violation in a right object, however it is written.
func TestUnusualObjectsSurvive(t *testing.T) {
	t.Parallel()
	for n := range testrun.Pick(uint64(1), 6) {
		objects := unusual(n)
		for i, name := range slices.Sorted(maps.Keys(objects)) {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				t.Parallel()
				unusualSurvives(t, unusual(n + uint64(testrun.Pick(i, 0)))[name].Named(name))
			})
		}
	}
}

func unusualSurvives(t *testing.T, w scenario.Workload) {
	t.Helper()
	for _, careless := range []bool{false, true} {
		script := scenario.DefaultScript
		script.Careless = careless
		found, err := hunt.Hunt{
			Workload: w, Script: script, Seed: 1,
			Runs: cmp.Or(*unusualRuns, testrun.Pick(8, 100)),
		}.Run(t.Context())
		check.OK(t, err)
		if o := found.First(); o != nil {
			t.Errorf("careless: %v, after %d scenarios:\n%s", careless, found.Runs, o.Story())
		}
	}
}

// anonymous is a lock whose errors are those of no known client package.
type anonymous struct {
	conn *zk.Conn
	path string
}

func (a anonymous) Lock(ctx context.Context) error {
	for ctx.Err() == nil {
		_, err := a.conn.Create(a.path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}

func (a anonymous) Unlock(context.Context) error {
	if err := a.conn.Delete(a.path, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return fmt.Errorf("not done: %v", err) // does not wrap it
	}
	return nil
}

// TestAnOutageCostsNoGiveBack: while no server can be reached, the script repeats an unlock that
// reports its failure, however often that is, also a lock on another client package, whose errors
// it does not know.
func TestAnOutageCostsNoGiveBack(t *testing.T) {
	other := object.Lock(func(env object.Env) object.Locker {
		return anonymous{env.Conn, env.Path}
	})
	for _, w := range []scenario.Workload{
		unusual(0)["frank lock"].Named("frank lock"), other.Named("anonymous"),
	} {
		for seed := range uint64(8) {
			fuzztest.Holds(t, scenario.Scenario{
				Workload: w, Script: scenario.Script{Clients: 2, Rounds: 2}, Seed: seed,
				Plan: plan(t, "restart 12s client=a op=delete request=1"),
			})
		}
	}
}

// TestALazyLockIsGivenItsTime: nine callers that poll every three minutes and lose messages are not
// taken for a hang, nor for a loop when they poll at the same time.
func TestALazyLockIsGivenItsTime(t *testing.T) {
	t.Parallel()
	for n, c := range []struct {
		seed uint64
		plan []string
	}{
		{14806603679420563699, []string{
			"refuse 20ms client=c request=13", "drop-reply client=b request=59",
			"restart 30ms client=b request=43", "expire client=a at=9m44.97s",
		}},
		{11356340617778044228, []string{
			"late-reap-unlike-3.8 5.1s client=b at=6m27.676s", "respawn 510ms client=c request=13",
			"drop-request client=b request=30", "drop-request client=b request=17",
		}},
	} {
		fuzztest.Holds(t, scenario.Scenario{
			Workload: unusual(uint64(n))["lazy lock"].Named("lazy lock"),
			Script:   scenario.Script{Clients: 3, Rounds: 2, Goroutines: 3},
			Seed:     c.seed, Plan: plan(t, c.plan...),
		})
	}
}
