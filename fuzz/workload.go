package fuzz

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// A Workload is what clients do with one object, and what that object claims to
// be. Get one from Find, or make one for your own code with LockWorkload or
// QueueWorkload.
type Workload struct {
	// Name is the kind of object: "lock" or "queue".
	Name string
	// Impl is the implementation under test.
	Impl string
	// About is one line about the implementation.
	About string

	play func(p *player, s Script)
	// length is how long the turns of a script may take, faults left out.
	length func(s Script) time.Duration
	judge  func(e evidence) (linearizability.Report, error)
}

// evidence is what a run is judged by.
type evidence struct {
	history linearizability.History
	rest    *linearizability.Rest // nil if the run was cut short
	plan    []fakezk.Fault
	signals bool // the code under test has a signal for losses
}

// errClaims is wrapped by the errors that tell that the claims cannot be those of
// the code under test, as it does nothing where they say.
var errClaims = errors.New("the claims do not fit the code")

// A Script says how much the clients of a workload do.
type Script struct {
	// Clients is their number. They are called a, b, c, ...
	Clients int
	// Rounds is how often each of them does its turn: lock and unlock, or offer
	// and take.
	Rounds int
}

// DefaultScript is what sweeps and searches use unless told otherwise.
var DefaultScript = Script{Clients: 3, Rounds: 2}

const (
	maxClients = 26
	maxRounds  = 1000
)

// Validate says what is wrong with a Script, or returns nil.
func (s Script) Validate() error {
	if s.Clients < 1 || s.Clients > maxClients {
		return fmt.Errorf("clients: %d; expected 1 to %d", s.Clients, maxClients)
	}
	if s.Rounds < 1 || s.Rounds > maxRounds {
		return fmt.Errorf("rounds: %d; expected 1 to %d", s.Rounds, maxRounds)
	}
	return nil
}

// clientNames are the names of a script's clients, in order.
func (s Script) clientNames() []string {
	names := make([]string, s.Clients)
	for i := range names {
		names[i] = string(rune('a' + i))
	}
	return names
}

// player is one client as a workload's script sees it: its connection, and a
// recorder for what it does and sees.
type player struct {
	ctx     context.Context
	client  *fakezk.Client
	index   int
	text    string // of the next line in the trace
	calls   *linearizability.Recorder
	asides  *linearizability.Recorder
	seed    uint64
	signals bool // the object under test has a signal for losses
}

func newPlayer(c *fakezk.Client, index int, seed uint64) *player {
	p := &player{client: c, index: index, seed: seed}
	p.calls = linearizability.NewRecorder(func() int64 { return int64(c.Note("%s", p.text)) }, c.Now)
	p.asides = linearizability.NewRecorder(func() int64 { return int64(c.NoteAside("is told: lost")) }, c.Now)
	return p
}

// call is an operation under way.
type call struct {
	p    *player
	kind string
	rec  *linearizability.Call
}

func (p *player) begin(kind, input string) call {
	p.text = "calls " + kind
	if input != "" {
		p.text += " " + input
	}
	return call{p, kind, p.calls.Call(p.client.Name(), kind, input)}
}

// ok records a result. Its session is the client's at this moment.
func (c call) ok(r linearizability.Result) {
	c.p.text = c.kind + " returns" + resultText(r)
	c.rec.OK(r)
}

func resultText(r linearizability.Result) string {
	switch {
	case r.Empty:
		return ": nothing there"
	case r.Output != "":
		return " " + r.Output
	case r.Token != 0:
		return fmt.Sprintf(", token %d", r.Token)
	}
	return ""
}

func (c call) unknown(r linearizability.Result, err error) {
	c.p.text = fmt.Sprintf("%s fails: %v", c.kind, err)
	c.rec.Unknown(r, err)
}

func (c call) failed(err error) {
	c.p.text = fmt.Sprintf("%s fails: %v", c.kind, err)
	c.rec.Failed(err)
}

// alive reports whether the World still runs.
func (p *player) alive() bool { return p.ctx.Err() == nil }

// pause sleeps in virtual time and reports whether the World still runs.
func (p *player) pause(d time.Duration) bool { return p.client.Sleep(p.ctx, d) == nil }

// choose draws a number below n for a round; the same for the same seed.
func (p *player) choose(n, round int) int {
	return int(hash(p.seed, uint64(p.index), uint64(round)) % uint64(n))
}

// What every workload has in common. A session lives for two ticks, the least
// that a server grants.
const (
	sessionTimeout = 4 * time.Second
	tickTime       = 2 * time.Second
	// settle is how long a World goes on after the last script has ended.
	settle = 3 * sessionTimeout
	// retryPause is how long a client waits after an error before it tries again.
	retryPause = 100 * time.Millisecond
	// baseLimit is how long the scripts get, in virtual time, besides the
	// length of their turns and of the faults.
	baseLimit = 2 * time.Minute
)

// Find returns a built-in workload. An empty impl means the recommended one.
func Find(name, impl string) (Workload, error) {
	var known []string
	for _, w := range Workloads() {
		if w.Name != name {
			continue
		}
		if impl == "" || w.Impl == impl {
			return w, nil
		}
		known = append(known, w.Impl)
	}
	if known == nil {
		return Workload{}, fmt.Errorf("unknown workload %q; expected lock or queue", name)
	}
	return Workload{}, fmt.Errorf("workload %s has no implementation %q; expected one of %q", name, impl, known)
}

// Workloads lists the built-in workloads, for each object the recommended
// implementation first.
func Workloads() []Workload {
	acl := zk.WorldACL(zk.PermAll)
	return []Workload{
		LockWorkload("recipes.Lock", LockClaims{
			About: "the fair lock of package recipes", Fair: true, MaxHerd: 1,
		}, func(c *zk.Conn) Locker { return recipes.NewLock(c, lockPath, recipes.SessionTimeout(sessionTimeout)) }),
		LockWorkload("recipes.HerdLock", LockClaims{
			About: "the simple lock that everybody watches",
		}, func(c *zk.Conn) Locker {
			return recipes.NewHerdLock(c, lockPath+"/herd", recipes.SessionTimeout(sessionTimeout))
		}),
		LockWorkload("zk.Lock", LockClaims{
			About: "the go-zookeeper client's own lock", MaxHerd: 1,
		}, func(c *zk.Conn) Locker { return recipes.NewClientLock(c, lockPath, acl) }),
		QueueWorkload("recipes.Queue", QueueClaims{
			About: "the FIFO queue of package recipes, exactly-once removal", Items: queuePath + "/items",
			LeavesAtRest: []string{queuePath + "/claims", queuePath + "/dedup"},
		}, func(c *zk.Conn) Queuer { return recipes.NewQueue(c, queuePath) }),
		QueueWorkload("recipes.ApacheQueue", QueueClaims{
			About: "the plain get-then-delete queue of the Apache recipes",
		}, func(c *zk.Conn) Queuer { return recipes.NewApacheQueue(c, queuePath) }),
	}
}

// The directories that the workloads use.
const (
	lockPath  = "/lock"
	queuePath = "/queue"
)

// hash mixes numbers into one (splitmix64 over each in turn).
func hash(words ...uint64) uint64 {
	x := uint64(0x9e3779b97f4a7c15)
	for _, w := range words {
		x = (x ^ w) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}
