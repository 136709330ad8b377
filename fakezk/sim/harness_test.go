package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// worldACL is the list that permits everything to all clients.
var worldACL = zk.WorldACL(zk.PermAll)

// stage is the environment of a script, which writes lines for the test.
type stage struct {
	*Client
	ctx  context.Context
	play *play
}

// play is a World that was run, with the lines that its scripts wrote.
type play struct {
	*trace.Result
	mu    sync.Mutex
	lines []scriptLine
}

type scriptLine struct {
	client, what string
	at           time.Duration
}

func (s *stage) writeLine(format string, args ...any) {
	s.play.mu.Lock()
	defer s.play.mu.Unlock()
	s.play.lines = append(s.play.lines, scriptLine{s.Name(), fmt.Sprintf(format, args...), s.Now()})
}

// create asks again as long as there is no server.
func (s *stage) create(path string, flags int32) {
	_, err := s.Conn().Create(path, nil, flags, worldACL)
	for err == zk.ErrNoServer {
		_, err = s.Conn().Create(path, nil, flags, worldACL)
	}
	s.writeLine("create %s: %v", path, err)
}

// parse reads a plan, a fault in each line.
func parse(t *testing.T, plan string) (list []fault.Fault) {
	t.Helper()
	for _, line := range strings.Split(plan, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		f, err := fault.Parse(line)
		check.OK(t, err)
		list = append(list, f)
	}
	return list
}

// perform runs clients a, b, ... under the plan. The run itself must go well.
func perform(t *testing.T, plan string, scripts ...func(*stage)) *play {
	t.Helper()
	return performIn(t, World{Seed: 7, Limit: 10 * time.Minute}, plan, scripts...)
}

func performIn(t *testing.T, w World, plan string, scripts ...func(*stage)) *play {
	t.Helper()
	p := &play{}
	w.Plan = append(w.Plan, parse(t, plan)...)
	for i, script := range scripts {
		w.Clients = append(w.Clients,
			Actor{Name: string(rune('a' + i)), Run: func(ctx context.Context, c *Client) {
				script(&stage{Client: c, ctx: ctx, play: p})
			}})
	}
	p.Result = mustRun(t, w)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("trace:\n%s", p.Trace)
		}
	})
	if p.Leaked+p.Frozen != "" || len(p.Panics)+len(p.Busy)+len(p.Missed) > 0 {
		t.Fatalf("leaked %q frozen %q panics %v busy %v missed %v", p.Leaked, p.Frozen,
			p.Panics, p.Busy, p.Missed)
	}
	return p
}

// wantLines checks the lines of a client, in order, at any time.
func (p *play) wantLines(t *testing.T, client string, want ...string) {
	t.Helper()
	var got []string
	for _, line := range p.lines {
		if line.client == client {
			got = append(got, line.what)
		}
	}
	check.List(t, got, want, "%s wrote", client)
}

// when is the time of the first line with these words.
func (p *play) when(t *testing.T, words string) time.Duration {
	t.Helper()
	for _, line := range p.lines {
		if strings.Contains(line.what, words) {
			return line.at
		}
	}
	t.Fatalf("no line with %q: %+v", words, p.lines)
	return 0
}

// change is the time of the first change of a kind at a path.
func (p *play) change(t *testing.T, kind trace.ChangeKind, path string) time.Duration {
	t.Helper()
	for _, c := range p.Changes {
		if c.Kind == kind && c.Path == path {
			return c.Time
		}
	}
	t.Fatalf("no %s %s in %+v", kind, path, p.Changes)
	return 0
}

func (p *play) changes(kind trace.ChangeKind, path string) (n int) {
	for _, c := range p.Changes {
		if c.Kind == kind && c.Path == path {
			n++
		}
	}
	return n
}

func (p *play) notices(client string) (kinds []trace.NoticeKind) {
	for _, n := range p.Notices {
		if n.Client == client {
			kinds = append(kinds, n.Kind)
		}
	}
	return kinds
}

