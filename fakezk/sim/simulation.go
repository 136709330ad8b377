package sim

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/dialhook"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/logs"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
	"github.com/zksim/zksim/fakezk/sim/internal/guard"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
)

// simulation is one run of a World. All of it but the fields under mu, the
// journal and the atomics belongs to one goroutine, the World's, which alone
// acts: it sleeps until the next event, waits until every other goroutine of
// the bubble is blocked, applies exactly that event, and waits again.
type simulation struct {
	world   World
	agenda  *agenda.Agenda
	draws   draws.Draws
	ctx     context.Context
	engine  *engine.Engine
	clients []*Client
	links   map[engine.ConnID]*link
	net     *carry.Network // connections and faults
	journal *record.Journal
	record  *record.Recorder

	followed []time.Duration // when each server has applied what it is to apply so far
	lagging  []time.Duration // until when each server applies nothing

	paused      []*pausedCaller
	pausedUntil time.Duration // when all of them have gone on

	order    *order // nil: messages have latencies
	messages int64  // sent so far
	nextConn engine.ConnID
	running  int // scripts

	timer      *time.Timer   // ends a sleep of the World
	wake       chan struct{} // capacity 1: a client did something
	frames     [][]byte      // scratch of takeWrites
	deadDials  []*dialing    // the dials of dead processes
	endingDead bool          // they succeed
	spare      []*link       // the next list for written
	replies    int

	guard       *guard.Guard
	stepsAtRest int64

	closing atomic.Bool // the end: dials fail, nothing is recorded

	mu            sync.Mutex
	sleepers      []sleeper      // sleeps begun in this step
	ended         []*Client      // scripts that ended in this step
	dials         []*dialing     // dials begun in this step
	written       []*link        // links written to or closed in this step
	wakeBy        time.Duration  // when the World wakes at the latest, if pings may be put off
	deferredPings []deferredPing // pings that were put off in this sleep

	atRest atomic.Pointer[record.Record] // nil until then
}

func newSimulation(w World) *simulation {
	s := &simulation{
		world:   w,
		agenda:  &agenda.Agenda{Crowded: w.unordered},
		draws:   draws.Draws{Seed: w.Seed, Alike: w.unordered || w.Schedule.Kind != Latencies},
		links:   map[engine.ConnID]*link{},
		net:     carry.New(w.Plan...),
		wakeBy:  awake,
		journal: record.NewJournal(),
	}
	if w.Schedule.Kind != Latencies {
		s.order = &order{sim: s, ranks: map[stream]uint64{}}
	}
	s.followed = make([]time.Duration, w.servers())
	s.lagging = make([]time.Duration, w.servers())
	s.guard = guard.New(s.journal.Moment, w.MaxSteps, len(w.Clients))
	s.record = record.New(s.journal, s.agenda.Now, w.servers())
	return s
}

// run is the World's goroutine.
func (s *simulation) run() {
	s.agenda.Begin()
	s.guard.Begin(bubble.Name())
	defer logs.Take(func(goroutine int64, line string) {
		if s.world.Logs {
			s.journal.Log(s.agenda.Elapsed(), goroutine, line)
		}
	})()
	s.wake = make(chan struct{}, 1)
	s.timer = time.NewTimer(0)
	defer s.timer.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.ctx = ctx
	cfg := s.world.Server.engineConfig()
	cfg.OrderChildren, cfg.Servers = s.shuffleChildren, s.world.servers()
	if s.world.servers() > 1 {
		cfg.Skew = s.draws.Skew
	}
	s.engine = engine.New(cfg, s.agenda.At(0))
	s.net.Serve(carry.Ensemble{
		Servers: s.world.servers(), Leader: s.engine.Leader, Tick: cfg.TickTime,
	})
	s.setUp()
	s.loop(s.world.Limit, s.over)
	s.playOvertime()
	s.noteBusy()
	s.heal()
	rest := max(s.agenda.Now(), s.heldUntil()) + s.world.Settle
	s.loop(max(rest, s.deadSessionsEnd()), func() bool { return false })
	s.noteAtRest()
	s.tearDown(cancel)
	for _, c := range s.clients {
		c.releaseNet()
	}
}

// setUp makes the nodes and starts the scripts, no two at the same instant.
func (s *simulation) setUp() {
	for _, path := range slices.Sorted(maps.Keys(s.world.Nodes)) {
		if err := inspect.Put(s.engine, path, []byte(s.world.Nodes[path]), time.Now(),
			s.noteChanges); err != nil {
			panic(err)
		}
	}
	s.followAll()
	for path, next := range s.world.Next {
		s.engine.SetCreated(path, next)
	}
	for i, actor := range s.world.Clients {
		c := s.newClient(actor, actor.Name)
		s.running++
		s.agenda.Schedule(s.draws.Start(i), func() { go s.script(c) })
	}
	for _, f := range s.net.Armed() {
		if f.At != 0 {
			s.agenda.Schedule(f.At, func() { s.net.Strike(f, s.agenda.Now(), driver{s}) })
		}
	}
}

func (s *simulation) newClient(actor Actor, name string) *Client {
	c := &Client{sim: s, actor: actor, name: name, index: len(s.clients),
		counted: s.guard.Client(name), sessions: map[int64]bool{}, releaseNet: func() {}}
	c.peer = carry.Client{ID: int64(c.index) + 1, Name: name}
	s.clients = append(s.clients, c)
	return c
}

// script runs a client's script to its end.
func (s *simulation) script(c *Client) {
	defer s.scriptEnded(c)
	if s.closing.Load() || c.dead.Load() {
		return
	}
	c.Goroutine(0).play(func() {
		c.releaseNet = dialhook.Own(c.ownNet())
		c.actor.Run(s.ctx, c)
	})
}

// panicked notes that one of a client's goroutines has panicked.
func (s *simulation) panicked(g *Goroutine, why any) {
	if g.dead.Load() {
		return
	}
	g.Note("panics: %v", why)
	s.journal.Panic(fmt.Sprintf("client %s: panic: %v\n%s", g.Name(), why, debug.Stack()))
}
