package object

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// Env is the environment of an object: a client passes it to the function that makes the object.
type Env struct {
	// Context is done when the client's script has ended, for an object that works until then.
	Context context.Context
	// Conn is the client's connection. No other client uses it.
	Conn *zk.Conn
	// Events are the session events of Conn, for code that takes both as zk.Connect returns them.
	// Each event reaches one reader. The goroutine that reads them and a caller whose request fails
	// may wake at the same moment: they must not race for memory.
	Events <-chan zk.Event
	// Connect makes one more connection, with its own session, and returns its session events, too.
	// An object with several sessions may have a method Session() int64, which is called after each
	// call that has succeeded. It returns the session in which the call took effect.
	Connect func() (*zk.Conn, <-chan zk.Event)
	// Address is an address, host:port, for code that connects by itself. It works in a program
	// built by zksim go, and any other address works there as well; see [sim.Overlaid]. In a real
	// world it is a port of the proxy.
	Address string
	// RootCA is a certificate, as PEM, for code that connects to Address through TLS; see
	// [sim.RootCA].
	RootCA []byte
	// Name is a name for the owner of the object. No other client has it.
	Name string
	// Path is the place of the object. Judges look at this znode and below it.
	Path string
	// Paths are the paths of an object with several, in an order of this client.
	Paths []string
	// Size is the number of members of a group.
	Size int

	shared func() // notes that the object is for several goroutines; nil: no need to
}

// InTurn is Conn for several goroutines of the client that share one object. A hunt has such
// goroutines in some scenarios, if the kind of object allows them. Each request waits for the turn
// of its goroutine, so that two runs of a seed are equal.
func (e Env) InTurn() Conn {
	if e.shared != nil {
		e.shared()
	}
	return inTurn{e.Conn}
}

// envOf is the Env of a client.
func envOf(p *scenario.Player, path string) Env {
	return Env{Context: p.Life(), Conn: p.Conn(), Events: p.Events(), Connect: p.Connect,
		Address: p.Address(), RootCA: sim.RootCA(), Name: nameOf(p, p.Index()) + handleOf(p),
		Path: path, shared: p.Shared}
}

// nameOf is the name of the n-th client's object: in one run of three each is a prefix of the next.
func nameOf(p *scenario.Player, n int) string {
	if p.OfRun("prefixes", 3) == 0 {
		return strings.Repeat("a", n+1)
	}
	return string(rune('a' + n))
}

// handleOf is a name for one of several objects of a client, "" for the first.
func handleOf(p *scenario.Player) string {
	if n := p.Goroutine(); n > 0 {
		return fmt.Sprintf(".%d", n+1)
	}
	return ""
}

// opener turns a function that makes an object from an Env into one that makes it from a player.
func opener[T any](open func(Env) T, path string) func(*scenario.Player) T {
	return func(p *scenario.Player) T {
		object := open(envOf(p, path))
		if s, ok := any(object).(interface{ Session() int64 }); ok {
			p.NameSession(s.Session)
		}
		return object
	}
}

// inRounds makes a Play for clients with one object each. In each round of the script, a goroutine
// has some turns. player returns the function that plays a turn, by its number, and one that plays
// the end, nil if there is none; first is the number of the first turn after those of the rounds.
func inRounds[T any](
	open func(Env) T, path string, turns int,
	player func(*scenario.Player, *scenario.Handle[T]) (turn func(number int), end func(first int)),
) func(*scenario.Player, scenario.Script) {
	return scenario.Shared(opener(open, path),
		func(p *scenario.Player, s scenario.Script, h *scenario.Handle[T]) {
			turn, end := player(p, h)
			for number := range p.Rounds(turns * s.Rounds) {
				p.Rest(number)
				turn(number)
			}
			if end != nil {
				end(turns * s.Rounds)
			}
		})
}

// leftBy returns the patterns of znodes that may stay: the allowed ones and, if a process has died
// in the run, those of dead, too.
func leftBy(e scenario.Evidence, allowed []string, dead ...string) []string {
	if !slices.ContainsFunc(e.History.Notices, func(n linearizability.Notice) bool {
		return n.Kind == linearizability.Died
	}) {
		return allowed
	}
	return append(slices.Clone(allowed), dead...)
}

// optional returns the one optional argument, or the zero value.
func optional[T any](given []T) T {
	if len(given) > 1 {
		panic(fmt.Sprintf("object: at most one set of claims, got %d", len(given)))
	}
	var none T
	for _, one := range given {
		return one
	}
	return none
}
