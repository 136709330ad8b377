package object

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

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
// they may be out of date for as long as faults and a new session take, and for Recheck. Code that
// has just begun has that time for its first call of show, too.
//
// open returns the Registrar of the client's instance. Package builtin has one, Member, for code
// that only watches.
func Discovery(open func(env Env, show func(instances ...string)) Registrar,
	given ...MembershipClaims) scenario.Workload {
	return Membership(func(env Env) Roster {
		d := &discovery{begun: time.Now(), within: lag(nil, optional(given).Recheck)}
		d.Registrar = open(env, d.show)
		return d
	}, given...)
}

// discovery is a Roster that returns the view that was shown last.
type discovery struct {
	Registrar
	begun  time.Time
	within time.Duration // to show something for the first time

	mu    sync.Mutex
	any   bool // something was shown
	shown string
}

func (d *discovery) show(instances ...string) {
	slices.Sort(instances)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.any, d.shown = true, strings.Join(instances, ",")
}

func (d *discovery) View(context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shown, nil
}

// begins reports whether nothing was shown yet, for so short a time that this tells nothing.
func (d *discovery) begins() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.any && time.Since(d.begun) < d.within
}