// notice is the time of a client's n-th notice of a kind, from 1.
func (p *play) notice(t *testing.T, client string, kind trace.NoticeKind, n int) time.Duration {
	t.Helper()
	for _, notice := range p.Notices {
		if notice.Client == client && notice.Kind == kind {
			if n--; n == 0 {
				return notice.Time
			}
		}
	}
	t.Fatalf("no such %s of %s: %+v", kind, client, p.Notices)
	return 0
}

func between(t *testing.T, what string, at, low, high time.Duration) {
	t.Helper()
	if at < low || at > high {
		t.Errorf("%s at %s, want it between %s and %s", what, at, low, high)
	}
}

// twice makes an ephemeral, then asks for the same node two times: the answers
// tell whether the first request was applied.
func twice(s *stage) {
	s.create("/e", zk.FlagEphemeral)
	s.create("/x", 0)
	s.create("/x", 0)
}

const (
	created      = "create /x: <nil>"
	lostReply    = "create /x: zk: connection closed"
	already      = "create /x: zk: node already exists"
	createdE     = "create /e: <nil>"
	second       = time.Second
	soon         = 100 * time.Millisecond
	recvTimeout  = 2 * (10 * second) / 3
	reconnection = 2 * time.Second
)

var (
	reconnects  = []trace.NoticeKind{trace.Connected, trace.Disconnected, trace.Connected}
	staysOnline = []trace.NoticeKind{trace.Connected}
)

func wantNotices(t *testing.T, p *play, client string, want []trace.NoticeKind) {
	t.Helper()
	check.List(t, p.notices(client), want, "%s was told", client)
}

// actor gives a script a name.
func actor(name string, run func(context.Context, *Client)) Actor {
	return Actor{Name: name, Run: run}
}

func mustRun(t testing.TB, w World) *trace.Result {
	t.Helper()
	r, err := w.Run()
	check.OK(t, err)
	return r
}

// randomPlan draws up to three faults for clients a, b, c.
func randomPlan(rng *rand.Rand, servers, clients int) []fault.Fault {
	kinds := fault.KindsFor(servers)
	var plan []fault.Fault
	for range rng.IntN(4) {
		k := kinds[rng.IntN(len(kinds))]
		f := fault.Fault{Kind: k.Kind, Client: string(rune('a' + rng.IntN(clients)))}
		if k.Lasts {
			f.For = time.Duration(1+rng.IntN(15000)) * time.Millisecond
		}
		switch {
		case k.OnTime && rng.IntN(3) == 0:
			f.At = time.Duration(1+rng.IntN(500)) * time.Millisecond
		case k.OnEvent && rng.IntN(3) == 0:
			f.Event = 1 + rng.IntN(3)
		default:
			f.Request = 1 + rng.IntN(12)
		}
		plan = append(plan, f)
	}
	return plan
}

// anyWorld has three clients that take turns, and a plan by the seed.
func anyWorld(seed uint64) World {
	rng := rand.New(rand.NewPCG(seed, 1))
	return World{Seed: seed, Plan: randomPlan(rng, 1, 3), Clients: lockers(3, 3),
		Limit: time.Minute}
}

// lockers are n clients that take the client library's own lock in turn.
func lockers(n, rounds int) []Actor {
	var actors []Actor
	for i := range n {
		actors = append(actors, Actor{Name: string(rune('a' + i)),
			Run: func(ctx context.Context, c *Client) {
				for range rounds {
					lock := zk.NewLock(c.Conn(), "/lock", worldACL)
					c.Note("lock")
					if err := lock.Lock(); err != nil {
						c.Note("lock failed: %v", err)
						continue
					}
					c.Note("locked")
					if c.Sleep(ctx, 50*time.Millisecond) != nil {
						return
					}
					c.Note("unlock: %v", lock.Unlock())
				}
			}})
	}
	return actors
}
