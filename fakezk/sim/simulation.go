package sim

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/logs"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
	"github.com/zksim/zksim/fakezk/sim/internal/guard"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
	"github.com/zksim/zksim/fakezk/trace"
)

// simulation is one run of a World: its parts, and its phases from the first script to the end of
// the last goroutine. The parts belong to the World's goroutine, all but the inbox, the journal and
// the guard.
type simulation struct {
	world   World
	agenda  *agenda.Agenda
	journal *record.Journal
	record  *record.Recorder
	guard   *guard.Guard
	faults  *carry.Network // connections and faults

	// Made in the bubble, by assemble.
	engine    *engine.Engine
	inbox     *inbox
	network   *network
	order     *order
	turns     *turns
	replicas  *replicas
	server    *server
	processes *processes
	dials     *dials
	pauses    *pauses
	driver    *driver
	loop      *loop

	stepsAtRest int64
	atRest      atomic.Pointer[record.Record] // nil until then
}

func newSimulation(w World) *simulation {
	s := &simulation{world: w, agenda: &agenda.Agenda{Crowded: w.unordered},
		journal: record.NewJournal(), faults: carry.New(w.Plan...)}
	s.guard = guard.New(s.journal.Moment, w.MaxSteps, len(w.Clients))
	s.record = record.New(s.journal, s.agenda.Now)
	return s
}

// assemble makes the parts, each with those that it needs.
func (s *simulation) assemble(ctx context.Context) {
	w, servers := s.world, s.world.servers()
	d := draws.Draws{Seed: w.Seed, Alike: w.unordered || w.Schedule.Kind != Latencies}
	s.engine = s.newEngine(d)
	s.faults.Serve(carry.Ensemble{Servers: servers, Leader: s.engine.Leader,
		Tick: w.Server.engineConfig().TickTime})
	perform := func(actions []carry.Action) { carry.Perform(actions, s.driver) }
	react := func(r engine.Reaction) { s.server.react(r) }
	s.inbox = newInbox(w, ctx, s.agenda, s.journal)
	s.network = &network{agenda: s.agenda, draws: d, record: s.record, guard: s.guard,
		inbox:  s.inbox,
		faults: s.faults, perform: perform, schedule: w.Schedule, maxFrame: w.Server.maxFrame(),
		links: map[engine.ConnID]*link{}}
	s.order = &order{network: s.network, ranks: map[stream]uint64{}}
	s.turns = &turns{network: s.network, inbox: s.inbox, agenda: s.agenda, engine: s.engine,
		chooser: w.Chooser, hideCounts: w.HideCounts,
		applies: map[[2]int]int{}, seen: map[any]trace.Thing{}}
	s.network.turn = s.turns.sent
	s.replicas = &replicas{number: servers, engine: s.engine, agenda: s.agenda, draws: d,
		record: s.record, faults: s.faults, perform: perform, react: react,
		followed: make([]time.Duration, servers)}
	if s.turns.follow = s.replicas.follow; s.turns.on() {
		s.replicas.turn = s.turns.addApply
	}
	s.server = &server{engine: s.engine, agenda: s.agenda, record: s.record, faults: s.faults,
		network: s.network, replicas: s.replicas, perform: perform, stackOf: w.StackOf}
	s.processes = &processes{agenda: s.agenda, record: s.record, guard: s.guard, inbox: s.inbox,
		faults: s.faults, turns: s.turns, perform: perform}
	s.server.expired = s.processes.expired
	s.dials = &dials{agenda: s.agenda, draws: d, record: s.record, inbox: s.inbox,
		network: s.network, turns: s.turns, engine: s.engine, servers: servers}
	s.pauses = &pauses{agenda: s.agenda, record: s.record}
	s.driver = &driver{agenda: s.agenda, record: s.record, engine: s.engine, network: s.network,
		server: s.server, replicas: s.replicas, processes: s.processes, pauses: s.pauses}
	s.loop = &loop{agenda: s.agenda, journal: s.journal, guard: s.guard, inbox: s.inbox,
		order: s.order, turns: s.turns, network: s.network, server: s.server,
		processes:  s.processes,
		dials:      s.dials,
		noDeferral: w.noDeferral || d.Alike}
}

