package object

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// Roster is the side of one client in a group or a service registry under test: its instance, and a
// view of all instances. The methods of [Updater], [Picker] and [RosterCloser] are optional and
// tested, too.
type Roster interface {
	// Join registers the client's instance with data, and waits until it is there. After an error
	// it is called again with the same data until it returns nil.
	Join(ctx context.Context, data string) error
	// Leave removes the instance. After an error it is called again until it returns nil.
	Leave(ctx context.Context) error
	// View shows all instances, sorted. Those of a group are names: "a,b". Those of a registry are
	// service, name and data: "mail/b=data,web/a=data".
	View(ctx context.Context) (string, error)
}

// Updater is a Roster that can change the data of a registered instance.
type Updater interface {
	Update(ctx context.Context, data string) error
}

// RosterCloser is a Roster with Close. The client calls it after its instance has left.
type RosterCloser interface {
	Close(ctx context.Context) error
}

// Picker is a Roster that chooses an instance of a service: "web/a=data", or "" if the service has
// none.
type Picker interface {
	Pick(ctx context.Context, service string) (string, error)
}

// MembershipClaims are the promises of a group or a registry.
type MembershipClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the directory of the members or services; "" means /members.
	Path string
	// Services says that it is a registry: the instances are children of their services, and the
	// services are children of Path.
	Services bool
	// Instance returns the instance that a znode below Path stands for, and the instance's data, by
	// the path and the data of the znode; false if it stands for none. It is for a library with
	// names of its own. Views then show data: "a=data,b=data". No client deletes the instance of
	// another, as with NoEvict.
	Instance func(path, znode string) (name, data string, ok bool)
	// NoEvict says that nobody but its own client deletes or changes an instance: the
	// implementation need not notice that. Without it, the script evicts the instances of others
	// now and then.
	NoEvict bool
	// Replaces says that Update may delete the instance and create it anew. Without it, an instance
	// may not vanish between Join and Leave by a request of its own session.
	Replaces bool
	// Rivals says that all clients want one instance, "x" or "web/x", and one of them has it at a
	// time. Then data is judged in a group, too, and there is another instance, "secret", that no
	// client may read.
	Rivals bool
	// Recheck is the time after which a view reads again without an event. A view may be out of
	// date for that much longer.
	Recheck time.Duration
	// LeavesAtRest are patterns (path.Match) of znodes that may stay.
	LeavesAtRest []string
}

// Membership makes a workload of a group or a registry. Each client calls open once, with the name
// of its instance in Env: its own name in a group, "web/name" or "mail/name" in a registry. It
// joins and leaves round after round, looks at the view, and now and then deletes the instance of
// another client. Then one client in three closes its object and opens another. At the end all
// members are present for a minute, and then absent for longer than the server keeps empty
// containers. A Join of a rival ends after some seconds, and the rival stays a candidate.
func Membership(open func(Env) Roster, given ...MembershipClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/members")
	name := "membership"
	if claims.Services {
		name = "registry"
	}
	return judgedAt(scenario.Workload{
		Name:  name,
		About: claims.About,
		Play: func(p *scenario.Player, s scenario.Script) {
			mp := &memberPlayer{client: p, claims: claims, clients: s.Clients}
			if p.Choose("late", 4) == 0 {
				p.Pause(time.Duration(p.Choose("late by", 500)) * time.Millisecond)
			}
			mp.open = func() Roster {
				env := envOf(p, claims.Path)
				env.Name = mp.instance(p.Index())
				return open(env)
			}
			mp.own = mp.open()
			mp.makeSecret()
			for round := range p.Rounds(s.Rounds) {
				p.Rest(round)
				mp.turn(round)
			}
			mp.reopen(s.Rounds)
			mp.finish(s.Rounds)
		},
		Length: func(s scenario.Script) time.Duration {
			d := time.Duration(s.Rounds)*4*scenario.LongHold + atRest + untilReaped + time.Minute
			if claims.Rivals {
				d += time.Duration(s.Clients) * atRest
			}
			return d
		},
	}, claims.Path, ops.Join, claims.of)
}

