package property

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/petermattis/goid"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"pgregory.net/rapid"
)

// Clients are the names of the clients of a World.
func Clients() []string { return []string{"a", "b", "c"} }

// observer is the name of one more client, which no fault selects: the body runs in its goroutine,
// and it reads the tree.
const observer = "observer"

// mostJobs is the number of functions of a client that may wait to be run.
const mostJobs = 1000

// World is a World of package sim for the body of a property. Only the goroutine of the body may
// call its methods; a function of [World.Go] may call Context, Conn and Connect.
type World struct {
	rt   *rapid.T
	body func(*rapid.T, *World)
	ctx  context.Context
	own  int64 // the number of the body's goroutine

	mu      sync.Mutex // guards the fields below
	clients map[string]*sim.Client
	jobs    map[string]chan *job
	ready   chan struct{} // closed when all clients are there
	ended   chan struct{} // closed when the body has ended
	started []*job        // begun by Go
	failure *failure
	over    bool
	awaited string // the client with the function that the body waits for at its end
}

// job is a function that a client runs.
type job struct {
	client  string
	run     func()
	done    chan struct{}
	failure *failure
}

// worldEnded ends a body that goes on after the end of the World.
type worldEnded struct{}

func newWorld(rt *rapid.T, body func(*rapid.T, *World)) *World {
	return &World{
		rt: rt, body: body, clients: map[string]*sim.Client{}, jobs: map[string]chan *job{},
	}
}

// actors are the scripts of the clients and of the body.
func (w *World) actors() []sim.Actor {
	var list []sim.Actor
	for _, name := range Clients() {
		list = append(list, sim.Actor{Name: name, Run: func(ctx context.Context, c *sim.Client) {
			w.addClient(ctx, c)
			w.serve(ctx, w.jobs[name])
		}})
	}
	body := func(ctx context.Context, c *sim.Client) {
		w.addClient(ctx, c)
		<-w.ready
		w.drive()
	}
	return append(list, sim.Actor{Name: observer, Harness: true, Run: body})
}

// addClient adds a client whose script has begun. The channels belong to the bubble, so they are
// made here.
func (w *World) addClient(ctx context.Context, c *sim.Client) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ready == nil {
		w.ctx, w.ready, w.ended = ctx, make(chan struct{}), make(chan struct{})
		for _, name := range Clients() {
			w.jobs[name] = make(chan *job, mostJobs)
		}
	}
	if w.clients[c.Name()] = c; len(w.clients) == len(Clients())+1 {
		close(w.ready)
	}
}

