package recipes

import "github.com/zksim/zksim/recipes/internal/request"

var (
	// ErrAmbiguous says that an operation ended before its outcome was known: it may or may not
	// have happened. It is wrapped together with the reason. Code that does not import this package
	// finds it by its method Ambiguous() bool, which returns true.
	ErrAmbiguous = request.ErrAmbiguous
	// ErrGaveUp says that the RetryPolicy gave up on a request. It is wrapped together with the
	// last failure.
	ErrGaveUp = request.ErrGaveUp
	// ErrConnClosed says that the zk.Conn has been closed for good.
	ErrConnClosed = request.ErrConnClosed
	// ErrClosed says that the recipe itself has been closed.
	ErrClosed = request.ErrClosed
	// ErrHeld is returned by Lock and TryLock of a handle that already holds its lock or is busy
	// acquiring it. Handles are not re-entrant.
	ErrHeld = request.ErrHeld
	// ErrNotHeld is returned by Unlock of a handle that has nothing to give back: its lock is not
	// held, or was unlocked before. A lost hold is given back like any other. Release of a Lease or
	// a Delivery never returns ErrNotHeld: a second call waits for the same release.
	ErrNotHeld = request.ErrNotHeld
)

// Outcome says whether a request has changed anything on the server.
type Outcome int

const (
	// Unknown means that the server may or may not have applied the request.
	Unknown Outcome = Outcome(request.Unknown)
	// Applied means that the server has applied the request.
	Applied Outcome = Outcome(request.Applied)
	// NotApplied means that the server has not applied the request and will not do so later. This
	// tells nothing about earlier sendings of the same request: zk.ErrNodeExists may be the effect
	// of the first one.
	NotApplied Outcome = Outcome(request.NotApplied)
)

// String returns "unknown", "applied" or "not applied".
func (o Outcome) String() string { return request.Outcome(o).String() }

// OutcomeOf returns the outcome of a request that returned err.
//
// nil is Applied. An answer of the server that refuses the request, an argument that the client
// refuses, and zk.ErrNoServer (the request was never sent) are NotApplied. Everything else is
// Unknown: zk.ErrConnectionClosed, which also stands for a Conn that was closed; the bare network
// error of a write that failed half way; zk.ErrClosing; zk.ErrSessionExpired, as a change may have
// been made before the session ended; a done context.
//
// The error of a recipe's operation is Unknown if it wraps ErrAmbiguous. Otherwise it is
// NotApplied, since the recipe has undone its changes.
func OutcomeOf(err error) Outcome { return Outcome(request.OutcomeOf(err)) }
