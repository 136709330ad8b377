package linearizability

// Linearization is an order of the operations of a history, found by porcupine. If the history is
// linearizable, it explains all of them: each took effect between its call and its return, and had
// the result that the model gives. Otherwise it is the longest order that explains some of them,
// and Left has the others.
type Linearization struct {
	Taken, Left []Ordered
}

// Ordered is an operation in a Linearization, or the effect of the server on the object.
type Ordered struct {
	Client string // "server" for the server
	Text   string // the call with its result
	// From and To are the steps between which it took effect. To is after the last step if it may
	// have done so at any time.
	From, To int64
	State    string // of the object after it; "" in Left
}

// Linearization is an order of the operations by the sequential model of the object. It runs the
// check once more. ok is false if the kind of object has no sequential model, or if porcupine does
// not decide the history.
func (r Report) Linearization() (l Linearization, ok bool) {
	if r.Linearize == nil {
		return Linearization{}, false
	}
	return r.Linearize()
}
