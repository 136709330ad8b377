package object_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/recipes"
)

// The objects below write by the recipes, and read by an ordinary read without a sync.

// ordinary reads a znode, "" if there is none.
func ordinary(conn *zk.Conn, path string) (string, *zk.Stat, error) {
	data, stat, err := conn.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return "", nil, nil
	}
	return string(data), stat, err
}

// ordinaryState reads a znode as a state of a value.
func ordinaryState(conn *zk.Conn, path string) (object.ValueState, error) {
	data, stat, err := ordinary(conn, path)
	if err != nil || stat == nil {
		return object.ValueState{}, err
	}
	return object.ValueState{Exists: true, Data: []byte(data), Version: stat.Version}, nil
}

type ordinaryCounter struct {
	*recipes.Counter
	conn *zk.Conn
}

func (c ordinaryCounter) Get(context.Context) (int64, error) {
	data, stat, err := ordinary(c.conn, "/counter")
	if err != nil || stat == nil {
		return 0, err
	}
	return strconv.ParseInt(data, 10, 64)
}

type ordinaryValue struct {
	object.Valuer
	conn *zk.Conn
}

func (v ordinaryValue) Get(context.Context) (object.ValueState, error) {
	return ordinaryState(v.conn, "/value")
}

type ordinaryConfig struct {
	*builtin.ConfigCenter
	conn *zk.Conn
}

func (c ordinaryConfig) Fetch(_ context.Context, key string) (object.ValueState, error) {
	return ordinaryState(c.conn, "/config/keys/"+key)
}

type ordinaryBarrier struct {
	*recipes.Barrier
	conn *zk.Conn
}

func (b ordinaryBarrier) IsSet(context.Context) (bool, error) {
	set, _, err := b.conn.Exists("/barriers/b")
	return set, err
}

// oldest reads the oldest sequential child.
func oldest(conn *zk.Conn, dir string) (data string, stat *zk.Stat, err error) {
	for stat == nil {
		names, _, err := conn.Children(dir)
		if errors.Is(err, zk.ErrNoNode) || err == nil && len(names) == 0 {
			return "", nil, nil
		}
		if err != nil {
			return "", nil, err
		}
		first := slices.MinFunc(names, func(a, b string) int {
			return strings.Compare(a[len(a)-10:], b[len(b)-10:])
		})
		if data, stat, err = ordinary(conn, dir+"/"+first); err != nil {
			return "", nil, err
		}
	}
	return data, stat, nil
}

type ordinaryElection struct {
	lockElector
	conn *zk.Conn
}

func (e ordinaryElection) Leader(context.Context) (string, int64, error) {
	name, stat, err := oldest(e.conn, "/election")
	if err != nil || stat == nil {
		return "", 0, err
	}
	return name, stat.Czxid, nil
}

// TestOrdinaryReadsNeedAClaim: with several servers each object is accused without the claim
// StaleReads, by words that name it, and never with it.
func TestOrdinaryReadsNeedAClaim(t *testing.T) {
	workloads := map[string]func(stale bool) scenario.Workload{
		"counter": func(stale bool) scenario.Workload {
			return object.Counter(func(env object.Env) object.Counterer {
				return ordinaryCounter{recipes.NewCounter(env.Conn, env.Path), env.Conn}
			}, object.CounterClaims{StaleReads: stale})
		},
		"value": func(stale bool) scenario.Workload {
			return object.Value(func(env object.Env) object.Valuer {
				ours := builtin.SharedValue{SharedValue: recipes.NewSharedValue(env.Conn, env.Path)}
				return ordinaryValue{ours, env.Conn}
			}, object.ValueClaims{StaleReads: stale})
		},
		"configuration centre": func(stale bool) scenario.Workload {
			return object.Config(func(env object.Env) object.Configurer {
				return ordinaryConfig{builtin.NewConfigCenter(env), env.Conn}
			}, object.ConfigClaims{StaleReads: stale, Silent: true, Recheck: builtin.Recheck})
		},
		"barrier": func(stale bool) scenario.Workload {
			return object.Barrier(func(env object.Env) object.Barrierer {
				return ordinaryBarrier{recipes.NewBarrier(env.Conn, env.Path), env.Conn}
			}, object.BarrierClaims{StaleReads: stale})
		},
		"election": func(stale bool) scenario.Workload {
			return object.Election(func(env object.Env) object.Elector {
				name := recipes.Data([]byte(env.Name))
				return ordinaryElection{
					lockElector{recipes.NewLock(env.Conn, env.Path, name)}, env.Conn}
			}, object.LockClaims{StaleReads: stale})
		},
		"priority queue": func(stale bool) scenario.Workload {
			return object.PriorityQueue(func(env object.Env) object.PriorityQueuer {
				return scanningQueue{env.Conn, env.Path}
			}, object.QueueClaims{StaleReads: stale, MayOvertake: true, MayLose: true})
		},
	}
	for name, workload := range workloads {
		t.Run(name, func(t *testing.T) {
			for _, stale := range []bool{false, true} {
				found := 0
				for seed := range uint64(100) {
					o, err := scenario.Scenario{
						Workload: workload(stale), Seed: seed,
						Script: scenario.Script{Clients: 3, Rounds: 2, Servers: 3},
					}.Run()
					check.OK(t, err)
					if o.Property() == "" {
						continue
					}
					if found++; stale || !strings.Contains(o.Summary(), "(the claim StaleReads would allow it)") {
						t.Fatalf("claimed: %v\n%s", stale, o.Story())
					}
				}
				if !stale && found == 0 {
					t.Error("no ordinary read was told from one that is as new as its call")
				}
			}
		})
	}
}

// rememberingCounter tells what its own last call has told.
type rememberingCounter struct {
	*recipes.Counter
	last int64
}

func (c *rememberingCounter) Add(ctx context.Context, delta int64) (int64, error) {
	sum, err := c.Counter.Add(ctx, delta)
	if err == nil {
		c.last = sum
	}
	return sum, err
}

func (c *rememberingCounter) Get(context.Context) (int64, error) { return c.last, nil }

// openBarrier does not look whether the barrier is up.
type openBarrier struct{ *recipes.Barrier }

func (openBarrier) Wait(context.Context) error { return nil }

// TestOneServerHasNoStaleReads: the claim allows nothing there, and no words say that it does.
func TestOneServerHasNoStaleReads(t *testing.T) {
	for name, workload := range map[string]scenario.Workload{
		"counter": object.Counter(func(env object.Env) object.Counterer {
			return &rememberingCounter{Counter: recipes.NewCounter(env.Conn, env.Path)}
		}, object.CounterClaims{StaleReads: true}),
		"barrier": object.Barrier(func(env object.Env) object.Barrierer {
			return openBarrier{recipes.NewBarrier(env.Conn, env.Path)}
		}, object.BarrierClaims{StaleReads: true}),
	} {
		found := 0
		for seed := range uint64(20) {
			o, err := scenario.Scenario{Workload: workload, Seed: seed,
				Script: scenario.Script{Clients: 3, Rounds: 2}}.Run()
			check.OK(t, err)
			if o.Property() != "" {
				found++
			}
			if strings.Contains(o.Summary(), "StaleReads") {
				t.Errorf("%s: %s", name, o.Story())
			}
		}
		if found == 0 {
			t.Errorf("%s: what it tells is taken for the answer of a server that lags", name)
		}
	}
}
