package scenario

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/linearizability"
)

// Workload is a script for clients of one object, and a judge for the promises of the object.
// Package object makes workloads for the usual kinds of objects; fill in the fields for an object
// of another kind.
type Workload struct {
	// Name is the kind of object: "lock", "queue", or another word.
	Name string
	// Impl is the implementation under test.
	Impl string
	// About is one line about the implementation.
	About string

	// Nodes exist from the beginning, path to data. Next has the numbers of the next sequential
	// children of some of them, as in sim.World.
	Nodes map[string]string
	Next  map[string]int32

	// Main lists the kinds of calls that the object exists for, such as "lock" or "offer". A hunt or
	// sweep in which none of them succeeds is an error: it has tested nothing. Nil means any kind.
	Main []string
	// Play is the script of one client. A run calls it once for each client, each in a goroutine.
	// It must end once the faults have stopped, or liveness is violated, and it must return when
	// the Player's context is done. It may depend on the Player, the Script and the answers of the
	// object, and on nothing else.
	Play func(p *Player, s Script)
	// Shared says that several goroutines may use the object at once, and that Play is made by
	// [Shared]. Without it or Handles a Script of several goroutines is an error.
	Shared bool
	// Handles says that each of several goroutines of a client has its own object, on the client's
	// connection, and that Play is made by [Apart]. Careless clients have one goroutine.
	Handles bool
	// Length is the longest virtual time that the turns of a script take without faults. Nil means
	// at most two minutes in all.
	Length func(s Script) time.Duration
	// Freeze is the real time without a step after which a run ends as frozen; 0 means 20 s. See
	// sim.World.
	Freeze time.Duration
	// Judge returns the verdicts on a run. It is called outside of the simulated world. An error
	// means that there is no verdict, because workload and object do not fit.
	Judge func(e Evidence) (linearizability.Report, error)
	// Keeps says what the object may leave at rest.
	Keeps Keeps
	// Deaf says that calls may go on after their contexts are done, like those of zk.Lock, which
	// has no contexts. Without it such a call violates liveness.
	Deaf bool
	// Elsewhere, if not nil, plays a scenario in another process of this program, which returns the
	// outcome by [Outcome.Encode].
	Elsewhere func(Scenario) (*Outcome, error)
	// Flawed is the property that the implementation is known to violate, "" if there is none; see
	// [Catalogue.Sound].
	Flawed string
	// Sometimes are goals that some run must reach, by [Player.Sometimes], for a test to mean
	// anything: otherwise the test fails. Reaching another goal is an error.
	Sometimes []string

	// Properties are those on which Judge may give a verdict. A verdict on another one is an error,
	// and so is a scenario file that expects its violation, or a hunt for it. Nil means any.
	Properties []string
}

// Concurrent reports whether clients with a script may have several goroutines.
func (w Workload) Concurrent(s Script) bool { return w.Shared || w.Handles && !s.Careless }

// Keeps lists the kinds of things that an object may leave at rest because only the end of its
// process removes them. They are no orphans then.
type Keeps struct{ Watches, Goroutines, Sessions bool }

// without is the rest without the things that may be left.
func (k Keeps) without(rest *linearizability.Leftovers) *linearizability.Leftovers {
	if k.Watches {
		rest.Watches = nil
	}
	if k.Goroutines {
		rest.Leaked = nil
	}
	if k.Sessions {
		rest.Sessions = nil
	}
	return rest
}

// report calls the Judge. A panic of it is an error, and so is a verdict on a property that the
// workload does not list.
func (w Workload) report(e Evidence) (r linearizability.Report, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the judge panics: %v\n%s", p, debug.Stack())
		}
	}()
	if r, err = w.Judge(e); err != nil || w.Properties == nil {
		return r, err
	}
	for _, v := range r.Verdicts {
		if !slices.Contains(w.Properties, v.Property) {
			return r, fmt.Errorf("the judge has a verdict on %q, and Workload.Properties lists %q",
				v.Property, w.Properties)
		}
	}
	return r, nil
}

// Evidence is the input of a Judge.
type Evidence struct {
	// History is the record of the clients and of the server.
	History linearizability.History
	// Rest is the world after scripts and faults had ended; nil if the run was cut short.
	Rest *linearizability.Leftovers
	// Plan holds the faults of the run.
	Plan []fault.Fault
	// Lag is the longest time that a server takes to show a change without faults. It is 0 with one
	// simulated server.
	Lag time.Duration
	// Signals says that some hold had a signal of loss; see [Record.Heed].
	Signals bool
	// Reached are the goals that scripts have reached, sorted; see [Player.Sometimes].
	Reached []string
}

