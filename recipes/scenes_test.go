package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	. "github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// This file has the scenes, which faults_test.go plays. In each play something happens to one of
// the requests of one client.

// play is one play of a scene. Steps after one that has failed are left out.
type play struct {
	*testing.T
	ctx  context.Context
	s    *testServer
	c    *testConn
	err  error       // of the first step that has failed
	ends []closer    // to be closed in the end
	over atomic.Bool // the Conn was closed: results and nodes do not matter

	struck atomic.Int64 // when the request was disturbed, in nanoseconds; 0: not
	sent   atomic.Int64 // the number of requests up to that
}

// strike notes that the request is disturbed now.
func (p *play) strike() {
	p.struck.Store(time.Now().UnixNano())
	p.sent.Store(int64(len(p.c.Calls())))
}

// since is the time since then.
func (p *play) since() time.Duration { return time.Since(time.Unix(0, p.struck.Load())) }

// do takes steps.
func (p *play) do(steps ...func(context.Context) error) {
	for _, step := range steps {
		if p.err == nil {
			p.err = step(p.ctx)
		}
	}
}

// shows takes a step with results, which must print as want.
func (p *play) shows(want string, step func(ctx context.Context) (string, error)) {
	p.do(func(ctx context.Context) error {
		got, err := step(ctx)
		if err == nil && got != want && !p.over.Load() {
			p.Errorf("got %q, want %q", got, want)
		}
		return err
	})
}

// owns checks that a node belongs to the client, unless a step has failed.
func (p *play) owns(path func() string) {
	if p.err == nil && !p.over.Load() {
		p.s.WantOwner(p.T, path(), p.c.SessionID())
	}
}

// beside runs a call of another client, until the play has ended.
func (p *play) beside(call func(context.Context) error) {
	go func() {
		if err := call(p.ctx); err != nil && p.ctx.Err() == nil && !errors.Is(err, ErrClosed) {
			p.Errorf("beside: %v", err)
		}
	}()
	time.Sleep(time.Second)
}

// later makes a call of another client in a second.
func (p *play) later(call func(context.Context) error) {
	time.AfterFunc(time.Second, func() {
		if err := call(p.Context()); !errors.Is(err, ErrClosed) {
			mustDo(p.T, err)
		}
	})
}

// scene must come to its end although a message is lost.
type scene struct {
	// stay is how long nodes of an ended session may stay while the scene comes to its end in the
	// next one; 0: it does not.
	stay   time.Duration
	loop   bool // most requests are not those of a call
	script func(p *play)
}

// shortly is for recipes that wait until the nodes of their ended session have gone.
const shortly = 3 * time.Second

