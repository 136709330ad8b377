package trace

import (
	"slices"
	"strings"
)

// A Decision is a point of a run at which several messages could have been delivered next.
type Decision struct {
	// Candidates are those messages, in the order in which they were sent.
	Candidates []Delivery
	// Picked is the index of the one that was.
	Picked int
}

// A Delivery is a message under way.
type Delivery struct {
	// Client and Conn name its connection; see [RequestPoint].
	Client string
	Conn   int
	// Up is to the server.
	Up bool
	// Number counts the messages of the connection in that direction, from 1.
	Number int

	// Reads and Writes are the paths that a request is about; to create or delete a node
	// writes its parent, too. Numbered are the paths of the sequential nodes that it
	// creates, without their numbers. Opaque says that the paths are not known.
	Reads, Writes, Numbered []string
	Opaque                  bool
}

// Commutes reports whether it makes no difference which of two messages comes first: they go to
// different clients, or one to a client and the other to the server, or their requests touch
// different nodes. The order in which two clients get independent replies makes no difference here,
// although real time could tell; neither do zxids, nor the state that timers find.
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

// Same reports whether two runs speak of the same message.
func (d Delivery) Same(e Delivery) bool {
	return d.Client == e.Client && d.Conn == e.Conn && d.Up == e.Up && d.Number == e.Number
}
