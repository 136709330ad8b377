package linearizability

import (
	"slices"

	"github.com/zksim/zksim/linearizability/ops"
)

// judgeView follows each client and each znode through the states that the server had.
func (t *cacheTable) judgeView() Verdict {
	if !t.known {
		return t.judgeZxids()
	}
	at := map[[2]string]int{} // by client and path: the state shown last
	for _, l := range t.looks {
		for _, path := range t.paths {
			key := [2]string{l.op.Client, path}
			i, v := t.follow(l, path, at[key])
			if v.Status == Violated {
				return v
			}
			at[key] = i
		}
	}
	return fine(View, "%s showed what had been true, and never went back",
		count(len(t.looks), "look"))
}

// follow returns the index of the first state of a znode, from last on, that the look may show.
func (t *cacheTable) follow(l cacheLook, path string, last int) (int, Verdict) {
	shown, states := l.find(path), t.states[path]
	for i := last; i < len(states) && states[i].from <= l.op.Return; i++ {
		if states[i].is(shown) {
			return i, Verdict{}
		}
	}
	isShown := func(s nodeState) bool { return s.is(shown) }
	past := slices.IndexFunc(states[:last], isShown)
	future := slices.IndexFunc(states, isShown)
	steps := []int64{l.op.Call}
	switch {
	case past >= 0:
		return 0, violated(View, append(steps, states[last].from),
			"%s goes back: of %s it shows %s, after it had shown %s, as it was from step %d on",
			describe(l.op), path, shown, states[last], states[last].from)
	case future >= 0:
		return 0, violated(View, append(steps, states[future].from),
			"%s shows %s of %s, which is so only from step %d on",
			describe(l.op), shown, path, states[future].from)
	}
	return 0, violated(View, steps, "%s shows %s of %s, which the server never had",
		describe(l.op), shown, path)
}

// judgeZxids checks the zxids, which needs no server log.
func (t *cacheTable) judgeZxids() Verdict {
	newest := map[[2]string]nodeState{} // by client and path
	for _, l := range t.looks {
		for _, path := range t.paths {
			key, shown := [2]string{l.op.Client, path}, l.find(path)
			before := newest[key]
			if shown.exists &&
				(shown.zxid < before.zxid || shown.zxid == before.zxid && !shown.is(before)) {
				return violated(View, []int64{l.op.Call},
					"%s goes back: of %s it shows %s, after it had shown %s",
					describe(l.op), path, shown, before)
			}
			if shown.exists {
				newest[key] = shown
			}
		}
	}
	return fine(View, "%s never went back", count(len(t.looks), "look"))
}

// judgeBelief checks the caches' own reports of being up to date.
func (t *cacheTable) judgeBelief() Verdict {
	down := 0
	for _, l := range t.looks {
		if l.Down && !l.Stale {
			return violated(Belief, []int64{l.op.Call},
				"%s: the cache says that it is up to date, and its client is not connected",
				describe(l.op))
		}
		if l.Down {
			down++
		}
	}
	return fine(Belief, "in %s without a connection the cache called itself stale",
		count(down, "look"))
}

// wrongFinalLook looks for a look that has settled and differs from the tree.
func (t *cacheTable) wrongFinalLook() (v Verdict, bad bool) {
	for _, l := range t.looks {
		if l.op.Kind != ops.Settle || !t.known || t.claims.Patience <= 0 ||
			l.op.ReturnTime < t.last+t.claims.Patience {
			continue
		}
		for _, path := range t.paths {
			states := t.states[path]
			now := states[len(states)-1]
			if shown := l.find(path); !now.is(shown) {
				return violated(Liveness, []int64{l.op.Call, now.from},
					"%s: long after the last change and all faults the cache shows %s of %s, "+
						"which is %s since step %d",
					describe(l.op), shown, path, now, now.from), true
			}
		}
	}
	return Verdict{}, false
}