var scenes = map[string]scene{
	"Queue": {testconn.Stays, false, func(p *play) { playQueue(p, NewQueue(p.c, "/q")) }},
	"PriorityQueue": {testconn.Stays, false, func(p *play) {
		playQueue(p, evenQueue{NewPriorityQueue(p.c, "/q")})
	}},
	"DelayQueue": {testconn.Stays, false, func(p *play) {
		playQueue(p, presentQueue{NewDelayQueue(p.c, "/q")})
	}},
	"IDQueue": {testconn.Stays, false, func(p *play) {
		q := NewIDQueue(p.c, "/q")
		p.ends = append(p.ends, q)
		for _, e := range []string{"x1", "y2", "x3"} {
			p.do(func(ctx context.Context) error { return q.Offer(ctx, e[:1], []byte(e)) })
		}
		p.shows("2", func(ctx context.Context) (string, error) { return text(q.Remove(ctx, "x")) })
		p.shows("y2 true", as2(q.Poll))
	}},
	"LockQueue": {0, false, func(p *play) {
		q := NewLockQueue(p.c, "/q")
		p.ends = append(p.ends, q)
		p.do(func(ctx context.Context) error { return q.Offer(ctx, []byte("e")) })
		var d *Delivery
		poll := func(ctx context.Context) (string, error) {
			var err error
			if d, _, err = q.Poll(ctx); d == nil {
				return "nothing", err
			}
			return fmt.Sprintf("%s %d", d.Data(), d.Attempt()), err
		}
		p.shows("e 1", poll)
		p.do(func(ctx context.Context) error { return d.Release(ctx) })
		p.shows("e 2", poll)
		p.do(func(ctx context.Context) error { return d.Ack(ctx) })
	}},
	"Semaphore with several leases": {testconn.Stays, false, func(p *play) {
		other, sem := NewSemaphore(p.s.Connect(), "/sem", 2), NewSemaphore(p.c, "/sem", 2)
		p.later(mustAcquire(p.T, other).Release)
		p.ends = append(p.ends, sem)
		p.shows("2", func(ctx context.Context) (string, error) {
			leases, err := sem.AcquireN(ctx, 2)
			for _, l := range leases {
				p.owns(l.Path)
			}
			return fmt.Sprint(len(leases)), err
		})
	}},
	"RWLock that goes over to reading": {0, false, func(p *play) {
		playDowngrade(p, NewRWLock(p.c, "/l"))
	}},
	"VersionRWLock that goes over to reading": {0, false, func(p *play) {
		playDowngrade(p, classic.NewVersionRWLock(p.c, "/l"))
	}},
	"VersionRWLock at version -1": {testconn.Stays, false, func(p *play) {
		p.s.Seed("/l", "")
		p.s.SetVersion("/l", -1)
		l := classic.NewVersionRWLock(p.c, "/l")
		p.ends = append(p.ends, l)
		p.do(l.Lock)
	}},
	"WriteLock": {testconn.Stays, false, func(p *play) {
		l := classic.NewWriteLock(p.c, "/l", nil)
		p.ends = append(p.ends, l)
		p.shows("true", as(l.Lock))
		p.do(l.Unlock)
	}},
	"Revoke": {testconn.Stays, false, func(p *play) {
		owner, other := NewRevocableLock(p.s.Connect(), "/l"), NewRevocableLock(p.c, "/l")
		mustLock(p.T, owner)
		p.ends = append(p.ends, owner, other)
		p.shows("true", as(other.Revoke))
		if time.Sleep(time.Second); p.err == nil && !closed(owner.Revoked()) {
			p.Error("not heard")
		}
	}},
	"LeaderLatch": {testconn.Stays, true, func(p *play) {
		l := NewLeaderLatch(p.c, "/e", "a")
		p.ends = append(p.ends, l)
		mustDo(p.T, l.Start())
		p.do(func(ctx context.Context) error { _, err := l.Await(ctx); return err })
		p.do(func(ctx context.Context) error { _, _, err := l.Leader(ctx); return err })
	}},
	"Barrier": {testconn.Stays, false, func(p *play) {
		b, other := NewBarrier(p.c, "/b"), NewBarrier(p.s.Connect(), "/b")
		p.ends = append(p.ends, b, other)
		p.do(b.Set, b.Remove, b.Set)
		p.later(other.Remove)
		p.do(b.Wait)
	}},
	"DoubleBarrier": {0, false, func(p *play) {
		b, other := NewDoubleBarrier(p.c, "/d", 2), NewDoubleBarrier(p.s.Connect(), "/d", 2)
		p.ends = append(p.ends, b, other)
		p.beside(func(ctx context.Context) error {
			if err := other.Enter(ctx); err != nil {
				return err
			}
			return other.Leave(ctx)
		})
		p.do(b.Enter, b.Leave)
	}},
	"ThresholdBarrier": {0, false, func(p *play) {
		b, other := NewThresholdBarrier(p.c, "/t"), NewThresholdBarrier(p.s.Connect(), "/t")
		p.ends = append(p.ends, b, other)
		for range 2 {
			p.do(func(ctx context.Context) error { return b.Set(ctx, 2) })
			p.beside(other.Wait)
			p.do(b.Wait)
		}
	}},
	"TwoPhaseCommit": {0, false, func(p *play) {
		c, other := NewTwoPhaseCommit(p.c, "/tx/1"), NewTwoPhaseCommit(p.s.Connect(), "/tx/1")
		p.ends = append(p.ends, c, other)
		p.do(
			func(ctx context.Context) error {
				return c.Begin(ctx, Transaction{Sites: []string{"a", "b"}})
			},
			func(ctx context.Context) error { return c.Join(ctx, "a") },
			func(context.Context) error { return other.Vote(p.Context(), "b", true) },
			func(ctx context.Context) error { return c.Vote(ctx, "a", true) },
		)
		p.shows("commit", func(ctx context.Context) (string, error) {
			d, err := c.Await(ctx)
			return decisionText(d), err
		})
		p.do(func(ctx context.Context) error { return c.Done(ctx, "a") },
			func(context.Context) error { return other.Done(p.Context(), "b") }, c.Forget)
	}},
	"Counter": {testconn.Stays, false, func(p *play) {
		c := NewCounter(p.c, "/n/c")
		p.ends = append(p.ends, c)
		p.shows("0", as(c.Get))
		for _, step := range []struct {
			delta int64
			want  string
		}{{5, "5"}, {-7, "-2"}, {0, "-2"}} {
			p.shows(step.want, func(ctx context.Context) (string, error) {
				return text(c.Add(ctx, step.delta))
			})
		}
	}},
	"SharedValue": {testconn.Stays, false, func(p *play) {
		v := NewSharedValue(p.c, "/values/a")
		p.ends = append(p.ends, v)
		seen := map[string]ValueState{}
		compareAndSet := func(last, data, want string) {
			p.shows(want, func(ctx context.Context) (string, error) {
				now, ok, err := v.CompareAndSet(ctx, seen[last], []byte(data))
				seen[data] = now
				return fmt.Sprintf("%s@%d %v", now.Data, now.Version, ok), err
			})
		}
		p.shows("false", func(ctx context.Context) (string, error) {
			first, err := v.Get(ctx)
			return fmt.Sprint(first.Exists), err
		})
		compareAndSet("", "x", "x@0 true")
		p.shows("y@1", func(ctx context.Context) (string, error) {
			now, err := v.Set(ctx, []byte("y"))
			return fmt.Sprintf("%s@%d", now.Data, now.Version), err
		})
		compareAndSet("x", "z", "y@1 false")
		compareAndSet("", "", "y@1 false") // made again
		compareAndSet("z", "end", "end@2 true")
	}},
	"ConfigCenter": {testconn.Stays, false, playConfig},
	"IDGenerator": {testconn.Stays, false, func(p *play) {
		g := NewIDGenerator(p.c, "/ids", 2)
		p.ends = append(p.ends, g)
		for _, want := range []string{"1", "2", "3"} {
			p.shows(want, as(g.Next))
		}
	}},
	"TreeCache": {testconn.Stays, true, func(p *play) {
		c := NewTreeCache(p.c, "/t")
		p.ends = append(p.ends, c)
		mustDo(p.T, c.Start())
		p.do(c.Ready)
		p.s.Seed("/t", "")
		p.s.Seed("/t/a", "1")
		letSettle()
		p.s.Seed("/t/a/b", "2")
		p.s.Seed("/t/a", "3")
		time.Sleep(10 * time.Second)
		p.shows("/t= /t/a=3 /t/a/b=2 false", func(context.Context) (string, error) {
			return fmt.Sprintf("%s %v", shownText(c.Nodes()), c.Stale()), nil
		})
	}},
	"PersistentNode": {shortly, true, func(p *play) {
		n := NewPersistentNode(p.c, "/dir/n", []byte("1"))
		p.ends = append(p.ends, n)
		p.do(n.Keep, func(ctx context.Context) error { return n.Set(ctx, []byte("2")) })
		if time.Sleep(10 * time.Second); p.err == nil && !p.over.Load() {
			p.s.WantNode(p.T, "/dir/n", "2", p.c.SessionID())
		}
	}},
	"Group": {testconn.Stays, true, func(p *play) {
		g, m := NewGroup(p.c, "/g"), NewGroupMember(p.s.Connect(), "/g", "a", nil)
		p.ends = append(p.ends, g, m)
		p.shows("[]", as(g.Names))
		p.do(m.Join)
		time.Sleep(10 * time.Second)
		p.shows("[a]", as(g.Names))
	}},
	"ServiceRegistry": {testconn.Stays, true, func(p *play) {
		c := p.s.Connect()
		a, b := register(p.T, c, "web", "a", "1"), register(p.T, c, "mail", "b", "1")
		v := NewServiceRegistry(p.c, "/s")
		p.ends = append(p.ends, a, b, v)
		all := func(ctx context.Context) (string, error) { return shownServices(ctx, v) }
		p.shows("mail/b=1 web/a=1", all)
		mustDo(p.T, a.Update(p.Context(), []byte("2")))
		time.Sleep(10 * time.Second)
		p.shows("mail/b=1 web/a=2", all)
	}},
	"CreateProtected": {testconn.Stays, false, func(p *play) {
		playCreation(p, EphemeralSequential)
		playCreation(p, PersistentSequential)
	}},
	"CreateProtected with a fixed name": {0, false, func(p *play) { playCreation(p, Ephemeral) }},
	"EnsurePath": {testconn.Stays, false, func(p *play) {
		p.do(func(ctx context.Context) error { return EnsurePath(ctx, p.c, "/a/b", Containers()) })
	}},
}

