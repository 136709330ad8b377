package model

// Value is the state of a shared value with versions. The zero value does not exist. The first
// write creates it with version 0; each later one adds 1, as a znode's does.
type Value struct {
	Exists  bool
	Data    string
	Version int32 // 0 if it does not exist
}

// ValueKind is the kind of an operation on a [Value].
type ValueKind int

// The operations on a value.
const (
	Read   ValueKind = iota // read Data and Version, or find Absent
	Write                   // set Data at any version
	CAS                     // set Data if the version is Expect, or be Refused
	Remove                  // make it absent; the next write creates it again
)

// NoVersion is, in Expect, the version of a value that does not exist, and in Version, an unknown
// version.
const NoVersion int32 = -1

// ValueOp is one operation on a [Value]. Version is the version that a Read returned, or that a
// Write or CAS made.
type ValueOp struct {
	Kind    ValueKind
	Data    string
	Version int32
	Expect  int32 // CAS
	Absent  bool  // Read
	Refused bool  // CAS
	Outcome Outcome
}

// Step returns the states the value may be in after the operation; none means it cannot have
// happened in this state.
func (v Value) Step(op ValueOp) []Value {
	if op.Outcome == NoEffect {
		return []Value{v}
	}
	switch op.Kind {
	case Read:
		return after(op.Outcome, v, v, v.looksLike(op))
	case Remove:
		return after(op.Outcome, v, Value{}, v.Exists)
	case CAS:
		if op.Refused {
			return after(op.Outcome, v, v, v.version() != op.Expect)
		}
		if v.version() != op.Expect {
			return after(op.Outcome, v, v, false)
		}
	}
	next := v.written(op.Data)
	return after(op.Outcome, v, next, op.Version == NoVersion || op.Version == next.Version)
}

func (v Value) looksLike(op ValueOp) bool {
	if op.Absent || !v.Exists {
		return op.Absent && !v.Exists
	}
	return v.Data == op.Data && (op.Version == NoVersion || op.Version == v.Version)
}

func (v Value) version() int32 {
	if !v.Exists {
		return NoVersion
	}
	return v.Version
}

func (v Value) written(data string) Value {
	return Value{Exists: true, Data: data, Version: v.version() + 1}
}
