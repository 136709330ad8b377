package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/dialhook"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/internal/logs"
	"github.com/zksim/zksim/fakezk/trace"
)

// simulation is one run of a World. All of it but the fields under mu, the
// journal and the atomics belongs to one goroutine, the World's, which alone
// acts: it sleeps until the next event, waits until every other goroutine of
// the bubble is blocked, applies exactly that event, and waits again.
type simulation struct {
	world   World
	start   time.Time
	ctx     context.Context
	engine  *engine.Engine
	clients []*Client
	links   map[engine.ConnID]*link
	net     *carry.Network // connections and faults
	journal journal

	followed []time.Duration // when each server has applied what it is to apply so far
	lagging  []time.Duration // until when each server applies nothing

	paused      []*pausedCaller
	pausedUntil time.Duration // when all of them have gone on

	events   eventHeap // no two are of the same instant
	woken    bool      // an event may have made a goroutine runnable
	sequence int64
	order    *order // nil: messages have latencies
	messages int64  // sent so far
	nextConn engine.ConnID
	running  int // scripts

	timer    *time.Timer       // ends a sleep of the World
	wake     chan struct{}     // capacity 1: a client did something
	frames   [][]byte          // scratch of takeWrites
	graves   []*dialing        // the dials of dead processes
	burying  bool              // they succeed
	spare    []*link           // the next list for written
	back     time.Duration     // by which the World's clock is set back; see catchUp
	origins  map[string]origin // of the nodes that exist
	notified map[notified]bool // with several servers
	changed  []time.Duration   // the times of the changes of the tree
	replies  int

	bytes   int64        // of messages to the server
	lines   atomic.Int64 // of all scripts
	runaway atomic.Bool  // ends the run; see runaway.go
	counted struct {     // when goroutines were counted last
		steps int64
		at    time.Duration
	}

	closing atomic.Bool  // the end: dials fail, nothing is recorded
	began   atomic.Int64 // start as UnixNano, for elapsed()
	steps   atomic.Int64 // progress, for the watchdog

	mu       sync.Mutex
	sleepers []sleeper     // sleeps begun in this step
	ended    []*Client     // scripts that ended in this step
	dials    []*dialing    // dials begun in this step
	written  []*link       // links written to or closed in this step
	wakeBy   time.Duration // when the World wakes at the latest, if pings may be put off
	putOffs  []putOff      // pings that were put off in this sleep
	bubble   string        // how stack traces name the run's bubble
	panics   []string
	logs     []logged
	out      trace.Result
	notes    trace.Notes

	atRest *atRest // nil until then

	runawaySince trace.Moment
}

func newSimulation(w World) *simulation {
	s := &simulation{
		world:   w,
		links:   map[engine.ConnID]*link{},
		net:     carry.New(w.Plan...),
		origins: map[string]origin{}, notified: map[notified]bool{},
		wakeBy:  awake,
		journal: journal{lines: make([]trace.Line, 0, usualLines)},
	}
	if w.Schedule.Kind != Latencies {
		s.order = &order{sim: s, ranks: map[stream]uint64{}}
	}
	s.followed = make([]time.Duration, w.servers())
	s.lagging = make([]time.Duration, w.servers())
	s.out.SessionClient = map[int64]string{}
	return s
}

// run is the World's goroutine.
func (s *simulation) run() {
	s.start = time.Now()
	s.began.Store(s.start.UnixNano())
	s.setBubble(bubble.Name())
	defer logs.Take(s.keepLog)()
	s.wake = make(chan struct{}, 1)
	s.timer = time.NewTimer(0)
	defer s.timer.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.ctx = ctx
	cfg := s.world.Server.engineConfig()
	cfg.OrderChildren, cfg.Servers = s.shuffleChildren, s.world.servers()
	if s.world.servers() > 1 {
		cfg.Skew = s.skew
	}
	s.engine = engine.New(cfg, s.start)
	s.net.Serve(carry.Ensemble{Servers: s.world.servers(), Leader: s.engine.Leader})
	s.setUp()
	s.loop(s.world.Limit, s.over)
	s.playOvertime()
	s.noteBusy()
	s.heal()
	rest := max(s.now(), s.heldUntil()) + s.world.Settle
	s.loop(max(rest, s.mournedUntil()), func() bool { return false })
	s.noteAtRest()
	s.tearDown(cancel)
	for _, c := range s.clients {
		c.disown()
	}
}