func init() {
	for _, k := range lockKinds {
		scenes[k.name] = scene{testconn.Stays, false, func(p *play) {
			holder, l := k.excluding(p.s.Connect()), k.open(p.c)
			mustLock(p.T, holder)
			p.later(holder.Unlock)
			p.ends = append(p.ends, l)
			for range 2 {
				p.do(l.Lock)
				p.owns(l.Path)
				p.do(l.Unlock)
			}
		}}
	}
}

// text is the result of a call as text.
func text[T any](value T, err error) (string, error) { return fmt.Sprint(value), err }

// as is a call with its result as text, and as2 one that may have none.
func as[T any](call func(context.Context) (T, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) { return text(call(ctx)) }
}

func as2(call func(context.Context) ([]byte, bool, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) { return text2(call(ctx)) }
}

func text2(data []byte, ok bool, err error) (string, error) {
	return fmt.Sprintf("%s %v", data, ok), err
}

func playQueue(p *play, q queuer) {
	p.ends = append(p.ends, q)
	for _, e := range []string{"a", "b", "c"} {
		p.do(func(ctx context.Context) error { return q.Offer(ctx, []byte(e)) })
	}
	p.shows("a true", as2(q.Peek))
	for _, want := range []string{"a true", "b true"} {
		p.shows(want, as2(q.Poll))
	}
	p.shows("c", func(ctx context.Context) (string, error) {
		data, err := q.Take(ctx)
		return string(data), err
	})
	p.shows(" false", as2(q.Poll))
}

