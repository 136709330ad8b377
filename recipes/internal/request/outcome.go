package request

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

var (
	// ErrAmbiguous says that an operation ended before its outcome was known: it may or may not
	// have happened. It is wrapped together with the reason.
	ErrAmbiguous = errors.New("outcome unknown")
	// ErrGaveUp says that the RetryPolicy gave up on a request. It is wrapped together with the
	// last failure.
	ErrGaveUp = errors.New("gave up")
	// ErrConnClosed says that the zk.Conn has been closed for good.
	ErrConnClosed = errors.New("zookeeper connection was closed for good")
	// ErrClosed says that the recipe itself has been closed.
	ErrClosed = errors.New("recipe is closed")
	// ErrHeld is returned by Lock and TryLock of a handle that already holds its lock or is busy
	// acquiring it. Handles are not re-entrant.
	ErrHeld = errors.New("lock is already held or being acquired through this handle")
	// ErrNotHeld is returned by Unlock of a handle that has nothing to give back: its lock is not
	// held, or was unlocked before. A lost hold is given back like any other. Release of a Lease or
	// a Delivery never returns ErrNotHeld: a second call waits for the same release.
	ErrNotHeld = errors.New("lock is not held through this handle")
)

// Outcome says whether a request has changed anything on the server.
type Outcome int

const (
	// Unknown means that the server may or may not have applied the request.
	Unknown Outcome = iota
	// Applied means that the server has applied the request.
	Applied
	// NotApplied means that the server has not applied the request and will not do so later. This
	// tells nothing about earlier sendings of the same request: zk.ErrNodeExists may be the effect
	// of the first one.
	NotApplied
)

// String returns "unknown", "applied" or "not applied".
func (o Outcome) String() string {
	switch o {
	case Applied:
		return "applied"
	case NotApplied:
		return "not applied"
	default:
		return "unknown"
	}
}

// refusals are the errors of requests that the server, or the client itself, has refused to carry
// out.
var refusals = []error{
	zk.ErrNoServer, zk.ErrNoNode, zk.ErrNodeExists, zk.ErrBadVersion, zk.ErrNotEmpty,
	zk.ErrNoAuth, zk.ErrNoChildrenForEphemerals, zk.ErrInvalidACL, zk.ErrInvalidFlags,
	zk.ErrInvalidPath, zk.ErrBadArguments, zk.ErrAuthFailed, zk.ErrSessionMoved,
	zk.ErrAPIError, zk.ErrReconfigDisabled,
}

// Codes of KeeperException for refused requests that have no sentinel error in the client. Only
// THROTTLEDOP is worth a second try.
const (
	codeMarshalling   = -5
	codeUnimplemented = -6
	codeNotReadOnly   = -119
	codeQuotaExceeded = -125
	codeThrottled     = -127
)

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
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Applied
	}
	if errors.Is(err, ErrAmbiguous) {
		return Unknown
	}
	if op := (*OperationError)(nil); errors.As(err, &op) {
		return NotApplied
	}
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return NotApplied
		}
	}
	switch serverCode(err) {
	case codeMarshalling, codeUnimplemented, codeNotReadOnly, codeQuotaExceeded, codeThrottled:
		return NotApplied
	}
	return Unknown
}

// OperationError is the error of a recipe's operation.
type OperationError struct {
	What string // the operation and the recipe: "poll queue /q"
	Err  error
}

func (e *OperationError) Error() string { return e.What + ": " + e.Err.Error() }
func (e *OperationError) Unwrap() error { return e.Err }

// Ambiguous marks the error of a change with an unknown outcome.
func Ambiguous(err error) error {
	if err != nil && OutcomeOf(err) == Unknown && !errors.Is(err, ErrAmbiguous) {
		return fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	return err
}

// serverCode returns the code of a server error that the client does not know, or 0. The client
// exports the code only in the text of the error: "unknown error: -125".
func serverCode(err error) int {
	var code int
	if _, scanErr := fmt.Sscanf(err.Error(), "unknown error: %d", &code); scanErr != nil {
		return 0
	}
	return code
}

// Transient reports whether a request that failed with err is worth repeating: its outcome is
// unknown, or it never reached a server that could serve it.
func Transient(err error) bool {
	switch {
	case err == nil, errors.Is(err, ErrConnClosed), errors.Is(err, ErrGaveUp):
		return false
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.Is(err, zk.ErrShortBuffer), errors.Is(err, zk.ErrPtrExpected),
		errors.Is(err, zk.ErrUnhandledFieldType):
		return false // the request or its reply does not fit the client
	case errors.Is(err, zk.ErrNoServer), errors.Is(err, zk.ErrSessionMoved),
		serverCode(err) == codeThrottled:
		return true
	}
	return OutcomeOf(err) == Unknown
}