// over reports whether all scripts have ended.
func (s *simulation) over() bool { return s.running == 0 }

// playOvertime is the loop for scripts that are slow; see World.Overtime.
func (s *simulation) playOvertime() {
	const times, most = 20, 30
	if s.world.Overtime == 0 || s.changesSince(s.now()-s.world.Overtime) > most || s.isAtIt() {
		return
	}
	for range times {
		begin := s.now()
		s.loop(begin+s.world.Overtime, s.over)
		if n := s.changesSince(begin); n == 0 || n > most || s.over() || s.out.OutOfSteps {
			return
		}
	}
}

// isAtIt goes on for ten seconds, and reports whether the clients did more than to wait: then most
// of their requests are pings, one or two a second.
func (s *simulation) isAtIt() bool {
	before := s.replies
	s.loop(s.now()+10*time.Second, s.over)
	return s.replies-before > 30*len(s.clients) || s.over() || s.out.OutOfSteps
}

// changesSince is the number of changes of the tree at a time or later.
func (s *simulation) changesSince(begin time.Duration) int {
	at, _ := slices.BinarySearch(s.changed, begin)
	return len(s.changed) - at
}

func (s *simulation) setBubble(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bubble = name
}

// bubbleStacks returns the stacks of the goroutines in the run's bubble, also of one that still
// runs.
func (s *simulation) bubbleStacks() string {
	s.mu.Lock()
	name := s.bubble
	s.mu.Unlock()
	return stacksOf(name)
}

// setUp makes the nodes and starts the scripts, no two at the same instant.
func (s *simulation) setUp() {
	for _, path := range slices.Sorted(maps.Keys(s.world.Nodes)) {
		if err := inspect.Put(s.engine, path, []byte(s.world.Nodes[path]), time.Now(),
			s.recordChanges); err != nil {
			panic(err)
		}
	}
	s.followAll()
	for path, next := range s.world.Next {
		s.engine.SetCreated(path, next)
	}
	for i, actor := range s.world.Clients {
		c := s.newClient(actor)
		s.running++
		s.schedule(s.latency(i, 0, 0, 0), func() { go s.script(c) })
	}
	for _, f := range s.net.Armed() {
		if f.At != 0 {
			s.schedule(f.At, func() { s.strikeAt(f) })
		}
	}
}

func (s *simulation) newClient(actor Actor) *Client {
	c := &Client{sim: s, actor: actor, name: actor.Name, index: len(s.clients),
		sessions: map[int64]bool{}, disown: func() {}}
	c.peer = carry.Client{ID: int64(c.index) + 1, Name: actor.Name}
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
		c.disown = dialhook.Own(c.ownNet())
		c.actor.Run(s.ctx, c)
	})
}

// panicked notes that one of a client's goroutines has panicked.
func (s *simulation) panicked(g *Goroutine, why any) {
	if g.dead.Load() {
		return
	}
	g.Note("panics: %v", why)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.panics = append(
		s.panics, fmt.Sprintf("client %s: panic: %v\n%s", g.Name(), why, debug.Stack()),
	)
}

// loop applies events until done, the time limit or the step limit.
func (s *simulation) loop(limit time.Duration, done func() bool) {
	s.woken = true
	for {
		if s.woken || s.world.undisciplined {
			s.quiesce()
		}
		if done() {
			return
		}
		if s.outOfBounds() {
			return
		}
		if s.order != nil {
			s.order.plan()
		}
		next, tick := s.next()
		if s.now() < min(next, limit) {
			s.sleep(min(next, limit))
			s.woken = true // others may have woken at the same instant: let them finish first
			continue
		}
		if next > limit {
			return
		}
		s.step()
		s.apply(tick)
	}
}