func playDowngrade(p *play, l readWriteLock) {
	p.ends = append(p.ends, l)
	p.do(l.Lock, l.RLock, l.Unlock)
	p.owns(l.RPath)
	p.do(l.RUnlock)
}

func playCreation(p *play, kind NodeKind) {
	p.do(func(ctx context.Context) error {
		n, err := CreateProtected(ctx, p.c, "/d", "n-", []byte("x"), kind)
		if err != nil {
			return err
		}
		owner, below := n.Stat.EphemeralOwner, len(p.s.Below("/d"))
		if (owner == 0) != (kind == PersistentSequential) || below != 1 && !p.over.Load() {
			p.Errorf("kind %d: %+v, %d nodes", kind, n, below)
		}
		return GuaranteedDelete(ctx, p.c, n.Path)
	})
}

func playConfig(p *play) {
	c := NewConfigCenter(p.c, "/config")
	p.ends = append(p.ends, c)
	create := func(value string) func(context.Context) error {
		return func(ctx context.Context) error { return c.Create(ctx, "k", []byte(value)) }
	}
	update := func(value string, version int32) func(context.Context) error {
		return func(ctx context.Context) error { return c.Update(ctx, "k", []byte(value), version) }
	}
	remove := func(version int32) func(context.Context) error {
		return func(ctx context.Context) error { return c.Delete(ctx, "k", version) }
	}
	for _, step := range []struct {
		want error
		call func(ctx context.Context) error
	}{
		{zk.ErrNoNode, update("0", AnyVersion)}, {nil, create("1")},
		{zk.ErrNodeExists, create("2")},
		{nil, update("3", 0)}, {zk.ErrBadVersion, update("4", 0)}, {nil, update("5", AnyVersion)},
		{zk.ErrBadVersion, remove(1)},
		{nil, func(ctx context.Context) error {
			e, ok, err := c.Fetch(ctx, "k")
			if err == nil {
				got := fmt.Sprintf("%s=%s@%d %v", e.Key, e.Value, e.Version, ok)
				check.Equal(p.T, got, "k=5@2 true")
			}
			return err
		}},
		{nil, remove(2)}, {zk.ErrNoNode, remove(AnyVersion)},
	} {
		p.do(func(ctx context.Context) error {
			err := step.call(ctx)
			if step.want != nil && errors.Is(err, step.want) {
				wantFailure(p.T, err, step.want, NotApplied)
				return nil
			}
			return err
		})
	}
}
