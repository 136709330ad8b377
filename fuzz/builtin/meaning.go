package builtin

// meaning is an error of package recipes that means one of package object, and keeps its text.
type meaning struct {
	error
	of error
}

func (m meaning) Unwrap() []error { return []error{m.error, m.of} }
