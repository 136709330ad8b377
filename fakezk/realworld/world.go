package realworld

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
)

// SuperPassword is how a World authenticates as the superuser, in scheme digest, when it
// cleans a server and reads its nodes. SuperDigest is the value of the server's system
// property zookeeper.DigestAuthenticationProvider.superDigest that allows it.
const (
	SuperPassword = "super:zksim"
	SuperDigest   = "super:RSJ5AS7hvpmFZA+fp7Kvi+RqM/8="
)

// Server is a running ZooKeeper, 3.6 or newer: a standalone one, or one of an ensemble, that only
// one World uses at a time. It answers the four-letter words srvr and dump. Where clients make
// nodes that not every client may read, it must know the superuser by [SuperDigest].
type Server interface {
	// Address is host:port.
	Address() string
	// DataDir is the folder with the transaction log, "" for a server of [At].
	DataDir() string
	// Restart kills the server, waits for down, and starts it again at the same
	// address with the same data.
	Restart(ctx context.Context, down time.Duration) error
	// StandStill stops all work of the server, or lets it go on. One that was killed meanwhile goes
	// on.
	StandStill(still bool) error
	// CutOff keeps the server from reaching the others of its ensemble and them from reaching it,
	// or ends that. Clients reach it all the time.
	CutOff(cut bool) error
}

// A World is like a [sim.World], but its servers are real ZooKeepers and its time is
// real. The clients are genuine too. Between them and each server stands a proxy, in
// which the faults of the plan act. Run returns a Result of the same shape.
//
// Its limits:
//
//   - Two runs differ: the machine decides the schedule.
//   - LateReap, Lag, Pause, Crash and Respawn are refused; see [Refuse].
//   - Isolate and PauseServer act on the server itself. How long it takes the others to notice, and
//     then itself, is a matter of its settings, such as syncLimit.
//   - Elect kills all servers for a while, since no server takes long to elect at will.
//   - A failover takes as long as the ensemble takes to elect a leader. It loses or keeps the
//     request that the fault selects. Nobody chooses whether the new leader keeps the proposals of
//     other clients that are under way then.
//   - An event that a request causes to its own client is not lost with the reply
//     (DropReply, Cut): it has passed when the reply comes.
//   - Restart takes at least as long as the server takes to start. A restart of the leader is a
//     failover, too.
//   - Delay, Stall and Blackhole hold or discard bytes in the proxy. Bytes that the server had
//     received before are not affected.
//
// The changes are read from the transaction logs of the servers at the end of the run: those that a
// majority has. Each change is put at the earliest possible place in the trace, given all frames
// that the proxy saw: behind its own request, behind every request that was answered with a smaller
// zxid, and not before the server's clock says. Reads of an ensemble do not count there, since a
// follower may answer with an old zxid. So the Result is a history that is possible, and no
// stricter one.
type World struct {
	// Servers are a standalone server, or all servers of one ensemble in the order of the numbers
	// by which faults select them. They are used by this World alone. All znodes but those below
	// /zookeeper are deleted first.
	Servers []Server
	// Plan is the list of faults; it may be empty. Its durations are virtual.
	Plan []fault.Fault
	// Clients are the actors.
	Clients []Actor
	// Pace is how many virtual seconds pass in one real second; 0 means 1. All
	// durations here and in the Result are virtual.
	Pace int
	// SessionTimeout is the timeout that clients request; 0 means 10 s. The server grants no less
	// than two of its ticks, which are in real time.
	SessionTimeout time.Duration
	// Limit ends the run even if scripts are still busy; 0 means 10 minutes.
	Limit time.Duration
	// Settle is how long the world goes on without faults after the last script has ended
	// and nothing is held any more; 0 means two session timeouts.
	Settle time.Duration
}

// An Actor is the name and the script of a client.
type Actor struct {
	// Name is made of letters, digits, '-' and '_'.
	Name string
	Run  func(ctx context.Context, c *Client)
}

// Validate returns an error for an invalid description.
func (w World) Validate() error {
	if len(w.Servers) == 0 || slices.Contains(w.Servers, nil) {
		return errors.New("no server is given")
	}
	for _, s := range w.Servers {
		if (s.DataDir() == "") != w.guest() {
			return errors.New("some servers have a DataDir; expected all or none")
		}
	}
	if w.Pace < 0 {
		return fmt.Errorf("pace: %d; expected 1 or more", w.Pace)
	}
	actors := make([]sim.Actor, len(w.Clients))
	for i, a := range w.Clients {
		actors[i].Name = a.Name
		if a.Run != nil {
			actors[i].Run = func(context.Context, *sim.Client) {}
		}
	}
	like := sim.World{Plan: w.Plan, Clients: actors, Servers: len(w.Servers),
		SessionTimeout: w.SessionTimeout, Limit: w.Limit, Settle: w.Settle}
	if err := like.Validate(); err != nil {
		return err
	}
	for i, f := range w.Plan {
		if err := Refuse(f.Kind, w.guest()); err != nil {
			return fmt.Errorf("fault %d: %q: %w", i+1, f, err)
		}
	}
	return nil
}

// Refuse returns the reason for which a World cannot have faults of a kind, nil if it can. guest
// says that its servers are those of [At].
func Refuse(kind fault.Kind, guest bool) error {
	switch {
	case guest && slices.Contains(onServers, kind):
		return fmt.Errorf("%s: somebody else runs the servers, and only their clients are hit",
			kind)
	case kind == fault.LateReap:
		return fmt.Errorf("%s: no proxy can make a real server late to reap", kind)
	case kind == fault.Lag:
		return fmt.Errorf("%s: no proxy can keep a real server from applying changes", kind)
	case kind == fault.Pause:
		return fmt.Errorf("%s: only a client at rest can keep a reply from its caller", kind)
	case kind.EndsProcess():
		return fmt.Errorf("%s: the clients of a real world share the process of the test", kind)
	}
	return nil
}

// onServers are the kinds that end a server, stop its work or cut it off.
var onServers = []fault.Kind{fault.Restart, fault.Isolate, fault.PauseServer, fault.Elect,
	fault.FailoverLose, fault.FailoverKeep}

func (w World) withDefaults() World {
	w.SessionTimeout = cmp.Or(w.SessionTimeout, 10*time.Second)
	w.Limit = cmp.Or(w.Limit, 10*time.Minute)
	w.Settle = cmp.Or(w.Settle, 2*w.SessionTimeout)
	w.Pace = max(w.Pace, 1)
	return w
}

// Run runs the World and returns when everything has ended. It returns an error if
//
//   - the description is invalid;
//   - a server could not be used;
//   - ctx is done;
//   - the record of the changes and the frames at the proxy contradict each other.
//
// When ctx is done it returns within ten seconds. On servers of [At] it may take thirty: it deletes
// its nodes first. Errors of nodes that it could not delete wrap a [LeftError].
func (w World) Run(ctx context.Context) (*trace.Result, error) {
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("fakezk: real world: %w", err)
	}
	r := newRun(w)
	err := errors.Join(r.play(ctx), r.guest.deleteNodes())
	if err != nil {
		return nil, fmt.Errorf("fakezk: real world: %w", err)
	}
	return &r.out, nil
}