// outOfBounds reports whether the run must end at once.
func (s *simulation) outOfBounds() bool {
	if s.closing.Load() {
		return false
	}
	s.countGoroutines()
	if s.runaway.Load() {
		return true
	}
	s.out.OutOfSteps = s.steps.Load() >= s.world.MaxSteps || s.bytes >= maxBytes
	return s.out.OutOfSteps
}

func (s *simulation) step() {
	s.steps.Add(1)
	s.journal.nextStep()
}

// quiesce waits until every other goroutine of the bubble is blocked, and takes in their requests
// in canonical order.
func (s *simulation) quiesce() {
	for s.woken = true; s.woken; {
		s.woken = false
		if !s.world.undisciplined {
			synctest.Wait()
		}
		select {
		case <-s.wake:
		default:
		}
		s.catchUp()
		if s.collect() && s.world.undisciplined {
			s.woken = true
		}
	}
}

// next is when the next thing happens: an event, or, if tick is set, the engine's own
// deadline.
func (s *simulation) next() (at time.Duration, tick bool) {
	at = never
	if len(s.events) > 0 {
		at = s.events[0].at
	}
	d := s.engine.NextDeadline()
	if d.IsZero() {
		return at, false
	}
	// A leader without a majority ends no session.
	deadline := max(d.Sub(s.start), s.net.AloneUntil(s.engine.Leader(), s.now()))
	if deadline < at {
		return deadline, true
	}
	return at, false
}

const never = time.Duration(1 << 62)

func (s *simulation) apply(tick bool) {
	if tick {
		s.tick()
	} else {
		s.events.pop().apply()
	}
}

// tick lets the engine end expired sessions.
func (s *simulation) tick() { s.react(withoutLastWords(s.engine.Tick(s.clock()))) }

// now is the World's time since the start, and clock the same as a time of the clock.
func (s *simulation) now() time.Duration { return s.elapsed() - s.back }
func (s *simulation) clock() time.Time   { return s.start.Add(s.now()) }

// elapsed is the virtual time since the start. The clients' time is always this one.
func (s *simulation) elapsed() time.Duration {
	return time.Duration(time.Now().UnixNano() - s.began.Load())
}

// schedule plans an event at a time, or a few nanoseconds later: no two events share an instant.
func (s *simulation) schedule(at time.Duration, apply func()) time.Duration {
	at = max(at, s.now())
	for !s.world.undisciplined && s.events.has(at) {
		at++
	}
	s.sequence++
	s.events.push(event{at, s.sequence, apply})
	return at
}

// sleeper is a client's goroutine that wants to be woken.
type sleeper struct {
	client *Client
	name   string // of a Goroutine, with its request; see AwaitTurn
	at     time.Duration
	woken  chan struct{}
}

// putAside and scriptEnded append, in any goroutine, to the lists that collect reads.
func (s *simulation) putAside(z sleeper) {
	s.mu.Lock()
	s.sleepers = append(s.sleepers, z)
	s.mu.Unlock()
	s.wakeUp()
}

func (s *simulation) scriptEnded(c *Client) {
	s.mu.Lock()
	s.ended = append(s.ended, c)
	s.mu.Unlock()
	s.wakeUp()
}

// scriptIsOver counts a script that has ended, by itself or with its process.
func (s *simulation) scriptIsOver(c *Client) {
	if !c.done {
		c.done = true
		s.running--
	}
}

// putToSleep schedules the wake-ups of one step's sleepers in an order that does not depend on
// their arrival. Sleepers of one client with the same name and time wake together.
func (s *simulation) putToSleep(sleepers []sleeper) {
	slices.SortStableFunc(sleepers, compareSleepers)
	for len(sleepers) > 0 {
		n := 1
		for n < len(sleepers) && compareSleepers(sleepers[n], sleepers[0]) == 0 {
			n++
		}
		group := sleepers[:n:n]
		s.schedule(group[0].at, func() {
			for _, z := range group {
				close(z.woken)
				z.client.wakes()
			}
		})
		sleepers = sleepers[n:]
	}
}

