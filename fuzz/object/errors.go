package object

import (
	"errors"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// The few meanings of errors that scripts ask for. An adapter wraps the value:
//
//	return fmt.Errorf("%w: %w", object.ErrAmbiguous, err)
var (
	// ErrAmbiguous says that a call may or may not have had its effect. Code under test does not
	// need it: every error with a method Ambiguous() bool that returns true says the same.
	ErrAmbiguous error = ambiguousError{}
	// ErrFinal says that the same call cannot succeed later. The client does not repeat it. Scripts
	// look for this error after an Ack of a [Delivery], and after each call of a [TwoPhaser].
	ErrFinal = errors.New("cannot succeed later")
	// ErrNoTransaction says that a [TwoPhaser] has no transaction, or not any more.
	ErrNoTransaction = errors.New("there is no such transaction")
)

type ambiguousError struct{}

func (ambiguousError) Error() string   { return "outcome unknown" }
func (ambiguousError) Ambiguous() bool { return true }

// isAmbiguous reports whether an error says that a call may have had its effect.
func isAmbiguous(err error) bool {
	var e interface{ Ambiguous() bool }
	return errors.As(err, &e) && e.Ambiguous()
}

// says reports whether an error wraps one with the words of some other one: forks of the client
// package have errors of their own with equal words.
func says(err error, some ...error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		for _, other := range some {
			if errors.Is(err, other) || err.Error() == other.Error() {
				return true
			}
		}
	}
	return false
}

// failed records the error of a write, pauses, and returns it.
func failed(p *scenario.Player, c scenario.Call, definite bool, err error) error {
	if definite && !isAmbiguous(err) {
		c.Failed(err)
	} else {
		c.Unknown(linearizability.Result{}, err)
	}
	p.Pause(retryPause)
	return err
}
