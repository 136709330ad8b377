package cache

import (
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// judgeView follows each client and each znode through the states that the server had.
func (t *table) judgeView() lin.Verdict {
	if !t.known {
		return t.judgeZxids()
	}
	at := map[[2]string]int{} // by client and path: the state shown last
	for _, l := range t.looks {
		for _, path := range t.paths {
			key := [2]string{l.op.Client, path}
			i, v := t.follow(l, path, at[key])
			if v.Status == lin.Violated {
				return v
			}
			at[key] = i
		}
	}
	return judging.Fine(lin.View, "%s showed what had been true, and never went back",
		judging.Count(len(t.looks), "look"))
}

// follow returns the index of the first state of a znode, from last on, that the look may show.
func (t *table) follow(l sight, path string, last int) (int, lin.Verdict) {
	shown, states := l.find(path), t.states[path]
	for i := last; i < len(states) && states[i].from <= l.op.Return; i++ {
		if states[i].is(shown) {
			return i, lin.Verdict{}
		}
	}
	isShown := func(s nodeState) bool { return s.is(shown) }
	past := slices.IndexFunc(states[:last], isShown)
	future := slices.IndexFunc(states, isShown)
	steps := []int64{l.op.Call}
	switch {
	case past >= 0:
		return 0, judging.Violated(lin.View, append(steps, states[last].from),
			"%s goes back: of %s it shows %s, after it had shown %s, as it was from step %d on",
			judging.Describe(l.op), path, shown, states[last], states[last].from)
	case future >= 0:
		return 0, judging.Violated(lin.View, append(steps, states[future].from),
			"%s shows %s of %s, which is so only from step %d on",
			judging.Describe(l.op), shown, path, states[future].from)
	}
	return 0, judging.Violated(lin.View, steps, "%s shows %s of %s, which the server never had",
		judging.Describe(l.op), shown, path)
}

// judgeZxids checks the zxids, which needs no server log.
func (t *table) judgeZxids() lin.Verdict {
	newest := map[[2]string]nodeState{} // by client and path
	for _, l := range t.looks {
		for _, path := range t.paths {
			key, shown := [2]string{l.op.Client, path}, l.find(path)
			before := newest[key]
			if shown.exists &&
				(shown.zxid < before.zxid || shown.zxid == before.zxid && !shown.is(before)) {
				return judging.Violated(lin.View, []int64{l.op.Call},
					"%s goes back: of %s it shows %s, after it had shown %s",
					judging.Describe(l.op), path, shown, before)
			}
			if shown.exists {
				newest[key] = shown
			}
		}
	}
	return judging.Fine(lin.View, "%s never went back", judging.Count(len(t.looks), "look"))
}

// judgeBelief checks the caches' own reports of being up to date.
func (t *table) judgeBelief() lin.Verdict {
	down := 0
	for _, l := range t.looks {
		if l.Down && !l.Stale {
			return judging.Violated(lin.Belief, []int64{l.op.Call},
				"%s: the cache says that it is up to date, and its client is not connected",
				judging.Describe(l.op))
		}
		if l.Down {
			down++
		}
	}
	return judging.Fine(lin.Belief, "in %s without a connection the cache called itself stale",
		judging.Count(down, "look"))
}

// wrongFinalLook looks for a look that has settled and differs from the tree.
func (t *table) wrongFinalLook() (v lin.Verdict, bad bool) {
	for _, l := range t.looks {
		if l.op.Kind != ops.Settle || !t.known || t.claims.Patience <= 0 ||
			l.op.ReturnTime < t.last+t.claims.Patience {
			continue
		}
		for _, path := range t.paths {
			states := t.states[path]
			now := states[len(states)-1]
			if shown := l.find(path); !now.is(shown) {
				return judging.Violated(lin.Liveness, []int64{l.op.Call, now.from},
					"%s: long after the last change and all faults the cache shows %s of %s, "+
						"where the server has had %s since step %d",
					judging.Describe(l.op), shown, path, now, now.from), true
			}
		}
	}
	return lin.Verdict{}, false
}
