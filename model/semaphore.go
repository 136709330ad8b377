package model

// Semaphore is the state of a semaphore with a number of leases. One owner may hold several. Tokens
// do not matter, as holders do not exclude each other.
type Semaphore struct {
	Leases  int // the number of leases
	Holders Owners
}

// Step returns the states the semaphore may be in after the operation; none means it cannot have
// happened in this state. Expire takes one lease away.
func (s Semaphore) Step(op LockOp) []Semaphore {
	held := s.Holders.has(op.By)
	less := Semaphore{s.Leases, s.Holders.without(op.By)}
	switch {
	case op.Kind == Release:
		return after(op.Outcome, s, less, held)
	case op.Kind == Expire:
		return []Semaphore{less}
	case op.Outcome == NoEffect:
		return []Semaphore{s}
	}
	more := Semaphore{s.Leases, s.Holders.with(op.By)}
	return after(op.Outcome, s, more, s.Holders.Len() < s.Leases)
}
