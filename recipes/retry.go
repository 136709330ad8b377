package recipes

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"time"

	"github.com/zksim/zksim/recipes/internal/request"
)

// RetryPolicy decides whether and when a request without an answer is sent again. Next is called
// after each failure that is worth a repetition: after a lost connection, for instance, but never
// after a refusal such as zk.ErrNoAuth. Any answer of the server starts the count anew. A policy
// must have no state: many operations use it at the same time.
//
// A policy bounds the number of requests, but not the time of one request: the client holds a
// request back until it is connected. Bound time with a context. Recipes add up to 1.5 ms to each
// pause, a different part for each operation, so that requests that failed together are not
// repeated at one instant.
type RetryPolicy interface {
	// Next gets the number of tries so far, the time since the first failure, and the last error.
	// It returns the pause before the next try, or false to give up.
	Next(tries int, elapsed time.Duration, err error) (pause time.Duration, again bool)
}

// RetryForever never gives up. The first repetition follows at once, because the client holds a
// request back until it is connected; the pauses before the others double from 10 ms to 1 s. It is
// the default.
func RetryForever() RetryPolicy { return request.Forever() }

// RetryFixed sends a request at most tries times, and pauses before each repetition. With tries of
// zero or less it never gives up.
func RetryFixed(pause time.Duration, tries int) RetryPolicy {
	return request.PolicyFunc(func(done int, _ time.Duration, _ error) (time.Duration, bool) {
		return pause, tries <= 0 || done < tries
	})
}

// RetryLinear sends a request at most tries times. The pause before the first repetition is step,
// and each further pause is longer by step. With tries of zero or less it never gives up.
func RetryLinear(step time.Duration, tries int) RetryPolicy {
	return request.PolicyFunc(func(done int, _ time.Duration, _ error) (time.Duration, bool) {
		return time.Duration(done) * step, tries <= 0 || done < tries
	})
}

// RetryExponential never gives up. The pause before the first repetition is first, and each further
// pause is twice as long, up to max. Each pause is shortened by a random part of up to half, so
// that clients that failed together do not repeat together. The part is drawn from rand.Reader of
// crypto/rand, like the names of nodes. If rand.Reader fails, the pause is not shortened.
func RetryExponential(first, max time.Duration) RetryPolicy {
	return request.PolicyFunc(func(tries int, _ time.Duration, _ error) (time.Duration, bool) {
		pause := request.Doubled(first, max, tries-1)
		return pause - jitter(pause/2), true
	})
}

// RetryTries gives up when policy does, and also after the given number of tries.
func RetryTries(policy RetryPolicy, tries int) RetryPolicy {
	return request.PolicyFunc(func(
		done int, elapsed time.Duration, err error,
	) (time.Duration, bool) {
		pause, again := policy.Next(done, elapsed, err)
		return pause, again && done < tries
	})
}

// RetryUntil gives up when policy does, and also when the next repetition would come later than
// limit after the first failure.
func RetryUntil(policy RetryPolicy, limit time.Duration) RetryPolicy {
	return request.PolicyFunc(func(
		tries int, elapsed time.Duration, err error,
	) (time.Duration, bool) {
		pause, again := policy.Next(tries, elapsed, err)
		return pause, again && elapsed+pause <= limit
	})
}

// RetryIf gives up when policy does, and also after an error for which retry returns false. It
// cannot cause a refused request to be repeated.
func RetryIf(policy RetryPolicy, retry func(error) bool) RetryPolicy {
	return request.PolicyFunc(func(
		tries int, elapsed time.Duration, err error,
	) (time.Duration, bool) {
		if !retry(err) {
			return 0, false
		}
		return policy.Next(tries, elapsed, err)
	})
}

// jitter draws a duration below limit.
func jitter(limit time.Duration) time.Duration {
	var raw [8]byte
	if _, err := io.ReadFull(rand.Reader, raw[:]); err != nil || limit <= 0 {
		return 0
	}
	return time.Duration(binary.BigEndian.Uint64(raw[:]) % uint64(limit))
}
