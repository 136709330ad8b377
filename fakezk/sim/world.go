package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/inspect"
	"github.com/zksim/zksim/fakezk/trace"
)

// A World runs clients against a server in virtual time, under a plan of faults. It is a
// description: Run may be called many times and gives the same Result, byte for byte, each time.
//
// Every message between a client and the server takes a latency that is a hash of the seed and the
// message's coordinates; latencies decide the order, so another seed is another schedule. Time is
// that of a testing/synctest bubble: it passes only when everything waits.
//
// A client's script may use any code on *zk.Conn. Two runs of one seed differ only by sources of
// chance in the code itself: package-level state shared between runs or clients, math/rand's global
// source, map order, and goroutines of one client that race. The World orders the requests of such
// goroutines, by content. It cannot order, if several of them run at the same instant: equal
// requests, draws from crypto/rand (which is seeded within the World), and a select over two
// watches that fire at once. Two runs of one seed, compared, show such a race; [Client.Goroutines]
// avoids it.
//
// When all dials of a client fail, the requests that wait for a connection fail with ErrNoServer,
// and the client pauses for a second before it dials again. A client with one server does so before
// the first dial, too; in a World it dials at once. A Conn that is closed while its dials are
// refused goes on dialing, and closes its session when a dial succeeds; a request begun after Close
// has a random outcome. So has the client's own setWatches then, unless the code runs by zksim go.
type World struct {
	// Seed chooses the schedule.
	Seed uint64
	// Plan is the list of faults; it may be empty.
	Plan []fault.Fault
	// Schedule orders the messages; the zero value gives each a latency.
	Schedule Schedule
	// Chooser, if not nil, says what comes next under a Schedule of Turns, in place of the numbers
	// of the schedule.
	Chooser Chooser
	// HideCounts puts -1 in place of Cversion, NumChildren and Pzxid in all stats but those in
	// replies to creates and lists of children. Under Turns, a read of a node then commutes with a
	// create or delete of its child.
	HideCounts bool
	// Clients are the actors. Their order matters to the schedule.
	Clients []Actor
	// Server are the server's settings.
	Server Settings
	// Servers is the number of servers of the ensemble, at most [MaxServers]; 0 means 1. The first
	// one is the leader. A follower applies a change some milliseconds after the leader, or up to
	// 0.64 s if the seed makes it slow. Clients dial the servers in turn. The clocks of the servers
	// are up to two seconds fast or slow, by the seed. Ctime and Mtime show this: they may fall
	// from one leader to the next.
	Servers int
	// Nodes exist from the beginning: path to data.
	Nodes map[string]string
	// Next are the numbers that the next sequential children of some of these nodes
	// get: path to number. The last number is 2147483647, which all children get
	// from then on. Servers before 3.6 went on with -2147483648 (ZOOKEEPER-3249), and
	// a tree that comes from one goes on from there: so a number may be negative.
	Next map[string]int32
	// SessionTimeout is the timeout that clients request; 0 means 10 s.
	SessionTimeout time.Duration
	// ClientBuffer is the length in bytes of the longest frame that a client sends
	// or takes; 0 means 64 KiB. The client allocates its buffers anew at each
	// connection; its own default of 1.5 MB would be most of the cost of a run.
	ClientBuffer int
	// Limit ends the run at this virtual time even if scripts are still busy; 0 means 10 minutes.
	Limit time.Duration
	// Overtime is how much longer busy scripts get after the Limit, again and again up to 20 times,
	// if the tree changes at least once in that time, and at most eight times a minute: so it does
	// if clients poll once in minutes. No change is a hang, and more changes are a loop.
	Overtime time.Duration
	// Settle is how long, after the last script has ended and the last delay or stall
	// has let go, the World goes on without faults, so that clean-up in the background
	// can finish; 0 means two session timeouts.
	Settle time.Duration
	// MaxSteps ends a run at once after this number of steps, before the Limit and without
	// settling; 0 means a million. See [trace.Result.OutOfSteps].
	MaxSteps int64
	// Freeze is how much real time may pass without a step before the run is given up; 0 means
	// 20 s. It is for code that spins or holds a mutex while it waits: neither lets virtual time
	// pass. If all goroutines wait, and one of them for a mutex, or if one uses the real network, a
	// quarter of that time is enough.
	Freeze time.Duration

	// Logs keeps what the code under test logs in [trace.Result.Logs]. Otherwise it is dropped.
	Logs bool
	// StackOf is a request to find the senders of; see [trace.Result.Senders]. The zero value is
	// none.
	StackOf struct {
		Client string
		Number int // of the client's requests, from 1
	}
	// Senders finds the senders of the first 2,000 requests; see [trace.Result.Senders]. It
	// makes the run slow, and no different.
	Senders bool

	unordered  bool // negative control: no canonical order, see the tests
	noDeferral bool // for tests: no ping is put off, and replies to pings are handed over
}

// MaxServers is the greatest number of servers of a World.
const MaxServers = carry.MaxServers

