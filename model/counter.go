package model

// Counter is the state of a counter: its value.
type Counter int64

// CounterKind is the kind of an operation on a [Counter].
type CounterKind int

// The operations on a counter.
const (
	Add CounterKind = iota // add Delta
	Get                    // read Value
)

// CounterOp is one operation on a [Counter]. Value is the result of a Get, or the value after an
// Add. It is checked only if Known.
type CounterOp struct {
	Kind    CounterKind
	Delta   int64
	Value   int64
	Known   bool
	Outcome Outcome
}

// Step returns the states the counter may be in after the operation; none means it cannot have
// happened in this state.
func (c Counter) Step(op CounterOp) []Counter {
	next := c
	if op.Kind == Add {
		next += Counter(op.Delta)
	}
	if op.Outcome == NoEffect {
		return []Counter{c}
	}
	return after(op.Outcome, c, next, !op.Known || next == Counter(op.Value))
}
