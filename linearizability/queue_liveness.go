package linearizability

import (
	"cmp"
	"fmt"
)

// judgeLiveness speaks of the world at rest, and if nothing is wrong there, of
// the takes that gave up.
func (c *queueCase) judgeLiveness(rest *Leftovers) []Verdict {
	verdicts := c.judgeRest(rest)
	if v, bad := c.overslept(); bad && (len(verdicts) == 0 || verdicts[0].Status != Violated) {
		return []Verdict{v}
	}
	return verdicts
}

// judgeRest asks of every call still pending at rest whether it should be. A
// take may wait for an empty queue; nothing else may.
func (c *queueCase) judgeRest(rest *Leftovers) []Verdict {
	stuck := c.history.pendingOps(KindOffer, KindPoll, KindTake, KindPeek)
	if rest == nil {
		return unsettled(stuck)
	}
	waiting := 0
	for _, op := range stuck {
		left, some := c.leftInQueue(rest)
		if op.Kind == KindTake && !some {
			waiting++
			continue
		}
		return []Verdict{violated(Liveness, []int64{op.Call}, "%s", c.whyStuck(op, left, some, rest))}
	}
	if len(rest.Wedged) > 0 {
		return []Verdict{violated(Liveness, nil, "wedged: %s", rest.Wedged[0])}
	}
	if waiting > 0 {
		return []Verdict{fine(Liveness, "%s for an element, and the queue is empty", count(waiting, "take")+" still waiting")}
	}
	return []Verdict{fine(Liveness, "every call returned")}
}

// leftInQueue returns an element that is in the queue at rest.
func (c *queueCase) leftInQueue(rest *Leftovers) (NodeAtRest, bool) {
	for _, n := range rest.Nodes {
		value, ok := c.decode(n.Path, n.Data)
		if e := c.byValue[value]; ok && e != nil && c.freeAtRest(e, n.Path) {
			return n, true
		}
	}
	return NodeAtRest{}, false
}

// freeAtRest reports whether an element that is stored at a path could be taken.
func (c *queueCase) freeAtRest(e *element, path string) bool {
	for _, l := range e.lives {
		if l.path == path && l.died == never {
			_, ok := c.freeAt(e, l, c.history.End, c.history.EndTime)
			return ok
		}
	}
	return c.ranks.ready(e, c.history.EndTime)
}

func (c *queueCase) whyStuck(op Op, left NodeAtRest, some bool, rest *Leftovers) string {
	text := fmt.Sprintf("%s never returned, although the faults stopped", describe(op))
	if op.Kind == KindTake && some {
		value, _ := c.decode(left.Path, left.Data)
		text = fmt.Sprintf("client %s waits in take (called at step %d) although element %s is there (%s)", op.Client, op.Call, value, left.Path)
	}
	w, known := rest.wait(op.Client)
	switch {
	case known && w.Path != "":
		text += fmt.Sprintf("; it waits for a watch on %s", w.Path)
	case known && w.Why != "":
		text += "; it waits for " + w.Why
	}
	return text
}

// leftover returns the queue's znodes that are neither elements nor directories.
// What only the directories hold is bookkeeping: claims, locks, dedup records.
func (c *queueCase) leftover(rest *Leftovers) []orphan {
	var list []orphan
	for _, n := range rest.Nodes {
		if !below(c.opts.Path, n.Path) || n.Path == c.opts.Items || hasChild(rest, n.Path) {
			continue
		}
		if value, ok := c.decode(n.Path, n.Data); ok && c.byValue[value] != nil {
			continue
		}
		if n.Owner == 0 && c.opts.Path == "" {
			continue // directories cannot be told from bookkeeping
		}
		list = append(list, orphan{n, "is no element of the queue"})
	}
	return list
}

// withoutMissed leaves out the watches on the directory of the elements: a client that
// has lost its connection twice in a row may have missed the event, and nobody can
// take the watch back; the next take uses it again.
func (c *queueCase) withoutMissed(rest *Leftovers) *Leftovers {
	return rest.withoutWatches(cmp.Or(c.opts.Items, c.opts.Path))
}