const (
	// atRest is how long all members stay at the end. Views must show them during that time.
	atRest = time.Minute
	// untilReaped is longer than a server keeps an empty container.
	untilReaped = 70 * time.Second
)

type memberPlayer struct {
	client  *scenario.Player
	own     Roster
	open    func() Roster
	claims  MembershipClaims
	clients int
	joined  bool
}

// instance is the name of the instance of the n-th client.
func (p *memberPlayer) instance(n int) string {
	name := nameOf(p.client, n)
	if p.claims.Rivals {
		n, name = 0, "x"
	}
	if p.claims.Services {
		return p.service(n) + "/" + name
	}
	return name
}

// services are the services of a registry.
var services = []string{"web", "mail"}

func (p *memberPlayer) service(n int) string { return services[n%len(services)] }

// turn joins, stays for a while, and leaves in half of the rounds.
func (p *memberPlayer) turn(round int) {
	p.join(round)
	p.look()
	p.client.Hold(scenario.At("member", round), nil)
	p.update(round)
	p.pick(round)
	if p.clients > 1 && p.mayDisturb() && p.client.Choose(scenario.At("meddle", round), 3) == 0 {
		p.disturb(round)
		p.client.Hold(scenario.At("meddled", round), nil)
	}
	p.look()
	if p.client.Choose(scenario.At("leave", round), 2) == 0 {
		p.leave(round)
		p.look()
	}
}

// reopen leaves, closes the object and opens another, for one client in three, if it has Close.
func (p *memberPlayer) reopen(rounds int) {
	closer, ok := p.own.(RosterCloser)
	if !ok || !sometimes(p.client, "Close", "again", 3) {
		return
	}
	if p.joined {
		p.leave(rounds + 1)
	}
	if err := closer.Close(p.client.Context()); err != nil {
		p.client.Pause(retryPause)
	}
	p.own = p.open()
}

// finish lets all clients join, and then all leave.
func (p *memberPlayer) finish(rounds int) {
	p.join(rounds)
	if p.claims.Rivals && !p.claims.NoEvict {
		p.disturb(rounds)
	}
	p.client.Pause(atRest)
	if p.claims.Rivals { // they leave one after the other, so that the others take over
		p.client.Pause(time.Duration(p.client.Index()) * atRest)
	}
	p.look()
	p.pick(rounds)
	p.leave(rounds)
	p.client.Pause(untilReaped)
	p.look()
	p.pick(rounds + 1)
}

// join joins, unless the client has joined.
func (p *memberPlayer) join(round int) {
	if p.joined {
		return
	}
	data := fmt.Sprintf("%s%d", p.client.Name(), round)
	if isEmpty(p.client, round) {
		data = ""
	}
	p.joined = p.retry(func(attempt int) error {
		return p.change(ops.Join, "="+data, scenario.At("join", round), attempt,
			func(ctx context.Context) error {
				return p.own.Join(ctx, data)
			})
	})
}

// change is an attempt to change the client's instance. A call that fails with a context that was
// done from the start has not begun.
func (p *memberPlayer) change(
	kind, with, label string, attempt int, do func(context.Context) error,
) error {
	c := p.client.Begin(kind, p.instance(p.client.Index())+with)
	ctx, cancel := p.shortContext(p.client.Context(), label, attempt)
	defer cancel()
	late := ctx.Err() != nil
	switch err := do(ctx); {
	case err == nil:
		c.OK(linearizability.Result{})
		return nil
	case late:
		c.Failed(err)
		return fmt.Errorf("%w: %w", errNotBegun, err)
	default:
		c.Unknown(linearizability.Result{}, err)
		return err
	}
}

var errNotBegun = errors.New("not begun")

// shortContext is the context of an attempt. The first attempt has a short one now and then.
func (p *memberPlayer) shortContext(
	ctx context.Context, label string, attempt int,
) (context.Context, context.CancelFunc) {
	ctx, cancel := p.client.Hasty(ctx, attempt, label, 4, time.Millisecond, 30*time.Millisecond)
	if attempt > 0 || !p.claims.Rivals {
		return ctx, cancel
	}
	patience := time.Second + time.Duration(p.client.Choose(label+" rival", 5_000_000))*time.Microsecond
	ctx, impatient := p.client.Within(ctx, patience)
	return ctx, func() { impatient(); cancel() }
}

