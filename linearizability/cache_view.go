package linearizability

import (
	"fmt"
	"maps"
	"slices"
)

// judgeView follows each client and each znode through the states that the
// server had.
func (c *cacheCase) judgeView() Verdict {
	if !c.known {
		return c.judgeZxids()
	}
	at := map[[2]string]int{} // client and path: the state shown last
	for _, l := range c.looks {
		for _, path := range c.paths {
			key := [2]string{l.op.Client, path}
			i, v := c.follow(l, path, at[key])
			if v.Status == Violated {
				return v
			}
			at[key] = i
		}
	}
	return fine(View, "%s showed what had been true, and never went back", count(len(c.looks), "look"))
}

// follow returns the first state of a znode, not before the one shown last, that
// the look may have shown.
func (c *cacheCase) follow(l cacheLook, path string, last int) (int, Verdict) {
	shown, states := l.find(path), c.truth[path]
	for i := last; i < len(states) && states[i].from <= l.op.Return; i++ {
		if states[i].is(shown) {
			return i, Verdict{}
		}
	}
	past := slices.IndexFunc(states[:last], func(s nodeState) bool { return s.is(shown) })
	future := slices.IndexFunc(states, func(s nodeState) bool { return s.is(shown) })
	steps := []int64{l.op.Call}
	switch {
	case past >= 0:
		return 0, violated(View, append(steps, states[last].from), "%s goes back: of %s it shows %s, after it had shown %s, as it was from step %d on",
			describe(l.op), path, shown, states[last], states[last].from)
	case future >= 0:
		return 0, violated(View, append(steps, states[future].from), "%s shows %s of %s, which is so only from step %d on",
			describe(l.op), shown, path, states[future].from)
	}
	return 0, violated(View, steps, "%s shows %s of %s, which the server never had", describe(l.op), shown, path)
}

// judgeZxids checks what can be checked without the server's log.
func (c *cacheCase) judgeZxids() Verdict {
	newest := map[[2]string]nodeState{}
	for _, l := range c.looks {
		for _, path := range c.paths {
			key, shown := [2]string{l.op.Client, path}, l.find(path)
			before := newest[key]
			if shown.exists && (shown.zxid < before.zxid || shown.zxid == before.zxid && !shown.is(before)) {
				return violated(View, []int64{l.op.Call}, "%s goes back: of %s it shows %s, after it had shown %s", describe(l.op), path, shown, before)
			}
			if shown.exists {
				newest[key] = shown
			}
		}
	}
	return fine(View, "%s never went back", count(len(c.looks), "look"))
}

// judgeBelief checks what caches say of themselves.
func (c *cacheCase) judgeBelief() Verdict {
	down := 0
	for _, l := range c.looks {
		if l.Down && !l.Stale {
			return violated(Belief, []int64{l.op.Call}, "%s: the cache says that it is up to date, and its client is not connected", describe(l.op))
		}
		if l.Down {
			down++
		}
	}
	return fine(Belief, "in %s without a connection the cache called itself stale", count(down, "look"))
}

// judgeEvents applies the events of each client to what was shown before.
func (c *cacheCase) judgeEvents() Verdict {
	replicas := map[string]map[string]CacheNode{}
	events := 0
	for _, l := range c.looks {
		replica := replicas[l.op.Client]
		if replica == nil {
			replica = map[string]CacheNode{}
			replicas[l.op.Client] = replica
		}
		for _, e := range l.Events {
			events++
			if problem := applyChange(replica, e); problem != "" {
				return violated(Delivery, []int64{l.op.Call}, "%s: it was told that %s was %s, but %s", describe(l.op), e.Node.Path, e.Kind, problem)
			}
		}
		if problem := differ(replica, l.Nodes); problem != "" {
			return violated(Delivery, []int64{l.op.Call}, "%s: %s", describe(l.op), problem)
		}
	}
	return fine(Delivery, "%s gave what was shown, each of the right kind", count(events, "event"))
}

// applyChange applies one event, and says what is wrong with it.
func applyChange(replica map[string]CacheNode, e CacheChange) string {
	before, there := replica[e.Node.Path]
	switch {
	case e.Kind == "added" && there:
		return "it had been there"
	case e.Kind != "added" && !there:
		return "it had not been there"
	case e.Kind == "updated" && before.Zxid == e.Node.Zxid:
		return fmt.Sprintf("its zxid stays %d", before.Zxid)
	}
	replica[e.Node.Path] = e.Node
	if e.Kind == "removed" {
		delete(replica, e.Node.Path)
	}
	return ""
}

// differ says how what events tell differs from what is shown.
func differ(replica map[string]CacheNode, shown []CacheNode) string {
	paths := slices.Sorted(maps.Keys(replica))
	for _, n := range shown {
		told, there := replica[n.Path]
		switch {
		case !there:
			return fmt.Sprintf("it shows %s, and no event told of that", n.Path)
		case told != n:
			return fmt.Sprintf("it shows %q of zxid %d in %s, and events told of %q of zxid %d", n.Data, n.Zxid, n.Path, told.Data, told.Zxid)
		}
		paths = slices.DeleteFunc(paths, func(p string) bool { return p == n.Path })
	}
	if len(paths) > 0 {
		return fmt.Sprintf("it does not show %s, and no event told that this was removed", paths[0])
	}
	return ""
}

// judgeSettled compares what has settled with the tree.
func (c *cacheCase) judgeSettled() Verdict {
	for _, l := range c.looks {
		if l.op.Kind != KindSettle || !c.known || c.opts.Patience <= 0 || l.op.ReturnTime < c.last+c.opts.Patience {
			continue
		}
		for _, path := range c.paths {
			states := c.truth[path]
			now := states[len(states)-1]
			if shown := l.find(path); !now.is(shown) {
				return violated(Liveness, []int64{l.op.Call, now.from}, "%s: long after the last change and all faults the cache shows %s of %s, which is %s since step %d",
					describe(l.op), shown, path, now, now.from)
			}
		}
	}
	return fine(Liveness, "what has settled is the tree as it is")
}
