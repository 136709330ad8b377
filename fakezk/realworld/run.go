package realworld

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/tracetext"
	"github.com/zksim/zksim/fakezk/trace"
)

// run is one run of a World: it starts the scripts, waits for their end, and puts the Result
// together from what its parts have noted.
//
// One mutex guards the parts, the links and the clients. A frame from a client or from a server is
// noted under it, the faults that select the frame act, and it goes on its way. So the lines of the
// trace are in the order in which frames passed the proxy. A part with a field mu locks the mutex
// in those methods that a goroutine of a client, of a link or of a timer calls. Only the methods of
// a part change its fields.
type run struct {
	world   World
	scripts sync.WaitGroup

	mu        sync.Mutex
	clock     *clock
	journal   *journal
	sessions  sessions
	exchanges *exchanges // requests, answers and notifications
	servers   *servers   // as they are reached past the proxy
	guest     *guest     // the nodes of the run on servers of somebody else
	proxy     *proxy     // connections, and the faults that act on them
	outages   *outages   // the restarts of servers
	out       trace.Result
}

func newRun(w World) *run {
	w = w.withDefaults()
	r := &run{world: w, clock: &clock{pace: w.Pace}, sessions: sessions{}}
	r.journal = &journal{clock: r.clock}
	r.exchanges = &exchanges{
		ensemble: len(w.Servers) > 1, guest: w.guest(), calls: map[call]*request{},
	}
	r.servers = &servers{list: w.Servers, mu: &r.mu, timeout: r.clock.real(w.SessionTimeout)}
	r.guest = &guest{
		mu: &r.mu, servers: r.servers, sessions: r.sessions, exchanges: r.exchanges,
	}
	r.proxy = newProxy(r)
	r.outages = &outages{
		mu: &r.mu, clock: r.clock, journal: r.journal, servers: r.servers, proxy: r.proxy,
		down: map[int]bool{}, spells: map[spell]int{},
	}
	r.proxy.outages = r.outages
	return r
}

// play is the run from beginning to end.
func (r *run) play(ctx context.Context) error {
	base, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	scripts, cancel := context.WithCancel(ctx)
	defer cancel()
	calm := make(chan struct{})
	go r.clock.watch(&r.mu, calm)
	r.begin(scripts)
	r.await(ctx)
	r.proxy.heal()
	sleep(ctx, r.clock.real(r.proxy.held()+r.world.Settle))
	close(calm)
	last, atRest := r.noteAtRest(ctx)
	cancel()
	r.tearDown()
	if ctx.Err() != nil {
		return reasonOf(ctx) // it may have caused other errors
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(atRest, r.journal.trouble()); err != nil {
		return err
	}
	return r.conclude(base, last)
}

// reasonOf is why ctx is done, such as a signal. It is also the error of ctx.
func reasonOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ctx.Err()) {
		return cause
	}
	return fmt.Errorf("%w: %w", ctx.Err(), cause)
}

// prepare leaves no nodes of others to the clients, and returns the newest zxid.
func (r *run) prepare(ctx context.Context) (base int64, err error) {
	if ctx.Err() != nil {
		return 0, reasonOf(ctx)
	}
	if r.world.guest() {
		if err := r.guest.createNodes(); err != nil {
			return 0, err
		}
		return 0, r.servers.checkEnsemble(ctx, r.guest.root)
	}
	if err := r.servers.clean(ctx); err != nil {
		return 0, fmt.Errorf("clean the server: %w", err)
	}
	_, base, err = r.servers.leader(ctx)
	return base, err
}

// begin starts the scripts and the timers of faults.
func (r *run) begin(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proxy.begin(ctx)
	for i, c := range r.proxy.clients {
		r.scripts.Add(1)
		go r.script(ctx, c, r.world.Clients[i].Run)
	}
}

// script runs a client's script to its end.
func (r *run) script(ctx context.Context, c *Client, run func(context.Context, *Client)) {
	defer r.scripts.Done()
	returned := false
	defer func() {
		trouble := recover()
		if trouble == nil && !returned {
			trouble = tracetext.Exited
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		c.done = true
		if trouble != nil {
			r.journal.log(c.name, "panics: %v", trouble)
			r.out.Panics = append(r.out.Panics,
				fmt.Sprintf("client %s: panic: %v\n%s", c.name, trouble, debug.Stack()))
		}
	}()
	run(ctx, c)
	returned = true
}

// await waits for the scripts to end, at most for the Limit and for the time in which some server
// was down.
func (r *run) await(ctx context.Context) {
	ended := r.scriptsEnd()
	for rest := r.world.Limit; rest > 0; rest = r.world.Limit + r.outages.time() - r.clock.now() {
		limit := time.NewTimer(r.clock.real(rest))
		select {
		case <-ended:
		case <-limit.C:
			continue
		case <-ctx.Done():
		}
		limit.Stop()
		break
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.proxy.clients {
		if !c.done {
			r.out.Busy = append(r.out.Busy, c.name)
		}
	}
}

// scriptsEnd returns a channel that is closed when all scripts have ended.
func (r *run) scriptsEnd() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.scripts.Wait()
	}()
	return ended
}

// tearDown closes the clients and ends all connections. The journal has ended.
func (r *run) tearDown() {
	r.proxy.close()
	select {
	case <-r.scriptsEnd():
	case <-time.After(tearDownPatience):
		r.out.Leaked = "scripts that did not end with their context\n" + bubble.Stacks()
	}
	r.proxy.readers.Wait()
}

// tearDownPatience is real time.
const tearDownPatience = 10 * time.Second

// conclude puts the Result together: the changes of the servers at their places, and moments as
// lines of the trace.
func (r *run) conclude(base int64, last atRest) error {
	out := &r.out
	out.SessionClient = map[int64]string{}
	for id, s := range r.sessions {
		out.SessionClient[id] = s.client.name
	}
	changes, err := r.changesBehind(base, last.zxid)
	if err != nil {
		return err
	}
	for _, c := range changes {
		r.journal.change(c)
	}
	out.Nodes, out.Sessions, out.Watches = last.nodes, last.sessions, last.watches
	out.Diverged = last.diverged
	out.Elapsed, out.Down = last.at, r.outages.longest
	out.Missed, out.Stalled = r.proxy.missed(), r.clock.longestStall()
	r.journal.into(out)
	return nil
}