// retry tries until it succeeds. A rival tries once, since it cannot succeed while another client
// has the instance. It tries again only if the first attempt has not begun.
func (p *memberPlayer) retry(try func(attempt int) error) bool {
	if !p.claims.Rivals {
		return p.client.Persist(try)
	}
	err := try(0)
	if errors.Is(err, errNotBegun) {
		err = try(1)
	}
	if err != nil {
		p.client.Pause(retryPause)
	}
	return true
}

func (p *memberPlayer) leave(round int) {
	p.joined = !p.client.Persist(func(attempt int) error {
		return p.change(ops.Leave, "", scenario.At("leaving", round), attempt, p.own.Leave)
	})
}

// update changes the data, if the object has Update, and stays for a while: work of the object in
// the background and the next call must not happen at one instant.
func (p *memberPlayer) update(round int) {
	u, ok := p.own.(Updater)
	if !ok || !sometimes(p.client, "Update", scenario.At("update", round), 2) {
		return
	}
	data := fmt.Sprintf("%s%du", p.client.Name(), round)
	p.retry(func(attempt int) error {
		return p.change(ops.Update, "="+data, scenario.At("updating", round), attempt,
			func(ctx context.Context) error {
				return u.Update(ctx, data)
			})
	})
	p.client.Hold(scenario.At("updated", round), nil)
}

func (p *memberPlayer) look() {
	if d, ok := p.own.(*discovery); ok && d.begins() {
		return
	}
	p.client.Persist(func(int) error {
		return p.client.Do(ops.View, "", func(ctx context.Context) (linearizability.Result, error) {
			shown, err := p.own.View(ctx)
			return linearizability.Result{Output: shown, Empty: err == nil && shown == ""}, err
		})
	})
}

// pick chooses three instances, if the object has Pick.
func (p *memberPlayer) pick(round int) {
	picker, ok := p.own.(Picker)
	for n := 0; n < 3 && ok; n++ {
		p.client.Optional("Pick", true)
		service := p.service(p.client.Choose(scenario.At("pick", round, n), 2))
		p.client.Persist(func(int) error {
			return p.client.Do(ops.Pick, service,
				func(ctx context.Context) (linearizability.Result, error) {
					chosen, err := picker.Pick(ctx, service)
					empty := err == nil && chosen == ""
					return linearizability.Result{Output: chosen, Empty: empty}, err
				})
		})
	}
}

// mayDisturb reports whether clients may touch the instances of others. The names of an
// implementation with names of its own are unknown.
func (p *memberPlayer) mayDisturb() bool {
	return p.claims.Instance == nil && !p.claims.NoEvict
}

// disturb deletes the instance of another client, or changes its data.
func (p *memberPlayer) disturb(round int) {
	instance := p.instance((p.client.Index() + 1) % p.clients)
	path, kind := p.claims.Path+"/"+instance, ops.Evict
	if p.claims.Rivals && p.client.Choose(scenario.At("spoil", round), 2) == 0 {
		kind = ops.Spoil
	}
	err := p.client.Call(kind, instance, func(context.Context) (err error) {
		if kind == ops.Spoil {
			_, err = p.client.Conn().Set(path, []byte("graffiti"), -1)
		} else {
			err = p.client.Conn().Delete(path, -1)
		}
		if errors.Is(err, zk.ErrNoNode) {
			err = nil
		}
		return err
	})
	if err != nil {
		p.client.Pause(retryPause)
	}
}

// secret is the instance that no client may read.
const secret = "secret"

// makeSecret makes the secret instance, if there are rivals, by a request that is sent once.
func (p *memberPlayer) makeSecret() {
	if !p.claims.Rivals || p.client.Index() > 0 {
		return
	}
	for _, path := range []string{p.claims.Path, p.claims.Path + "/" + secret} {
		perms := int32(zk.PermAll)
		if path != p.claims.Path {
			perms &^= zk.PermRead
		}
		_, err := p.client.Conn().Create(path, nil, 0, zk.WorldACL(perms))
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			p.client.Pause(retryPause)
		}
	}
}
