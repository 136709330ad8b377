package request

import "time"

// Policy decides whether and when a request is sent again; see recipes.RetryPolicy.
type Policy interface {
	Next(tries int, elapsed time.Duration, err error) (pause time.Duration, again bool)
}

// PolicyFunc is a policy made of its only method.
type PolicyFunc func(tries int, elapsed time.Duration, err error) (time.Duration, bool)

// Next calls the function.
func (f PolicyFunc) Next(tries int, elapsed time.Duration, err error) (time.Duration, bool) {
	return f(tries, elapsed, err)
}

// The pauses of the default policy.
const (
	RetryFirst = 10 * time.Millisecond
	RetryMax   = time.Second
)

// Forever is the default policy: the first repetition follows at once, because the client holds a
// request back until it is connected; the pauses before the others double from 10 ms to 1 s.
func Forever() Policy {
	return PolicyFunc(func(tries int, _ time.Duration, _ error) (time.Duration, bool) {
		if tries <= 1 {
			return 0, true
		}
		return Doubled(RetryFirst, RetryMax, tries-2), true
	})
}

// WithoutEnd is a policy for work that goes on until Close: when bounded gives up, it pauses for
// the longest default pause instead.
func WithoutEnd(bounded Policy) Policy {
	if bounded == nil {
		return nil
	}
	return PolicyFunc(func(tries int, elapsed time.Duration, err error) (time.Duration, bool) {
		pause, again := bounded.Next(tries, elapsed, err)
		if !again {
			pause = RetryMax
		}
		return pause, true
	})
}

// Doubled returns first after the given number of doublings, but at most max.
func Doubled(first, max time.Duration, times int) time.Duration {
	for ; times > 0 && first > 0 && first < max; times-- {
		first *= 2
	}
	return min(first, max)
}
