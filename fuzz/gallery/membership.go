package gallery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
)

var publishedMembership = []Exhibit{
	{Slug: "guard-watch-used-up", Alias: "B76", Title: "the guard that heard of other data",
		Source: Report, Link: "https://github.com/apache/curator/issues/778",
		Bug: "The guard of a persistent ephemeral waits for its deletion. When its data changes " +
			"the watch fires for that, and is not set again: when the node is deleted later it " +
			"is not made again.",
		Property: presence, Wrong: updatingOf(func(m *member) {
			m.await = func(ctx context.Context, change <-chan zk.Event) error {
				event, err := await(ctx, change)
				if err == nil && event.Type == zk.EventNodeDataChanged {
					<-ctx.Done() // wrong: the watch is used up
				}
				return connectionClosed(event)
			}
		}), Right: updatingOf()},
	{Slug: "unregister-races-reconnect", Alias: "B78",
		Title:  "registered again while it is taken back",
		Source: Report, Link: "https://github.com/apache/curator/issues/685",
		See: []string{"kitex-contrib/registry-zookeeper"},
		Bug: "After a reconnect all services of a list are registered again. To take one back " +
			"its node is deleted, and then it is taken off the list. If the connection breaks " +
			"over the delete, the service is registered between the two, and its node is there " +
			"as long as the session lives.",
		Property: presence, Wrong: memberOf(func(m *member) {
			remove := m.afterReconnect()
			m.leave = func() error {
				err := remove()
				m.stopGuard() // wrong: too late
				return err
			}
		}), Right: memberOf(func(m *member) {
			remove := m.afterReconnect()
			m.leave = func() error {
				m.stopGuard()
				return remove()
			}
		}), Script: scenario.Script{Clients: 1, Rounds: 2}}, // a single client is not evicted
	{Slug: "old-node-taken-for-own", Alias: "B79",
		Title:  "the node of the session before is taken for the own one",
		Source: Report, Link: "https://github.com/apache/dubbo/issues/5125",
		See: []string{"S4-17", "KAFKA-1387", "CURATOR pull request 50", "kratos pull request 2245"},
		Bug: "In a new session the node is there already, so all is well. But it is of the " +
			"session before: the server deletes it a moment later, and it is not registered " +
			"again.",
		Property: presence, Wrong: memberOf(func(m *member) {
			known := false
			m.theirs = func(stat *zk.Stat) bool {
				known = m.ofAnotherSession(stat)
				return false // wrong: it will go with its session
			}
			m.await = func(ctx context.Context, change <-chan zk.Event) error {
				if known {
					<-ctx.Done() // all is well, for ever
				}
				return untilEvent(ctx, change)
			}
		})},
	{Slug: "error-read-as-empty", Alias: "B82", Title: "an unreadable member is gone",
		Source: Report, Link: "https://github.com/vitessio/vitess/issues/15632",
		Bug: "A view is refreshed just when the connection is lost. The error is taken for an " +
			"empty list, and all members for having left.",
		Property: answers, Wrong: memberOf(func(m *member) {
			m.view = func(context.Context) ([]string, error) {
				names, _ := m.list() // wrong: an error says nothing about them
				return names, nil
			}
		})},
	{Slug: "registered-once", Alias: "S4-16", Title: "registered once and for all",
		Source: Report, Link: "https://github.com/pinterest/memq/pull/55",
		See: []string{"hertz-contrib/registry", "wvanbergen/kazoo-go"},
		Bug: "A provider registers when it starts. When its session ends the node goes. It has a " +
			"new session soon and works as before, but no client finds it.",
		Property: presence,
		// wrong: each session needs a node
		Wrong: memberOf(func(m *member) { m.guarded = false })},
	{Slug: "registers-until-first-error", Title: "the first error ends the registration",
		Source: Code, Link: "https://github.com/go-kratos/kratos/blob/668db92c2c001e9552594ba5a8aede8456af6d7e/contrib/registry/zookeeper/register.go#L166-L181",
		Bug: "A loop looks each second whether the session is another one, and then registers " +
			"again. If that fails the loop ends, without a word. The provider works on, and no " +
			"client finds it until it is started again.",
		Property: presence, Wrong: memberOf(polling(func(error) bool { return false })),
		Right:  memberOf(polling(func(error) bool { return true })),
		Script: scenario.Script{Clients: 1, Rounds: 1}}, // a single client is not evicted
	{Slug: "registered-again-after-leaving", Title: "a provider that has left is registered again",
		Source: Code, Link: "https://github.com/go-kratos/kratos/blob/668db92c2c001e9552594ba5a8aede8456af6d7e/contrib/registry/zookeeper/register.go#L82-L101",
		Bug: "The loop that registers in each new session is started by Register, and Deregister " +
			"does not end it. When the session ends later the provider that was taken back is " +
			"there again, for as long as the process lives.",
		Property: presence, Wrong: memberOf(polling(func(error) bool { return true }),
			func(m *member) { m.leave = m.remove }), // wrong: the loop goes on
		Right:  memberOf(polling(func(error) bool { return true })),
		Script: scenario.Script{Clients: 1, Rounds: 2}},
	{Slug: "refused-by-own-node", Title: "a provider is refused by its own node",
		Source: Code, Link: "https://github.com/hertz-contrib/registry/blob/8a220332e808c6ce929e82887c1caede3fe5a462/zookeeper/registry.go#L46-L59",
		See: []string{"uber-go/go-helix"},
		Bug: "Register makes the node, and NodeExists is an error. The node can be the " +
			"provider's own: the reply to the first create was lost, or the process was started " +
			"again before its earlier session has ended. It is not registered then, or will not " +
			"be.",
		Property: invariant,
		Wrong:    reRegistering(func(*member) error { return zk.ErrNodeExists }), // wrong: its own
		Right:    reRegistering((*member).replaceOwn)},
	{Slug: "departure-fails-lookup", Title: "an instance that goes fails the look-up of all",
		Source: Code, Link: "https://github.com/go-kratos/kratos/blob/668db92c2c001e9552594ba5a8aede8456af6d7e/contrib/registry/zookeeper/register.go#L104-L130",
		See: []string{"kitex-contrib/registry-zookeeper", "hertz-contrib/registry"},
		Bug: "A look-up lists the instances, and reads the data of each. If one has gone between " +
			"the two its NoNode is the result, and the caller gets none of the others.",
		Property: invariant,
		Wrong:    lookups(func(error) bool { return false }), // wrong: the others are there
		Right:    lookups(func(err error) bool { return errors.Is(err, zk.ErrNoNode) })},
	{Slug: "children-come-unseen", Title: "the watch that waits for a directory sees no children",
		Source: Code, Link: "https://github.com/go-kratos/kratos/blob/668db92c2c001e9552594ba5a8aede8456af6d7e/contrib/registry/zookeeper/watcher.go#L38-L60",
		Bug: "A watcher of a service that is not there asks whether it is, and watches for it. " +
			"If the service has come between the two, that watch is for its data. The first " +
			"instances come below it, and the watcher never hears of any.",
		Property: liveness,
		Wrong:    discovering(func(bool) bool { return true }), // wrong: it may be there by now
		Right:    discovering(func(there bool) bool { return !there })},
	{Slug: "instance-between-two-lists", Title: "an instance that comes between two lists",
		Source: Report, Link: "https://github.com/micro/go-micro/issues/2101",
		Bug: "A watcher lists and watches, and lists again after the event, and tells what the " +
			"second list has more. Then it begins anew, and the next list with a watch is what " +
			"it compares with. What has come between these two lists is never told.",
		Property: liveness,
		Wrong: gathering(func(round int) bool {
			return round == 0
		}), // wrong: each may have news
		Right: gathering(func(int) bool { return true })},
}

