package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/testrun"
)

// seen is a read of a client: the data of a node, or that there is none.
type seen struct {
	client     string
	session    int64
	path, data string
	exists     bool
	began      trace.Moment
	synced     trace.Moment // when the last sync of the session was called; 0: there was none
	answered   trace.Moment // when the last write of the session had its answer; 0: there was none
}

// log has the reads of several clients.
type log struct {
	mu    sync.Mutex
	reads []seen
}

func (l *log) add(s seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads = append(l.reads, s)
}

// A reader is a client that writes, reads and syncs at random, and notes what it has read.
type reader struct {
	*Client
	name string
	rng  *rand.Rand
	log  *log
	// last has the session, and the moments of its last sync and of its last answered write.
	last seen
}

// readers are clients that each write each datum once.
func readers(seed uint64, n int, l *log) []Actor {
	var actors []Actor
	for i := range n {
		name := string(rune('a' + i))
		actors = append(actors, Actor{Name: name,
			Run: func(ctx context.Context, c *Client) {
				r := reader{c, name, rand.New(rand.NewPCG(seed, uint64(i))), l, seen{}}
				for round := 0; round < 30 && ctx.Err() == nil; round++ {
					r.round(round)
					_ = c.Sleep(ctx, time.Duration(r.rng.IntN(40))*time.Millisecond)
				}
			}})
	}
	return actors
}

func (r *reader) round(n int) {
	path := fmt.Sprintf("/n%d", r.rng.IntN(2))
	data := []byte(fmt.Sprintf("%s%d", r.name, n))
	began := r.Note("round %d", n)
	r.sameSession()
	kind := r.rng.IntN(6)
	if kind > 3 {
		r.read(path, began)
		return
	}
	err := r.write(kind, path, data)
	if !r.sameSession() || err != nil {
		return
	}
	r.last.answered = r.Note("answered")
	if kind == 3 {
		r.last.synced = began
	}
}

func (r *reader) write(kind int, path string, data []byte) error {
	var err error
	switch kind {
	case 0:
		_, err = r.Conn().Create(path, data, r.rng.Int32N(2), worldACL)
	case 1:
		_, err = r.Conn().Set(path, data, -1)
	case 2:
		err = r.Conn().Delete(path, -1)
	default:
		_, err = r.Conn().Sync(path)
	}
	return err
}

func (r *reader) read(path string, began trace.Moment) {
	data, _, err := r.Conn().Get(path)
	r.sameSession()
	if err == nil || errors.Is(err, zk.ErrNoNode) {
		s := r.last
		s.client, s.path, s.data, s.exists, s.began = r.name, path, string(data), err == nil, began
		r.log.add(s)
	}
}

// sameSession reports whether the session is the last one. A new one has seen nothing.
func (r *reader) sameSession() bool {
	same := r.last.session == r.Session()
	if !same {
		r.last = seen{session: r.Session()}
	}
	return same
}

// versions are the states of a node by the zxid from which on they hold.
type versions []trace.Change

func versionsOf(r *trace.Result, path string) (list versions) {
	for _, c := range r.Changes {
		if c.Path == path {
			list = append(list, c)
		}
	}
	return list
}

// find returns the least zxid, at or above a bound, of a tree that shows what was read.
func (v versions) find(s seen, bound int64) (zxid int64, found bool) {
	matches := func(c trace.Change) bool {
		return (c.Kind != trace.NodeDeleted) == s.exists &&
			(!s.exists || string(c.Data) == s.data)
	}
	now := trace.Change{Kind: trace.NodeDeleted}
	for _, c := range v {
		if c.Zxid > bound && matches(now) {
			return max(bound, now.Zxid), true
		}
		now = c
	}
	return max(bound, now.Zxid), matches(now)
}

// guarantees are those of ZooKeeper for reads: a session never goes back, sees its own answered
// writes, and after a sync every write that was applied before. A session whose reply was lost may
// move to a server that does not have its write yet. (Several clients' views are not compared:
// reads are not linearizable.) It returns the number of reads that were out of date.
func guarantees(t *testing.T, r *trace.Result, reads []seen) (stale int) {
	t.Helper()
	reached := map[int64]int64{} // by session: the zxid of a tree that it has seen
	for _, s := range reads {
		step := func(m trace.Moment) int64 {
			if m == 0 {
				return 0
			}
			return r.Step(m)
		}
		began, synced, answered := r.Step(s.began), step(s.synced), step(s.answered)
		bound, last := reached[s.session], int64(0)
		for _, c := range r.Changes {
			if c.Step < began {
				last = c.Zxid
				if c.Step < synced || c.Step < answered && c.Session == s.session {
					bound = max(bound, c.Zxid)
				}
			}
		}
		zxid, found := versionsOf(r, s.path).find(s, bound)
		if !found {
			t.Errorf("%s read %q (exists: %v) at %s in step %d, after it had seen zxid %d:\n%s",
				s.client, s.data, s.exists, s.path, began, bound, r.Trace)
			return stale
		}
		reached[s.session] = zxid
		if _, current := versionsOf(r, s.path).find(s, last); !current {
			stale++
		}
	}
	return stale
}