// serve runs the functions of a client until the body has ended. Functions that have not begun then
// are left out: a select of both would leave them out at random.
func (w *World) serve(ctx context.Context, jobs <-chan *job) {
	<-w.ready
	for {
		select {
		case <-w.ended:
			return
		default:
		}
		select {
		case j := <-jobs:
			// The time passes when the body waits: else the scheduler would decide which of them is
			// first, and which of two clients.
			time.Sleep(time.Duration(1 + slices.Index(Clients(), j.client)))
			j.drive()
		case <-w.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (j *job) drive() {
	defer close(j.done)
	defer func() {
		p := recover()
		if _, ended := p.(worldEnded); p != nil && !ended {
			j.failure = newFailure(p)
		}
	}()
	j.run()
}

// drive runs the body, and waits for the functions that it has begun.
func (w *World) drive() {
	defer close(w.ended)
	defer func() {
		if p := recover(); p != nil {
			if _, ended := p.(worldEnded); !ended {
				w.end(newFailure(p))
			}
		}
	}()
	w.own = goid.Get()
	w.Sleep(time.Microsecond) // the clients wait for functions: whether one is begun is no accident
	w.body(w.rt, w)
	for _, j := range w.started {
		w.awaits(j.client)
		w.wait(j)
	}
	w.end(nil)
}

// awaits notes that the body has ended, and waits for a function of a client.
func (w *World) awaits(client string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.awaited = client
}

// failsHere is the line of the trace at which the body has failed, unless by rt.Error alone.
const failsHere = "the test fails here"

func (w *World) end(f *failure) {
	if f != nil && !f.isSkip() {
		w.clients[observer].Note(failsHere)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure, w.over = f, true
}

// failed is the failure of the body, if any, when the World has ended.
func (w *World) failed(result *trace.Result) *failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.failure != nil:
		return w.failure
	case len(result.Panics) > 0:
		return &failure{value: "panic: " + firstLine(result.Panics[0])}
	case result.OutOfSteps: // those of the observer fill the memory, too
		return &failure{value: scenario.EndedByGuard(result) +
			"; the body's own reads of the tree count as steps, too"}
	case scenario.EndedByGuard(result) != "":
		return &failure{value: scenario.EndedByGuard(result)}
	case !w.over && w.awaited != "":
		return &failure{value: fmt.Sprintf("the body has ended, and a function that client %s runs "+
			"by World.Go has not, after %s of virtual time: a loop needs a context that the body "+
			"cancels", w.awaited, result.Elapsed.Round(time.Second))}
	case !w.over:
		return &failure{value: fmt.Sprintf("the body has not ended after %s of virtual time, which "+
			"is the time limit of a run; it was not tried to its end%s",
			result.Elapsed.Round(time.Second), waitOf(result))}
	}
	return nil
}

// waitOf says at which line of the test the body waits, "" if that is not known.
func waitOf(result *trace.Result) string {
	i := slices.Index(result.Busy, observer)
	if i < 0 || i >= len(result.BusyStacks) {
		return ""
	}
	if line := testLine.FindString(result.BusyStacks[i]); line != "" {
		return ": it waits at " + line
	}
	return ""
}

var testLine = regexp.MustCompile(`[^/\s]+_test\.go:\d+`)

// Context is done when the World ends, after six hours of virtual time.
func (w *World) Context() context.Context { return w.ctx }

// Conn returns the connection of a client, a, b or c. It may be disconnected by faults, and its
// session may expire: it then connects again in a new one.
func (w *World) Conn(client string) *zk.Conn { return w.actor(client).Conn() }

// Connect makes one more connection of a client, with a session of its own, and returns it with the
// channel of its session events, as zk.Connect does. The World closes it at the end.
func (w *World) Connect(client string) (*zk.Conn, <-chan zk.Event) {
	return w.actor(client).Connect()
}

// actor is a client that is about to act. If the body asks for it, the client gets on: the body
// goes from one action to the next. A function of Go may be a loop of the code under test.
func (w *World) actor(name string) *sim.Client {
	c := w.client(name)
	if goid.Get() == w.own {
		c.GetsOn()
	}
	return c
}

func (w *World) client(name string) *sim.Client {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.clients[name]
	if c == nil || name == observer {
		panic(fmt.Sprintf("property: client %q; expected a, b or c", name))
	}
	return c
}

// Go runs a function at the same time as the body, in the goroutine of a client. The function
// begins when the body waits for the first time. Go returns a function that waits for its end; the
// end of the body waits, too. Several functions of one client run one after the other. The function
// must not draw. A loop, such as that of a service, needs a context that the body cancels:
//
//	ctx, stop := context.WithCancel(w.Context())
//	defer stop()
//	w.Go("b", func() { service.Run(ctx) })
func (w *World) Go(client string, run func()) (wait func()) {
	w.client(client).GetsOn()
	j := &job{client: client, run: run, done: make(chan struct{})}
	w.started = append(w.started, j)
	select {
	case w.jobs[client] <- j:
	default:
		panic(fmt.Sprintf("property: %d functions of client %s wait to be run", mostJobs, client))
	}
	return func() { w.wait(j) }
}

// wait waits for a function of Go, and fails as it has failed.
func (w *World) wait(j *job) {
	select {
	case <-j.done: // also if the World ends at the same moment
	default:
		select {
		case <-j.done:
		case <-w.ctx.Done():
			panic(worldEnded{})
		}
	}
	if j.failure != nil {
		w.end(j.failure)
		panic(worldEnded{})
	}
}

// MayFail is an action, as of rapid's Repeat, whose error is no failure of the test: a fault may be
// its cause. The error is a line of the trace. The action itself may fail the test by rt.
func (w *World) MayFail(action func(rt *rapid.T) error) func(rt *rapid.T) {
	return func(rt *rapid.T) {
		if err := action(rt); err != nil {
			w.clients[observer].Note("an action fails: %v", err)
		}
	}
}

// Sleep lets virtual time pass. In a function of [World.Go] time.Sleep does the same.
func (w *World) Sleep(d time.Duration) {
	if w.clients[observer].Sleep(w.ctx, d) != nil {
		panic(worldEnded{})
	}
}

// Now is the virtual time since the World began.
func (w *World) Now() time.Duration { return w.clients[observer].Now() }

// Tree returns the data of the znodes at a path and below, by path: an empty map if there is none.
// The znodes of ZooKeeper itself, below /zookeeper, are left out. A client that no fault selects
// reads the tree, which takes some virtual time. The result includes everything that was written
// before the call. Sort its paths before you go through them, as by slices.Sorted(maps.Keys(tree)):
// if the same draws fail with another message, rapid ends the search for a smaller failure.
func (w *World) Tree(path string) map[string]string {
	w.clients[observer].GetsOn()
	conn := w.clients[observer].Conn()
	for {
		tree := map[string]string{}
		_, err := conn.Sync(path) // its server may be behind
		if err == nil {
			err = readTree(conn, path, tree)
		}
		if err == nil {
			return tree
		}
		w.Sleep(100 * time.Millisecond) // the server restarts
	}
}

func readTree(conn *zk.Conn, path string, tree map[string]string) error {
	data, _, err := conn.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	tree[path] = string(data)
	names, _, err := conn.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		delete(tree, path)
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if join(path, name) == "/zookeeper" {
			continue
		}
		if err := readTree(conn, join(path, name), tree); err != nil {
			return err
		}
	}
	return nil
}

func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

func firstLine(s string) string {
	for i, r := range s {
		if r == '\n' {
			return s[:i]
		}
	}
	return s
}
