package object_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// registered is a member that makes its node anew in a view, if it flaps, and in an update.
type registered struct {
	env   object.Env
	flaps bool
	in    bool
}

func (r *registered) node() string { return r.env.Path + "/" + r.env.Name }

func (r *registered) Join(_ context.Context, data string) error {
	_, err := r.env.Conn.Create(r.env.Path, nil, 0, zk.WorldACL(zk.PermAll))
	if err == nil || errors.Is(err, zk.ErrNodeExists) {
		_, err = r.env.Conn.Create(r.node(), []byte(data), zk.FlagEphemeral,
			zk.WorldACL(zk.PermAll))
	}
	r.in = err == nil
	return err
}

func (r *registered) Leave(context.Context) error {
	r.in = false
	return r.env.Conn.Delete(r.node(), -1)
}

func (r *registered) Update(ctx context.Context, data string) error {
	if err := r.env.Conn.Delete(r.node(), -1); err != nil {
		return err
	}
	return r.Join(ctx, data)
}

func (r *registered) View(ctx context.Context) (string, error) {
	if r.flaps && r.in {
		if err := r.Update(ctx, r.env.Name+"0"); err != nil {
			return "", err
		}
	}
	names, _, err := r.env.Conn.Children(r.env.Path)
	slices.Sort(names)
	return strings.Join(names, ","), err
}

// neverUpdated is a member without Update.
type neverUpdated struct{ object.Roster }

// TestMembersMayNotDeleteThemselves: not in a view, and in an update only by a claim.
func TestMembersMayNotDeleteThemselves(t *testing.T) {
	plain := func(flaps bool) func(env object.Env) object.Roster {
		return func(env object.Env) object.Roster {
			return neverUpdated{&registered{env: env, flaps: flaps}}
		}
	}
	updating := func(env object.Env) object.Roster { return &registered{env: env} }
	for _, c := range []struct {
		name   string
		open   func(object.Env) object.Roster
		claims object.MembershipClaims
		want   string
	}{
		{"stays", plain(false), object.MembershipClaims{}, ""},
		{"flaps", plain(true), object.MembershipClaims{}, linearizability.Presence},
		{"replaces itself", updating, object.MembershipClaims{}, linearizability.Presence},
		{"says so", updating, object.MembershipClaims{Replaces: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.claims.NoEvict = true
			c.claims.LeavesAtRest = []string{"/members"}
			got := ""
			for seed := range uint64(8) {
				o := run(t, scenario.Scenario{Workload: object.Membership(c.open, c.claims).Named("own"),
					Script: scenario.Script{Clients: 2, Rounds: 2}, Seed: seed})
				got = max(got, o.Property())
			}
			check.Equal(t, got, c.want)
		})
	}
}

// TestNoEvict: nobody evicts the members of such an implementation.
func TestNoEvict(t *testing.T) {
	for _, claim := range []bool{false, true} {
		evicts := 0
		for seed := range uint64(8) {
			o := run(t, scenario.Scenario{
				Workload: object.Membership(func(env object.Env) object.Roster {
					return neverUpdated{&registered{env: env}}
				}, object.MembershipClaims{NoEvict: claim}).Named("own"),
				Script: scenario.Script{Clients: 2, Rounds: 2}, Seed: seed})
			for _, op := range o.History.Ops {
				if op.Kind == ops.Evict {
					evicts++
				}
			}
		}
		check.Equal(t, evicts == 0, claim)
	}
}

// TestDiscoveryBegins: code that has just begun has shown nothing yet.
func TestDiscoveryBegins(t *testing.T) {
	t.Parallel()
	for _, never := range []bool{false, true} {
		w := object.Discovery(func(env object.Env, show func(...string)) object.Registrar {
			go func() {
				for !never && env.Context.Err() == nil {
					time.Sleep(500 * time.Millisecond)
					if names, _, err := env.Conn.Children(env.Path); err == nil {
						show(names...)
					}
				}
			}()
			return builtin.Member(env)
		}, object.MembershipClaims{Recheck: time.Second}).Named("slow")
		violated := 0
		for seed := uint64(15); seed < 20; seed++ {
			out := fuzztest.Run(t, scenario.Scenario{Workload: w, Seed: seed,
				Script: scenario.Script{Clients: 3, Rounds: 2},
				Plan:   plan(t, fmt.Sprintf("respawn 10ms client=b at=%dms", 14000+seed*100))})
			if out.Status() != linearizability.OK {
				violated++
			}
			if !never && violated > 0 {
				t.Fatalf("seed %d: %s", seed, out.Story())
			}
		}
		if never && violated == 0 {
			t.Error("a discovery that never shows anything was not found")
		}
	}
}