func compareSleepers(a, b sleeper) int {
	return cmp.Or(cmp.Compare(a.client.index, b.client.index), cmp.Compare(a.at, b.at),
		cmp.Compare(a.name, b.name))
}

func (s *simulation) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// log writes the World's own line. The arguments are formatted later, so they must not change.
func (s *simulation) log(actor, format string, args ...any) trace.Moment {
	return s.journal.add(0, s.now(), actor, format, args...)
}

func (s *simulation) addNotice(at trace.Moment, n trace.Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes.Notice(at, n)
}

// heal lets dials succeed again and deletes the nodes kept by late-reap. Messages held by a delay
// or a stall arrive at their time.
func (s *simulation) heal() {
	s.react(s.engine.ReapEnded(s.clock()))
	s.net.Heal()
	clear(s.lagging)
	for server := range s.world.servers() {
		s.engine.CutOff(server, false)
	}
	s.followAll()
}

// noteAtRest notes the server's state before the end.
func (s *simulation) noteAtRest() {
	s.out.Nodes = inspect.Tree(s.engine)
	s.out.Sessions = inspect.Sessions(s.engine)
	s.out.Watches = inspect.Watches(s.engine)
	s.out.Elapsed, s.out.Steps = s.now(), s.steps.Load()
	s.out.Logs = s.allLogs()
	s.journal.end()
	s.keepAtRest()
}

// tearDown ends everything: connections cut, dials refused, clients closed, virtual time drained.
func (s *simulation) tearDown(cancel func()) {
	s.closing.Store(true)
	cancel()
	s.abandonRunaways()
	s.resumeAll()
	for _, c := range s.net.Conns() {
		s.carryOut(c.Reset(syscall.ECONNRESET))
	}
	if !s.buried() {
		s.bury()
	}
	s.closeGraves()
	closed := make(chan struct{})
	go s.closeClients(closed)
	s.loop(s.now()+tearDownLimit, func() bool {
		select {
		case <-closed:
			return s.running == 0
		default:
			return false
		}
	})
	s.loop(s.now()+s.lastWords(), func() bool { return false })
}

// tearDownLimit is how much virtual time the clients get to close. The
// go-zookeeper client needs up to three seconds for each connection.
const tearDownLimit = time.Minute

func (s *simulation) closeClients(closed chan<- struct{}) {
	defer close(closed)
	defer s.wakeUp()
	for _, c := range s.clients {
		if c.abandoned {
			continue
		}
		c.mu.Lock()
		conns := slices.Clone(c.conns)
		c.mu.Unlock()
		for _, conn := range conns {
			conn.Close()
		}
	}
}

type event struct {
	at       time.Duration
	sequence int64
	apply    func()
}

// before orders events by time, and those of one time as they were scheduled.
func (e event) before(other event) bool {
	return e.at < other.at || e.at == other.at && e.sequence < other.sequence
}

// eventHeap is a binary heap. That of container/heap would allocate for each event.
type eventHeap []event

// has reports whether there is an event of an instant. There are few events.
func (h eventHeap) has(at time.Duration) bool {
	return slices.ContainsFunc(h, func(e event) bool { return e.at == at })
}

func (h *eventHeap) push(e event) {
	list := append(*h, e)
	i := len(list) - 1
	for parent := (i - 1) / 2; i > 0 && e.before(list[parent]); parent = (i - 1) / 2 {
		list[i] = list[parent]
		i = parent
	}
	list[i] = e
	*h = list
}

// pop removes the earliest event.
func (h *eventHeap) pop() event {
	list := *h
	first, e := list[0], list[len(list)-1]
	list[len(list)-1] = event{}
	list = list[:len(list)-1]
	i := 0
	for child := 1; child < len(list); child = 2*i + 1 {
		if child+1 < len(list) && list[child+1].before(list[child]) {
			child++
		}
		if !list[child].before(e) {
			break
		}
		list[i] = list[child]
		i = child
	}
	if len(list) > 0 {
		list[i] = e
	}
	*h = list
	return first
}