var plantedMembership = []Exhibit{
	planted("comes back after it has left", presence, memberOf(func(m *member) {
		m.leave = m.remove
	})),
	planted("does not leave", presence, memberOf(func(m *member) { m.leave = nothing })),
	planted("looks only once", answers, memberOf(func(m *member) {
		var seen []string
		m.view = func(context.Context) (_ []string, err error) {
			if seen == nil {
				seen, err = m.list()
			}
			return slices.Clone(seen), err
		}
	})),
	planted("deletes all others", safety, memberOf(func(m *member) {
		m.view = func(context.Context) ([]string, error) {
			names, err := m.list()
			for _, name := range names {
				if name != m.name {
					err = errors.Join(err,
						ignore(m.conn.Delete(membersDir+"/"+name, -1), zk.ErrNoNode))
				}
			}
			return names, err
		}
	})),
	planted("never answers", liveness, memberOf(func(m *member) {
		m.view = func(ctx context.Context) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})),
}

// member is a member of a group in steps: an ephemeral of a fixed name, and a guard that makes it
// again when it is gone. It lists the others at each look. An exhibit replaces a step by a wrong
// one.
type member struct {
	conn *zk.Conn
	name string
	data string
	life context.Context // of the client
	background

	guarded bool                                                    // it has a guard
	run     func(ctx context.Context)                               // the guard
	theirs  func(stat *zk.Stat) bool                                // the node is another session's
	await   func(ctx context.Context, change <-chan zk.Event) error // until the guard looks again
	leave   func() error
	view    func(ctx context.Context) ([]string, error)
}

