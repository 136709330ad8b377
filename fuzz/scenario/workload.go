package scenario

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/linearizability"
)

// A Workload is what clients do with one object, and what that object claims to
// be. Get one from Find, or make one for your own code with LockWorkload,
// QueueWorkload, or by filling in the fields for an object of any other kind.
type Workload struct {
	// Name is the kind of object: "lock", "queue", or a word of your own.
	Name string
	// Impl is the implementation under test.
	Impl string
	// About is one line about the implementation.
	About string

	// Nodes exist from the beginning, path to data, and Next are the numbers of the
	// next sequential children of some of them, as in fakezk.World.
	Nodes map[string]string
	Next  map[string]int32

	// Play is the script of one client. It is called once in a run for each client,
	// in a goroutine of its own. It must come to its end once the faults have stopped, or
	// liveness is violated, and must leave when the Player's context is done.
	// What it does may depend on the Player, the Script and the answers it gets, and
	// on nothing else.
	Play func(p *Player, s Script)
	// Shared says that the object may be used by several goroutines at once, and that
	// Play does so: see [Player.Goroutines]. Without it a Script of several hands is an
	// error.
	Shared bool
	// Length is how long the turns of a script may take in virtual time, faults
	// left out. Nil means no longer than two minutes in all.
	Length func(s Script) time.Duration
	// Freeze is how much real time may pass without a step before a run is given up as
	// frozen; 0 means 20 s. See fakezk.World.
	Freeze time.Duration
	// Judge says what is to be said of a run. It is called outside of the
	// simulated world. An error means that nothing can be said; wrap [ErrClaims] in
	// it if the object does nothing where it claims to.
	Judge func(e Evidence) (linearizability.Report, error)
	// Flawed is the property that the implementation is known to break, "" if it
	// promises to survive; see [Catalogue.Sound].
	Flawed string
	// Sometimes are goals that some run must reach, by [Player.Sometimes], for a test
	// to mean anything: [Test] fails otherwise. To reach another goal is an error.
	Sometimes []string

	// Properties are what Judge may find violated: a scenario file that expects another
	// is refused. Nil means any.
	Properties []string
}

// Evidence is what a run is judged by.
type Evidence struct {
	// History is what the clients did and saw, and all that the server did.
	History linearizability.History
	// Rest is the world after scripts and faults had ended; nil if the run was
	// cut short.
	Rest *linearizability.Leftovers
	// Plan holds the faults of the run.
	Plan []fault.Fault
	// Signals says that some script called [Player.Signals].
	Signals bool
	// Reached are the goals that scripts have reached, sorted; see [Player.Sometimes].
	Reached []string
}

// GaveUp reports whether some wait of the run was given up: by an error, a done
// context or the end of a session. The go-zookeeper client cannot take back the
// watch of one that was, so watches and herds cannot be judged then.
func (e Evidence) GaveUp() bool { return len(gaveUp(e.History)) > 0 }

// ErrClaims is wrapped by the errors that tell that the claims cannot be those of
// the code under test, as it does nothing where they say.
var ErrClaims = errors.New("the claims do not fit the code")

// A Script says how much the clients of a workload do.
type Script struct {
	// Clients is their number. They are called a, b, c, ...
	Clients int
	// Rounds is how often each of them does its turn: lock and unlock, or offer
	// and take.
	Rounds int
	// Hands is how many goroutines of each client do that at the same time, with one
	// object; 0 means 1. More are for workloads that are Shared.
	Goroutines int
	// Careless: they close the object while they use it and go on with a new one, call
	// with contexts that are done already, also what gives something back, and try
	// before they wait, as far as the object can do that.
	Careless bool
}

// DefaultScript is what sweeps and searches use unless told otherwise.
var DefaultScript = Script{Clients: 3, Rounds: 2}

const (
	MaxClients    = 26
	MaxRounds     = 1000
	MaxGoroutines = sim.MaxHands - 1 // and one that closes what they share
)

// Validate says what is wrong with a Script, or returns nil.
func (s Script) Validate() error {
	if s.Clients < 1 || s.Clients > MaxClients {
		return fmt.Errorf("clients: %d; expected 1 to %d", s.Clients, MaxClients)
	}
	if s.Rounds < 1 || s.Rounds > MaxRounds {
		return fmt.Errorf("rounds: %d; expected 1 to %d", s.Rounds, MaxRounds)
	}
	if s.Goroutines < 0 || s.Goroutines > MaxGoroutines {
		return fmt.Errorf("goroutines: %d; expected 1 to %d", s.Goroutines, MaxGoroutines)
	}
	return nil
}

// String is the script as the keys of a scenario file.
func (s Script) String() string {
	text := fmt.Sprintf("clients: %d, rounds: %d", s.Clients, s.Rounds)
	if s.GoroutineCount() > 1 {
		text += fmt.Sprintf(", goroutines: %d", s.Goroutines)
	}
	if s.Careless {
		text += ", careless: true"
	}
	return text
}

// hands is the number of hands, at least 1.
func (s Script) GoroutineCount() int { return max(s.Goroutines, 1) }

// ClientNames are the names of a script's clients, in order.
func (s Script) ClientNames() []string {
	names := make([]string, s.Clients)
	for i := range names {
		names[i] = string(rune('a' + i))
	}
	return names
}

// What every workload has in common. A session lives for two ticks, the least
// that a server grants.
const (
	SessionTimeout = 4 * time.Second
	tickTime       = 2 * time.Second
	// Settle is how long a World goes on after the last script has ended. Where a
	// black hole may swallow an answer to a client that connects, that is longer:
	// the Go client waits for it ten times as long as for any other, two thirds of
	// a session's time.
	Settle          = 3 * SessionTimeout
	settleBlackhole = 8 * SessionTimeout
	// RetryPause is how long a client waits after an error before it tries again.
	RetryPause = 100 * time.Millisecond
	// baseLimit is how long the scripts get, in virtual time, besides the
	// length of their turns and of the faults.
	baseLimit = 2 * time.Minute
)

// judged are the properties that a run of the workload may violate, nil for any.
func (w Workload) judged() []string {
	if w.Properties == nil {
		return nil
	}
	return append(slices.Clone(w.Properties), InvariantProperty, "panic", "frozen")
}

// Named is the workload under another name of its implementation.
func (w Workload) Named(impl string) Workload {
	w.Impl = impl
	return w
}