// GaveUp reports whether some wait of the run was given up: by an error, a done context or the end
// of a session. The go-zookeeper client cannot remove the watch of such a wait, so watches and
// herds cannot be judged then.
func (e Evidence) GaveUp() bool { return len(gaveUp(e.History)) > 0 }

// Script is the size of a run: the number of clients, and the work of each.
type Script struct {
	// Clients is the number of clients, up to 26. They are called a, b, c, ...
	Clients int
	// Rounds is the number of turns of each client, up to 1000: lock and unlock, or offer and take.
	Rounds int
	// Goroutines is the number of goroutines of each client that play the rounds at the same time,
	// with one object, up to 8. More than one need Shared or Handles of the workload. 0 means 1,
	// and permits a hunt to have more in some scenarios; see [Outcome.Shared].
	Goroutines int
	// Servers is the number of servers, up to 7. With several of them followers answer reads from a
	// tree that is somewhat old. 0 means 1, and permits a hunt to have three in some scenarios.
	Servers int
	// Careless clients close the object while they use it, and go on with a new one. They call with
	// contexts that are done already, also when they release. They try before they wait, if the
	// object has such methods.
	Careless bool
}

// DefaultScript is the script of sweeps and searches without other settings.
var DefaultScript = Script{Clients: 3, Rounds: 2}

const (
	maxClients    = 26
	maxRounds     = 1000
	maxGoroutines = sim.MaxGoroutines - 1 // one more closes the object
)

// validate returns an error if the script is wrong.
func (s Script) validate() error {
	if s.Clients < 1 || s.Clients > maxClients {
		return fmt.Errorf("clients: %d; expected 1 to %d", s.Clients, maxClients)
	}
	if s.Rounds < 1 || s.Rounds > maxRounds {
		return fmt.Errorf("rounds: %d; expected 1 to %d", s.Rounds, maxRounds)
	}
	if s.Goroutines < 0 || s.Goroutines > maxGoroutines {
		return fmt.Errorf("goroutines: %d; expected 1 to %d", s.Goroutines, maxGoroutines)
	}
	if s.Servers < 0 || s.Servers > sim.MaxServers {
		return fmt.Errorf("servers: %d; expected 1 to %d", s.Servers, sim.MaxServers)
	}
	return nil
}

// String is the script in the keys of a scenario file.
func (s Script) String() string {
	text := fmt.Sprintf("clients: %d, rounds: %d", s.Clients, s.Rounds)
	if s.goroutines() > 1 {
		text += fmt.Sprintf(", goroutines: %d", s.Goroutines)
	}
	if s.Servers > 1 {
		text += fmt.Sprintf(", servers: %d", s.Servers)
	}
	if s.Careless {
		text += ", careless: true"
	}
	return text
}

// goroutines is the number of goroutines of each client, at least 1.
func (s Script) goroutines() int { return max(s.Goroutines, 1) }

// lag is the longest time that a simulated server takes to show a change without faults.
func (s Script) lag() time.Duration {
	if s.Servers > 1 {
		return sim.MostLag
	}
	return 0
}

// ClientNames are the names of a script's clients, in order.
func (s Script) ClientNames() []string {
	names := make([]string, s.Clients)
	for i := range names {
		names[i] = string(rune('a' + i))
	}
	return names
}

// SessionTimeout is the session timeout of all clients: two ticks, the least that a server grants.
const SessionTimeout = 4 * time.Second

const (
	tickTime = 2 * time.Second
	// settle is the time for which a World goes on after the last script has ended. With a
	// blackhole fault it is longer: a client waits ten times as long for the answer to a handshake
	// as for other answers, which is ten times two thirds of the session timeout.
	settle          = 3 * SessionTimeout
	settleBlackhole = 8 * SessionTimeout
	// retryPause is the time between an error and the next attempt of a client.
	retryPause = 100 * time.Millisecond
	// baseLimit is the virtual time that the scripts get besides the length of their turns and of
	// the faults.
	baseLimit = 2 * time.Minute
	// overtime is the additional time for clients that poll once in some minutes.
	overtime = 4 * time.Minute
)

// Named is the workload under another name of its implementation.
func (w Workload) Named(impl string) Workload {
	w.Impl = impl
	return w
}
