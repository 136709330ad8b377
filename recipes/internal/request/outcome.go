package request

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// The errors of operations, which package recipes exports and explains.
var (
	ErrAmbiguous  = error(ambiguousError{})
	ErrGaveUp     = errors.New("gave up")
	ErrConnClosed = errors.New("zookeeper connection was closed for good")
	ErrClosed     = errors.New("recipe is closed")
	ErrHeld       = errors.New("lock is already held or being acquired through this handle")
	ErrNotHeld    = errors.New("lock is not held through this handle")
)

type ambiguousError struct{}

func (ambiguousError) Error() string   { return "outcome unknown" }
func (ambiguousError) Ambiguous() bool { return true }

// Outcome says whether a request has changed anything on the server; see recipes.Outcome.
type Outcome int

// The outcomes of a request.
const (
	Unknown Outcome = iota
	Applied
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

// OutcomeOf returns the outcome of a request or an operation that returned err; see
// recipes.OutcomeOf.
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

// AmbiguousIf wraps ErrAmbiguous around an error, if the outcome is doubtful.
func AmbiguousIf(doubtful bool, err error) error {
	if doubtful && err != nil {
		return fmt.Errorf("%w: %w", ErrAmbiguous, err)
	}
	return err
}

// serverCode returns the code of a server error that the client does not know, or 0. The client
// exports the code only in the text of the error: "unknown error: -125".
func serverCode(err error) int {
	number, found := strings.CutPrefix(err.Error(), "unknown error: ")
	code, err := strconv.Atoi(number)
	if !found || err != nil {
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