// background is a goroutine that can be started and stopped.
type background struct {
	stop context.CancelFunc // nil: it does not run
	idle chan struct{}      // closed when it has ended
}

func (b *background) startGuard(ctx context.Context, run func(context.Context)) {
	if b.stop != nil {
		return
	}
	ctx, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	idle := make(chan struct{})
	b.idle = idle
	go func() {
		defer close(idle)
		run(ctx)
	}()
}

func (b *background) stopGuard() {
	if b.stop != nil {
		b.stop()
		<-b.idle
		b.stop = nil
	}
}

const membersDir = "/members"

// memberOf is a workload of a group with some steps replaced.
func memberOf(steps ...func(*member)) scenario.Workload {
	return openMember(func(m *member) object.Roster { return m }, steps)
}

// openMember is a workload of any member that is made of a plain one.
func openMember(open func(*member) object.Roster, steps []func(*member)) scenario.Workload {
	return beside(object.Membership(func(env object.Env) object.Roster {
		return open(with(newMember(env), steps))
	}), membersDir)
}

func newMember(env object.Env) *member {
	m := &member{conn: env.Conn, name: env.Name, life: env.Context, guarded: true}
	m.run, m.theirs, m.await, m.leave = m.guard, m.ofAnotherSession, untilEvent, m.stopAndDelete
	m.view = func(context.Context) ([]string, error) { return m.list() }
	return m
}

func (m *member) path() string { return membersDir + "/" + m.name }

func (m *member) Join(ctx context.Context, data string) error {
	m.data = data
	if err := m.ensureNode(); err != nil {
		return err
	}
	if m.guarded {
		m.startGuard(ctx, m.run)
	}
	return nil
}

// ensureNode makes the node, unless it is there.
func (m *member) ensureNode() error {
	_, err := m.conn.Create(m.path(), []byte(m.data), zk.FlagEphemeral, acl)
	if !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	_, stat, err := m.conn.Get(m.path())
	if err == nil && m.theirs(stat) {
		err = zk.ErrNodeExists
	}
	return err
}

func (m *member) ofAnotherSession(stat *zk.Stat) bool {
	return stat.EphemeralOwner != m.conn.SessionID()
}

// guard makes the node again when it is gone.
func (m *member) guard(ctx context.Context) {
	for ctx.Err() == nil {
		there, stat, change, err := m.conn.ExistsW(m.path())
		switch {
		case errors.Is(err, zk.ErrConnectionClosed) && ctx.Err() != nil:
			return
		case err != nil:
		case !there:
			err = m.ensureNode()
		case !m.theirs(stat):
			err = m.await(ctx, change)
		default:
			err = zk.ErrNodeExists // it will go with its session
		}
		if errors.Is(err, zk.ErrClosing) {
			return
		}
		if err != nil {
			await(ctx, after(200*time.Millisecond))
		}
	}
}

// untilEvent waits for any event.
func untilEvent(ctx context.Context, change <-chan zk.Event) error {
	event, _ := await(ctx, change)
	return connectionClosed(event)
}

// connectionClosed is the error of an event that tells of the end of the connection.
func connectionClosed(event zk.Event) error {
	if errors.Is(event.Err, zk.ErrClosing) {
		return event.Err
	}
	return nil
}

func (m *member) Leave(context.Context) error { return m.leave() }

// stopAndDelete ends the guard, and only then deletes the node.
func (m *member) stopAndDelete() error {
	m.stopGuard()
	return m.remove()
}

func (m *member) remove() error { return ignore(m.conn.Delete(m.path(), -1), zk.ErrNoNode) }

