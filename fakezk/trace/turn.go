package trace

import (
	"slices"
	"time"
)

// A Turn is a point of a run, under a sim.Schedule of Turns, at which something has to come next.
type Turn struct {
	// Time is virtual, since the World began.
	Time time.Duration
	// Things are what can come next, in the order in which they came up. If there are none, the
	// turn only tells what has become of the last one.
	Things []Thing
	// Lost are things of earlier turns that could have come before the last one, and cannot come
	// now: what has come since has taken them away, or holds them. Others were too late to be in
	// the last turn, and were taken away.
	Lost []Thing
	// Said are the lines that scripts have written since the last turn, in any order.
	Said []Said
	// Apart says that since the last turn time has passed, or something has happened that was no
	// thing of a turn, such as the end of a session. What was open before it stays open, but its
	// order with that was none to choose.
	Apart bool
	// AtOnce says that the only thing comes at once, and is no matter of choice.
	AtOnce bool
}

// Said is a line that the script of a client has written, or one of its goroutines, such as a.2.
type Said struct{ Client, Text string }

// A Thing is something that can happen next: a request reaches the server, a message reaches a
// client, a dial ends, a script wakes from a sleep, a context of a script is done, a fault strikes,
// or a server, which then is the client, applies a transaction.
type Thing struct {
	Kind ThingKind
	// Delivery has the client, and the number among its things of this kind. For requests and
	// messages it is all that is known of the message.
	Delivery
	// Updates are parts of nodes that a request changes in such a way that changes of several
	// requests commute with each other. Under Turns the Reads and Writes are parts of nodes, too,
	// not whole ones: paths with an ending.
	Updates []string
	// Notifies are the other clients with watches that a request may fire.
	Notifies []string
	// Steals says that a request deletes an ephemeral node of another session than those of its
	// client.
	Steals bool
	// Creates are the nodes below which a request creates one. Two creates below one node commute,
	// but a judge may compare their order: which element of a queue was the first?
	Creates []string
	// After is the thing that has brought it about: its number among all that have come, from 1; 0
	// if there is none.
	After int
	// Own says that the order with every other thing of its client makes a difference, and that
	// it acts at the server: a fault acts on it, or it ends a connection or a session. It changes
	// watches, which are Writes, too.
	Own bool
	// Alone says that the order with every other thing makes a difference.
	Alone bool
}

// ThingKind is the kind of a Thing.
type ThingKind string

// The kinds of Thing.
const (
	AtServer ThingKind = "request"
	AtClient ThingKind = "message"
	DialEnds ThingKind = "dial"
	Wakes    ThingKind = "wake" // also the end of a context
	Strikes  ThingKind = "fault"
	Applies  ThingKind = "apply" // a server of an ensemble applies a transaction
)

// Commutes reports whether the order of two things that can both come next makes no difference to
// any client, but for times, zxids, ids of sessions, and random names.
//
// What only a client notices commutes with what only another one notices, and with all requests:
// the messages of a connection keep their order, so a request is answered behind what is under way.
// Two requests commute if they are of different clients, neither changes what the other one reads
// or changes, and they are noticed by different clients: a client gets its reply and the
// notification of another's change in the order in which the server has sent them.
func (t Thing) Commutes(u Thing) bool {
	switch {
	case t.Alone || u.Alone, t.Client == u.Client && (t.Own || u.Own):
		return false
	case !t.atServer() && !u.atServer():
		return t.Client != u.Client
	case !t.atServer() || !u.atServer():
		return true
	}
	return t.Client != u.Client && !t.Opaque && !u.Opaque && !t.disturbs(u) && !u.disturbs(t) &&
		!slices.ContainsFunc(t.noticedBy(), func(client string) bool {
			return slices.Contains(u.noticedBy(), client)
		})
}

// atServer reports whether a thing happens at the server: a request arrives, or a fault ends a
// session or a connection.
func (t Thing) atServer() bool {
	return t.Kind == AtServer || t.Kind == Applies || t.Kind == Strikes || t.Own
}

// disturbs reports whether a request changes what another one reads or changes.
func (t Thing) disturbs(u Thing) bool {
	return t.changes(u.Reads) || t.changes(u.Writes) || t.changes(u.Updates) ||
		slices.ContainsFunc(t.Updates, func(part string) bool {
			return slices.Contains(u.Reads, part)
		})
}

// noticedBy are the clients to which the server sends something because of a request.
func (t Thing) noticedBy() []string { return append([]string{t.Client}, t.Notifies...) }

// Same reports whether two things, of two runs or turns, are the same.
func (t Thing) Same(u Thing) bool { return t.Kind == u.Kind && t.Delivery.Same(u.Delivery) }
