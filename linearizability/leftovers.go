package linearizability

// Leftovers describe the state at rest: some time after the last fault, when no message is under
// way. A nil field is not judged.
type Leftovers struct {
	Nodes    []NodeAtRest
	Waiting  []Wait
	Sessions []SessionAtRest
	// Watches are armed at the server. A watch counts as leaked if its client has no call in flight
	// and holds no lock, so leave out the watches that a recipe may keep.
	Watches []WatchAtRest
	Leaked  []string // descriptions of goroutines that should be gone
	Wedged  []string // descriptions of clients that hang in their own code
}

// NodeAtRest is a znode that exists.
type NodeAtRest struct {
	Path, Data  string
	Owner       int64  // ephemeral owner
	OwnerClient string // the client of that session, if known
	Czxid       int64
	OfDead      bool // persistent, and its maker has died
	// LostDelete is the step at which a fault lost a delete of the znode; 0 if none did.
	LostDelete int64
}

// Wait is a call that has not returned, and the znode that it watches, polls or tries to change.
type Wait struct {
	Client string
	Op     string // kind of the operation
	Path   string // "" if it waits for another reason
	Polls  int    // requests for the znode so far, if it repeats them; 0 if it watches
	// Refused is the answer to these requests, if they are writes: "create: NodeExists".
	Refused string
	Why     string // the reason, if not a watch, or not the end of the znode at Path
	Last    string // what its client did or learned last
}

// SessionAtRest is a live session; Client is empty if no client uses it any more.
type SessionAtRest struct {
	ID     int64
	Client string
}

// WatchAtRest is an armed watch.
type WatchAtRest struct {
	Client, Path string
}
