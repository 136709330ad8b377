package object

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/zksim/zksim/fuzz/scenario"
)

// Registrar is the part of a registry that adds and removes the instance of one client; see
// [Roster] for its methods.
type Registrar interface {
	Join(ctx context.Context, data string) error
	Leave(ctx context.Context) error
}

// Discovery is [Membership] for code that watches by itself and reports changes, such as the
// service discovery of a library. open starts the code, which calls show with all instances after
// each change, in any order: "a", or "a=data" if the claims have an Instance. Views must converge:
// they may be out of date for as long as faults and a new session take, and for Recheck.
//
// open returns the Registrar of the client's instance. Package builtin has one, Member, for code
// that only watches.
func Discovery(open func(env Env, show func(instances ...string)) Registrar,
	given ...MembershipClaims) scenario.Workload {
	return Membership(func(env Env) Roster {
		d := &discovery{}
		d.Registrar = open(env, d.show)
		return d
	}, given...)
}

// discovery is a Roster that returns the view that was shown last.
type discovery struct {
	Registrar
	mu    sync.Mutex
	shown string
}

func (d *discovery) show(instances ...string) {
	slices.Sort(instances)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown = strings.Join(instances, ",")
}

func (d *discovery) View(context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shown, nil
}