func (m *member) View(ctx context.Context) (string, error) {
	names, err := m.view(ctx)
	slices.Sort(names)
	return strings.Join(names, ","), err
}

func (m *member) list() ([]string, error) {
	names, _, err := m.conn.Children(membersDir)
	return names, err
}

// updating is a member with data that can be changed.
type updating struct{ *member }

func (u updating) Update(_ context.Context, data string) error {
	_, err := u.conn.Set(u.path(), []byte(data), -1)
	if err == nil {
		u.data = data
	}
	return err
}

// updatingOf is memberOf with data that can be changed.
func updatingOf(steps ...func(*member)) scenario.Workload {
	return openMember(func(m *member) object.Roster { return updating{m} }, steps)
}

// afterReconnect makes the guard look after a reconnect and in a new session only. It returns a
// function that deletes the node until it is known to be gone, and tells the guard when the
// connection breaks over that.
func (m *member) afterReconnect() (remove func() error) {
	broken := make(chan struct{}, 1)
	m.await = func(ctx context.Context, change <-chan zk.Event) error {
		for {
			select {
			case ev := <-change:
				if ev.Err != nil { // the session has ended, or the connection
					return ev.Err
				}
				change = nil
			case <-broken:
				return nil
			case <-ctx.Done():
				return nil
			}
		}
	}
	return func() (err error) {
		for range attempts {
			if err = m.remove(); !errors.Is(err, zk.ErrConnectionClosed) {
				return err
			}
			select {
			case broken <- struct{}{}:
			default:
			}
		}
		return err
	}
}

// polling replaces the guard by one that looks each second whether the session is another one, and
// then makes the node again. continuesAfterError says whether it goes on after an error.
func polling(goesOn func(error) bool) func(*member) {
	return func(m *member) {
		m.run = func(ctx context.Context) {
			session := m.conn.SessionID()
			for ctx.Err() == nil && m.life.Err() == nil {
				await(ctx, after(time.Second))
				now := m.conn.SessionID()
				if now == 0 || now == session || ctx.Err() != nil {
					continue
				}
				err := m.replaceOwn()
				if err == nil {
					session = now
				} else if !goesOn(err) {
					return // wrong: for ever
				}
			}
		}
	}
}

// replaceOwn makes the own node in place of that of an earlier session.
func (m *member) replaceOwn() error {
	if err := m.remove(); err != nil {
		return err
	}
	return m.ensureNode()
}

// reRegistering is a workload of providers that register, and stay. taken is their answer to a node
// that is there.
func reRegistering(taken func(*member) error) scenario.Workload {
	return judgedBy(playing(beside(memberOf(), membersDir), func(p *scenario.Player, round int) {
		m := newMember(object.Env{Conn: p.Conn(), Name: p.Name()})
		p.Attempt(attempts, func(int) error {
			return do(p, ops.Join, m.name, func(context.Context) error {
				_, err := m.conn.Create(m.path(), nil, zk.FlagEphemeral, acl)
				if errors.Is(err, zk.ErrNodeExists) {
					return taken(m)
				}
				return err
			})
		})
		p.Hold(scenario.At("hold", round), nil)
		_ = do(p, ops.Leave, m.name, func(context.Context) error { return m.remove() })
	}), "a call fails only with its connection", noOtherErrors)
}

// lookups is a workload of providers that come and go, and look each other up. skips says whether
// an error is about one instance that has gone.
func lookups(skips func(error) bool) scenario.Workload {
	lookUp := func(m *member) error {
		names, err := m.list()
		for _, name := range names {
			_, _, err = m.conn.Get(membersDir + "/" + name)
			if err != nil && !skips(err) {
				return err
			}
			err = nil
		}
		return err
	}
	return judgedBy(playing(beside(memberOf(), membersDir), func(p *scenario.Player, round int) {
		m := newMember(object.Env{Conn: p.Conn(), Name: p.Name()})
		_ = do(p, ops.Join, m.name, func(context.Context) error { return m.replaceOwn() })
		_ = do(p, ops.View, "", func(context.Context) error { return lookUp(m) })
		p.Hold(scenario.At("hold", round), nil)
		_ = do(p, ops.Leave, m.name, func(context.Context) error { return m.remove() })
	}), "a call fails only with its connection", noOtherErrors)
}