func (s *simulation) newEngine(d draws.Draws) *engine.Engine {
	w := s.world
	cfg := w.Server.engineConfig()
	cfg.HideCounts = w.HideCounts
	cfg.OrderChildren, cfg.Servers = shuffledChildren(d, w.Schedule.Kind), w.servers()
	if cfg.Servers > 1 {
		cfg.Skew = d.Skew
		cfg.Silent = func(server int) bool { return s.faults.IsSilent(server, s.agenda.Now()) }
	}
	return engine.New(cfg, s.agenda.At(0))
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
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.assemble(ctx)
	defer s.inbox.timer.Stop()
	s.setUp()
	s.loop.run(s.world.Limit, func() bool { return s.processes.over() && s.turns.idle() })
	if s.turns.dropped {
		s.heal()
	} else {
		s.playOvertime()
		s.processes.noteBusy()
		s.heal()
		s.settle()
	}
	s.noteAtRest()
	s.tearDown(cancel)
	s.processes.release()
}

// setUp makes the nodes and starts the scripts and the timers of faults, no two at the same
// instant.
func (s *simulation) setUp() {
	for _, path := range slices.Sorted(maps.Keys(s.world.Nodes)) {
		if err := inspect.Put(s.engine, path, []byte(s.world.Nodes[path]), time.Now(),
			s.server.noteChanges); err != nil {
			panic(err)
		}
	}
	s.replicas.followAll()
	for path, next := range s.world.Next {
		s.engine.SetCreated(path, next)
	}
	for i, actor := range s.world.Clients {
		s.processes.start(actor, s.network.draws.Start(i))
	}
	for _, f := range s.faults.Armed() {
		if f.At != 0 {
			s.setUpFault(f)
		}
	}
}

// setUpFault starts the timer of a fault that is bound to a time. Under turns it then waits for its
// turn if its client is there, at the first instant as soon as the client's script begins.
func (s *simulation) setUpFault(f *carry.Armed) {
	strike := func() { s.faults.Strike(f, s.agenda.Now(), s.driver) }
	victim := func() int {
		return slices.IndexFunc(s.processes.list, func(p *process) bool {
			return p.name == f.Client
		})
	}
	begin := f.At
	if i := victim(); i >= 0 && f.At <= Instant && s.turns.on() {
		begin = s.network.draws.Start(i)
	}
	s.agenda.Schedule(begin, func() {
		if i := victim(); i >= 0 && s.turns.on() {
			s.turns.addFault(f, s.processes.list[i], strike)
		} else {
			strike()
		}
	})
}

// playOvertime is the loop for scripts that are slow; see World.Overtime.
func (s *simulation) playOvertime() {
	const times, mostInAMinute = 20, 8
	overtime := s.world.Overtime
	most := int(mostInAMinute * overtime / time.Minute)
	if overtime == 0 || s.record.ChangesSince(s.agenda.Now()-overtime) > most || s.isActive() {
		return
	}
	for range times {
		begin := s.agenda.Now()
		s.loop.run(begin+overtime, s.processes.over)
		n := s.record.ChangesSince(begin)
		if n == 0 || n > most || s.processes.over() || s.guard.OutOfSteps() {
			return
		}
	}
}

// isActive goes on for three times ten seconds, and reports whether the clients did more than to
// wait in each of them: then most of their requests are pings, one or two a second. Clients that
// poll once in minutes may do so at the same time, but not three times.
func (s *simulation) isActive() bool {
	for range 3 {
		before := s.server.reactions
		s.loop.run(s.agenda.Now()+10*time.Second, s.processes.over)
		if s.processes.over() || s.guard.OutOfSteps() {
			return true
		}
		if s.server.reactions-before <= 30*len(s.processes.list) {
			return false
		}
	}
	return true
}

// heal lets dials succeed again and deletes the nodes kept by late-reap. Messages held by a delay
// or a stall arrive at their time.
func (s *simulation) heal() {
	s.server.react(s.engine.ReapEnded(s.agenda.Clock()))
	carry.Perform(s.faults.Heal(s.agenda.Now()), s.driver)
	s.replicas.followAll()
}

// settle lets the World go on without faults, until they hold nothing any more, clients have had
// time to clean up, and all servers know that the sessions have ended that nobody uses: those of
// dead processes, and those that a client has closed by a request that was lost. That is late if
// the leader has been down, which restarts their timers.
func (s *simulation) settle() {
	until := max(s.agenda.Now(), s.faults.HeldUntil(), s.pauses.until) + s.world.Settle
	for _, session := range s.engine.Sessions() {
		dead := s.processes.hadByDead(session.ID)
		if dead {
			marks.Hit("session of a dead process")
		}
		if dead || session.Conn == 0 {
			until = max(until, s.agenda.Since(session.ExpiresAt)+time.Second)
		}
	}
	s.loop.runUntil(until)
}

// noteAtRest notes the server's state before the end.
func (s *simulation) noteAtRest() {
	s.record.End(s.engine)
	s.stepsAtRest = s.guard.Steps()
	s.atRest.Store(s.facts())
}
