package trace

import (
	"slices"
	"strings"
)

// A Decision is a point of a run at which several messages could have been delivered next.
type Decision struct {
	// Candidates are those messages, in the order in which they were sent.
	Candidates []Delivery
	// Picked is the index of the candidate that was delivered.
	Picked int
}

// A Delivery is a message under way.
type Delivery struct {
	// Client and Conn name its connection; see [RequestPoint].
	Client string
	Conn   int
	// Up says that the message goes to the server.
	Up bool
	// Number counts the messages of the connection in that direction, from 1.
	Number int

	// Reads and Writes are the paths that a request reads and changes. A create or delete changes
	// the parent of its node, too. Numbered are the paths of the sequential nodes that it creates,
	// without their numbers. Opaque says that the paths are not known.
	Reads, Writes, Numbered []string
	Opaque                  bool
}

// Commutes reports whether the order of two messages makes no difference: they go to different
// clients, or one to a client and the other to the server, or their requests touch different nodes.
// It ignores that zxids, the time of replies, and the state at the moment when a timer fires depend
// on the order, too.
func (d Delivery) Commutes(e Delivery) bool {
	switch {
	case d.Client == e.Client:
		return false
	case !d.Up || !e.Up:
		return true
	case d.Opaque || e.Opaque:
		return false
	}
	return !d.changes(e.Reads) && !d.changes(e.Writes) && !e.changes(d.Reads) &&
		!e.changes(d.Writes)
}

// changes reports whether a request may change any of some nodes. A sequential create may make any
// node with its path as a prefix.
func (d Delivery) changes(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return slices.Contains(d.Writes, path) ||
			slices.ContainsFunc(d.Numbered, func(prefix string) bool {
				return strings.HasPrefix(path, prefix)
			})
	})
}

// Same reports whether two deliveries, of two runs, are of the same message.
func (d Delivery) Same(e Delivery) bool {
	return d.Client == e.Client && d.Conn == e.Conn && d.Up == e.Up && d.Number == e.Number
}
