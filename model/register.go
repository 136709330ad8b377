package model

// Register is the state of a register without versions: its compare-and-set compares values. At
// first it holds nothing.
type Register struct {
	Full bool
	Data string // "" if it holds nothing
}

// RegisterOp is one operation on a [Register]: a Read that found the register as Data says, a Write
// of Data, or a CAS that sets Data if the register is as Expect says, or is Refused.
type RegisterOp struct {
	Kind    ValueKind // Read, Write or CAS
	Data    Register
	Expect  Register // CAS
	Refused bool     // CAS
	Outcome Outcome
}

// Step returns the states the register may be in after the operation; none means it cannot have
// happened in this state.
func (r Register) Step(op RegisterOp) []Register {
	switch {
	case op.Kind == Read:
		return after(op.Outcome, r, r, r == op.Data)
	case op.Kind == CAS && op.Refused:
		return after(op.Outcome, r, r, r != op.Expect)
	case op.Kind == CAS:
		return after(op.Outcome, r, op.Data, r == op.Expect)
	}
	return after(op.Outcome, r, op.Data, true)
}