// addresses are those of the servers, by number.
var addresses = carry.Addresses(MaxServers)

func (w World) servers() int { return max(1, w.Servers) }

// An Actor is the name and the script of a client. When Run returns, the client is done; ctx ends
// with the World.
type Actor struct {
	// Name is made of letters, digits, '-' and '_'.
	Name string
	Run  func(ctx context.Context, c *Client)
	// Harness says that the script is no code under test, but watches such code: it is never a
	// runaway.
	Harness bool
}

var clientName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Validate returns an error for an invalid description.
func (w World) Validate() error {
	if w.SessionTimeout < 0 || w.Limit < 0 || w.Overtime < 0 || w.Settle < 0 || w.Freeze < 0 ||
		w.MaxSteps < 0 || w.ClientBuffer < 0 {
		return fmt.Errorf("SessionTimeout, Limit, Overtime, Settle, Freeze, MaxSteps and " +
			"ClientBuffer must not be negative")
	}
	if w.Servers < 0 || w.Servers > MaxServers {
		return fmt.Errorf("%d servers; expected at most %d", w.Servers, MaxServers)
	}
	if err := w.Schedule.Validate(); err != nil {
		return err
	}
	if err := w.validateTree(); err != nil {
		return err
	}
	names, err := w.clientNames()
	if err != nil {
		return err
	}
	return w.validatePlan(names)
}

// validateTree checks Nodes and Next.
func (w World) validateTree() error {
	scratch := engine.New(w.Server.engineConfig(), time.Unix(0, 0))
	for _, path := range slices.Sorted(maps.Keys(w.Nodes)) {
		if err := inspect.Put(
			scratch, path, nil, time.Unix(0, 0), func(engine.Reaction) {},
		); err != nil {
			return fmt.Errorf("nodes: %w", err)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(w.Next)) {
		if n, ok := scratch.Store().Node(path); !ok ||
			w.Next[path] >= 0 && w.Next[path] < n.Created {
			return fmt.Errorf("next: %d for %q: expected a path of Nodes or one of their parents, "+
				"and a number of %d at least, or below 0", w.Next[path], path, n.Created)
		}
	}
	return nil
}

// clientNames checks Clients, and returns the set of their names.
func (w World) clientNames() (map[string]bool, error) {
	names := map[string]bool{}
	for _, a := range w.Clients {
		switch {
		case a.Name == "server" || a.Name == "fault":
			return nil, fmt.Errorf("client name %q: the trace calls something else so", a.Name)
		case !clientName.MatchString(a.Name):
			return nil, fmt.Errorf("client name %q: expected letters, digits, - and _", a.Name)
		case names[a.Name]:
			return nil, fmt.Errorf("client name %q is used twice", a.Name)
		case a.Run == nil:
			return nil, fmt.Errorf("client %q has nothing to run", a.Name)
		}
		names[a.Name] = true
	}
	return names, nil
}

// validatePlan checks Plan, given the names of the clients.
func (w World) validatePlan(clients map[string]bool) error {
	for i, f := range w.Plan {
		if err := f.Validate(); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
		if f.Kind.NeedsEnsemble() && w.servers() == 1 {
			return fmt.Errorf("fault %d: %q needs an ensemble of several servers", i+1, f)
		}
		if f.Server > w.servers() {
			return fmt.Errorf("fault %d: %q: there is no server %d", i+1, f, f.Server)
		}
		if f.Client != "" && !clients[strings.TrimRight(f.Client, "'")] {
			return fmt.Errorf("fault %d: %q: no client is called %q", i+1, f, f.Client)
		}
	}
	return nil
}

func (w World) withDefaults() World {
	w.SessionTimeout = cmp.Or(w.SessionTimeout, 10*time.Second)
	w.ClientBuffer = cmp.Or(w.ClientBuffer, 64<<10)
	w.Limit = cmp.Or(w.Limit, 10*time.Minute)
	w.Settle = cmp.Or(w.Settle, 2*w.SessionTimeout)
	w.MaxSteps = cmp.Or(w.MaxSteps, 1_000_000)
	w.Freeze = max(cmp.Or(w.Freeze, 20*time.Second), time.Millisecond)
	return w
}

// Run runs the World in a new synctest bubble, and returns when everything has ended. It must not
// be called inside a bubble. An error means that the description is invalid; failures of the run
// are in the Result.
func (w World) Run() (*trace.Result, error) {
	if bubble.Name() != "" {
		return nil, errors.New(
			"fakezk: world: Run makes its own synctest bubble and cannot be called inside one")
	}
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("fakezk: world: %w", err)
	}
	w = w.withDefaults()
	sim := newSimulation(w)
	ended := make(chan *bubble.Failure, 1)
	go func() { ended <- bubble.Run(w.Seed, sim.run) }()
	failure, stacks := sim.guard.Watch(ended, w.Freeze)
	result := sim.result(failure, stacks)
	if failure != nil {
		sim.release()
	}
	return result, nil
}
