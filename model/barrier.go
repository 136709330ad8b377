package model

// Barrier is the state of a barrier: whether it is up.
type Barrier bool

// BarrierKind is what happens to a [Barrier].
type BarrierKind int

// What can happen to a barrier.
const (
	Raise BarrierKind = iota // put it up, if it is down
	Lower                    // take it down, if it is up
	See                      // see whether it is Up; a client that passes sees that it is not
)

// BarrierOp is one operation on a [Barrier].
type BarrierOp struct {
	Kind    BarrierKind
	Up      bool // what See has seen
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
