package linearizability

// JudgeReturns judges liveness alone, for objects of which nothing else is known:
// once the faults have stopped, every call must have returned, but for those that
// mayWait allows, and no client may go on failing for ever. Of what waits outside of
// every call the history does not tell.
func JudgeReturns(h History, rest *Rest, mayWait func(Op) bool) Report {
	return Report{Verdicts: h.judgeReturns(rest, mayWait)}
}
