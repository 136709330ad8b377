package model

// Barrier is the state of a barrier: up or down.
type Barrier bool

// BarrierKind is the kind of an operation on a [Barrier].
type BarrierKind int

// The operations on a barrier.
const (
	Raise BarrierKind = iota // put it up, if it is down
	Lower                    // take it down, if it is up
	See                      // read whether it is Up; a client that passes reads that it is not
)

// BarrierOp is one operation on a [Barrier].
type BarrierOp struct {
	Kind    BarrierKind
	Up      bool // the result of See
	Outcome Outcome
}

// Step returns the states the barrier may be in after the operation; none means it cannot have
// happened in this state.
func (b Barrier) Step(op BarrierOp) []Barrier {
	switch {
	case op.Outcome == NoEffect:
		return []Barrier{b}
	case op.Kind == See:
		return after(op.Outcome, b, b, bool(b) == op.Up)
	}
	return after(op.Outcome, b, op.Kind == Raise, true)
}
