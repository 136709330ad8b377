package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/barrier"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/value"
)

// A kind of object has the judge of its runs.
type kind struct {
	judge func(r *recipe, e *evidence) string // the violation, or ""
}

// The kinds. Objects with one holder at a time are judged as locks: with a read-write lock one
// client writes and the other reads, a semaphore has one lease, a leader holds the leadership.
var (
	holding       = kind{judgeHolding}
	queueing      = kind{judgeQueue}
	counting      = kind{judgeCounter}
	barring       = kind{judgeBarrier}
	doubleBarring = kind{judgeDoubleBarrier}
	membership    = kind{judgeMembership}
)

// evidence is all that a judge looks at.
type evidence struct {
	history linearizability.History
	rest    *linearizability.Leftovers
	// nodes are all nodes below the object's path at rest.
	nodes []linearizability.NodeAtRest
	// stuck is the reason why the run was given up, or "".
	stuck string
	// value is the value of the counter at rest.
	value string
}

// verdict is the first violation of a report, or "".
func verdict(r linearizability.Report) string {
	if v := r.First(); v.Status == linearizability.Violated {
		return v.Property + ": " + v.Summary
	}
	return ""
}

// judgeHolding counts only the ends of sessions and signals of loss that end a hold.
func judgeHolding(_ *recipe, e *evidence) string {
	e.history.Notices = slices.DeleteFunc(e.history.Notices, func(n linearizability.Notice) bool {
		return !holds(e.history, n)
	})
	return verdict(linearizability.Judge(e.history, e.rest, lock.Claims{Path: objectPath}))
}

// holds reports whether the client of a notice holds the lock at that moment: its
// last lock has returned, and it has not called unlock since.
func holds(h linearizability.History, n linearizability.Notice) bool {
	held := false
	for _, op := range h.Ops {
		switch {
		case op.Client != n.Client || op.Call > n.Step:
		case op.Kind == ops.Unlock:
			held = false
		case op.Kind == ops.Lock:
			held = op.Outcome == linearizability.OpOK && op.Return <= n.Step
		}
	}
	return held
}

func judgeBarrier(_ *recipe, e *evidence) string {
	return verdict(
		linearizability.Judge(e.history, e.rest, barrier.Claims{Path: objectPath}),
	)
}

func judgeDoubleBarrier(_ *recipe, e *evidence) string {
	return verdict(
		linearizability.Judge(e.history, e.rest, barrier.Double{Path: objectPath}),
	)
}

// judgeCounter judges the adds and the value of the counter at the end.
func judgeCounter(_ *recipe, e *evidence) string {
	if e.stuck == "" {
		h := &e.history
		h.Ops = append(h.Ops, linearizability.Op{
			Client: "z", Kind: ops.Get,
			Output: e.value, Outcome: linearizability.OpOK,
			Call: h.End + 1, Return: h.End + 2, CallTime: h.EndTime, ReturnTime: h.EndTime,
		})
		h.End += 2
	}
	bad := verdict(
		linearizability.Judge(e.history, e.rest, value.Counter{Path: objectPath}),
	)
	if bad == "" {
		return ""
	}
	return fmt.Sprintf("%s (it holds %s; the digits say how often each add was applied)",
		bad, e.value)
}

// judgeQueue looks for an element that was lost, is stuck or came twice, and then at
// the order: all elements come from one client and go to one.
func judgeQueue(r *recipe, e *evidence) string {
	if e.stuck != "" {
		return "liveness: " + e.stuck
	}
	offered, taken := queued(e.history)
	for _, element := range offered {
		if slices.Contains(taken, element) {
			continue
		}
		if stored(e.nodes, element) {
			return fmt.Sprintf("liveness: %s is in the queue, but the taker gets nothing", element)
		}
		return fmt.Sprintf("delivery: %s was offered, is not in the queue, and nobody got it",
			element)
	}
	if !r.atLeastOnce {
		if twice := repeated(taken); twice != "" {
			return fmt.Sprintf("delivery: %s was got twice", twice)
		}
		if !r.unordered && !slices.IsSorted(taken) {
			return fmt.Sprintf("order: got %s", strings.Join(taken, " "))
		}
	}
	return leftover(e)
}

// queued lists the elements that were certainly offered, and those that were taken.
func queued(h linearizability.History) (offered, taken []string) {
	for _, op := range h.Ops {
		switch {
		case op.Kind == ops.Offer && op.Outcome == linearizability.OpOK:
			offered = append(offered, op.Input)
		case op.Kind == ops.Take && op.Outcome == linearizability.OpOK && !op.Empty:
			taken = append(taken, op.Output)
		}
	}
	return offered, taken
}

func stored(nodes []linearizability.NodeAtRest, element string) bool {
	return slices.ContainsFunc(nodes, func(n linearizability.NodeAtRest) bool {
		return strings.Contains(n.Data, element)
	})
}

func repeated(elements []string) string {
	for i, element := range elements {
		if slices.Contains(elements[:i], element) {
			return element
		}
	}
	return ""
}

// leftover names an ephemeral that is left, or is "".
func leftover(e *evidence) string {
	if len(e.rest.Nodes) > 0 {
		first := e.rest.Nodes[0]
		return fmt.Sprintf("orphans: %s is left of a live session of %s",
			first.Path, first.OwnerClient)
	}
	return ""
}

// judgeMembership: at rest client a has joined, client b has left.
func judgeMembership(_ *recipe, e *evidence) string {
	if e.stuck != "" {
		return "liveness: " + e.stuck
	}
	members := map[string]int{}
	for _, n := range e.rest.Nodes {
		members[n.OwnerClient]++
	}
	switch {
	case members["a"] == 0:
		return "presence: a has joined and is not there"
	case members["a"] > 1:
		return fmt.Sprintf("orphans: a is there %d times", members["a"])
	case len(e.rest.Nodes) > 1:
		return "orphans: b has left and is still there"
	}
	return ""
}
