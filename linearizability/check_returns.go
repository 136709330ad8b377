package linearizability

// Anything claims of an object only that its calls return: liveness alone is
// judged. Once the faults have stopped, every call must have returned, but for those
// that MayWait allows, and no client may go on failing for ever. Of what waits
// outside of every call the history does not tell.
type Anything struct {
	// MayWait says which calls may still be pending at rest; nil means none.
	MayWait func(Op) bool
}

func (opts Anything) judge(h History, rest *Leftovers) Report {
	return Report{Verdicts: h.judgeReturns(rest, opts.MayWait)}
}
