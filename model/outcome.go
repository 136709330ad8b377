package model

// Outcome is the known outcome of an operation on an object.
type Outcome int

const (
	// Happened: the operation took effect.
	Happened Outcome = iota
	// Maybe: the operation took effect or did nothing; which is not known.
	Maybe
	// NoEffect: the operation returned that there was nothing to do (a release by a client that
	// does not hold the lock).
	NoEffect
)

// after returns the states after an operation that turns before into next, if it can. If it cannot,
// it did nothing, or cannot have happened.
func after[S any](o Outcome, before, next S, can bool) []S {
	switch {
	case o == Maybe && can:
		return []S{before, next}
	case o == Happened && can:
		return []S{next}
	case o == Maybe, o == NoEffect && !can:
		return []S{before}
	}
	return nil
}
