package model

// Outcome says how much is known of an operation on an object.
type Outcome int

const (
	// Happened: the operation took effect.
	Happened Outcome = iota
	// Maybe: the operation took effect or did nothing; nobody knows.
	Maybe
	// NoEffect: the operation was answered, and the answer was that there was
	// nothing to do (a release by somebody who did not hold).
	NoEffect
)

// after returns the states that an operation may lead to which makes next of
// before, if it can: one that cannot did nothing, or cannot have happened.
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