// TestAnEnsembleKeepsTheGuarantees plays random requests with faults, and finds reads that are out
// of date with several servers and none with one.
func TestAnEnsembleKeepsTheGuarantees(t *testing.T) {
	stale := map[int]int{}
	for seed := range testrun.Pick(uint64(60), 2000) {
		for _, servers := range []int{1, 3, 5} {
			var l log
			rng := rand.New(rand.NewPCG(seed, 3))
			r, err := World{
				Seed: seed, Servers: servers, Plan: randomPlan(rng, servers, 3), Limit: time.Minute,
				Clients: readers(seed, 3, &l),
			}.Run()
			if err != nil || r.Frozen+r.Leaked != "" {
				t.Fatal(err, r.Frozen, r.Leaked)
			}
			if stale[servers] += guarantees(t, r, l.reads); t.Failed() {
				t.Fatalf("seed %d, %d servers", seed, servers)
			}
		}
	}
	if stale[1] != 0 || stale[3] == 0 || stale[5] == 0 {
		t.Errorf("reads out of date by number of servers: %v", stale)
	}
}

// TestTheGuaranteesCanFail shows the check of the test above a read that goes back.
func TestTheGuaranteesCanFail(t *testing.T) {
	r := mustRun(t, World{Clients: []Actor{{Name: "a",
		Run: func(_ context.Context, c *Client) {
			_, _ = c.Conn().Create("/n0", []byte("1"), 0, worldACL)
			_, _ = c.Conn().Set("/n0", []byte("2"), -1)
			c.Note("done")
		}}}})
	old := seen{client: "a", session: 1, path: "/n0", data: "1", exists: true}
	v := versionsOf(r, "/n0")
	if _, found := v.find(old, v[0].Zxid); !found {
		t.Error("the first version is not found")
	}
	if _, found := v.find(old, v[1].Zxid); found {
		t.Error("a session may go back to the first version")
	}
}

// TestWhatOnlyAnEnsembleShows: in some run of few each of these happens.
func TestWhatOnlyAnEnsembleShows(t *testing.T) {
	sights := map[string]bool{}
	for seed := range uint64(40) {
		r := mustRun(t, World{Seed: seed, Servers: 3, Clients: []Actor{
			{Name: "a", Run: func(ctx context.Context, c *Client) {
				_, _ = c.Conn().Create("/e", nil, zk.FlagEphemeral, worldACL)
				_ = c.Sleep(ctx, 5*time.Second)
				c.Conn().Close()
			}},
			{Name: "b", Run: func(ctx context.Context, c *Client) {
				for ctx.Err() == nil && c.Now() < 6*time.Second {
					exists, _, _ := c.Conn().Exists("/e")
					c.Note("exists: %v", exists)
					_ = c.Sleep(ctx, 50*time.Millisecond)
				}
			}}},
			Plan: []fault.Fault{{Kind: fault.Cut, Client: "b", Op: "exists", Request: 1},
				{Kind: fault.Restart, Client: "a", At: 2 * time.Second, For: time.Second}}})
		text := r.Trace.String()
		_, after, _ := strings.Cut(text, "deleted /e")
		const dead = "an ephemeral node of a session that has ended"
		sights[dead] = sights[dead] || strings.Contains(after, "exists: true")
		for sight, words := range map[string]string{
			"a server that is behind refuses a client": "connect: refused",
			"a follower applies later":                 "server 3 applies zxid",
			"another leader":                           "is elected",
		} {
			sights[sight] = sights[sight] || strings.Contains(text, words)
		}
	}
	for sight, shown := range sights {
		if !shown {
			t.Errorf("not shown: %s", sight)
		}
	}
}

// TestAnEnsembleIsDeterministic compares pairs of runs.
func TestAnEnsembleIsDeterministic(t *testing.T) {
	for seed := range testrun.Pick(uint64(25), 1000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		if !runTwice(t, World{
			Seed: seed, Servers: 3, Plan: randomPlan(rng, 3, 3), Clients: lockers(3, 3),
			Limit: time.Minute,
		}) {
			return
		}
	}
}
