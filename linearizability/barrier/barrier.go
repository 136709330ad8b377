package barrier

import (
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/custom"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// Claims claims to be a barrier. Its calls are [ops.Set], [ops.Remove], [ops.Wait] and
// [ops.IsSet].
//
// Linearizability is judged by [github.com/zksim/zksim/model.Barrier]: a wait returns only if the
// barrier was down at some moment of the call. A set or remove changes the barrier, or finds it
// already as wanted. Liveness: at rest a call waits only if the barrier is up. Delivery is judged
// with the server's log: a remove takes down at most one barrier, and no change happens without a
// call or in a call that reported failure. A set may set the barrier again if another client
// removed it meanwhile. Watches on Path are not judged if the barrier is up at rest.
type Claims struct {
	// Path is the znode of the barrier, which is up while the znode exists. At first it does not
	// exist.
	Path string
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
	// StaleReads: an isset, a wait that returns, and a set or remove that finds the barrier as
	// wanted may rest on the answer of a server that lags behind. It fits a state no older than the
	// client's own calls before it. Linearizability leaves it out.
	StaleReads bool
	// Patience bounds the time for which a wait may go on with the barrier down; a longer wait
	// violates liveness, unless the client learned of a loss during the call. 0 means that this is
	// not judged; without the server's log it never is.
	Patience time.Duration
	// AllPass claims that all waiters pass at a removal, even if the barrier is set again at once.
	// A wait that was under way for this time when the barrier was removed, and goes on for this
	// time after that, violates liveness, unless its client learned of a loss. 0 means that this is
	// not claimed: the waiters of the ZooKeeper guide look for the znode again, and may find the
	// next barrier.
	AllPass time.Duration
}

// Properties implements [lin.Claims].
func (Claims) Properties() []string {
	return []string{lin.Linearizability, lin.Delivery, lin.Liveness, lin.Orphans}
}

// Judge implements [lin.Claims].
func (claims Claims) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	t := newTable(h.Sorted(), claims)
	upAtRest := false
	if left != nil {
		_, upAtRest = judging.NodeAt(left, claims.Path)
	}
	if upAtRest { // watches of ended waits may be left, on this barrier or an earlier one
		left = judging.WithoutWatches(left, claims.Path)
	}
	r := custom.Object[model.Barrier, model.BarrierOp]{
		Noun: "barrier", Step: model.Barrier.Step, Show: showBarrier,
		Effects: func(lin.History) []custom.Effect[model.BarrierOp] { return t.effects() },
		Path:    claims.Path, AllowedAtRest: claims.AllowedAtRest,
		MayWait: func(op lin.Op) bool { return op.Kind == ops.Wait && upAtRest },
	}.Judge(h, left)
	if t.known {
		r.Add(t.judgeDelivery())
		judging.Prefer(&r, lin.Delivery)
		if v, bad := t.waitsTooLong(claims.Patience); bad {
			judging.Replace(&r, v)
		} else if v, bad := t.missedRemoval(claims.AllPass); bad {
			r.Worsen(v)
		}
	}
	claims.StaleReads = true
	t.JudgeReads(t.history, left, &r, claims)
	return r
}

func showBarrier(b model.Barrier) string {
	if b {
		return "up"
	}
	return "down"
}

// table is one history of a barrier, and the call behind each change of it.
type table struct {
	history lin.History
	known   bool // the server's log is known
	judging.Attribution
}

func newTable(h lin.History, claims Claims) *table {
	var changes []lin.ServerEvent
	for _, e := range h.Server {
		if e.Path == claims.Path && (e.Kind == lin.NodeCreated || e.Kind == lin.NodeDeleted) {
			changes = append(changes, e)
		}
	}
	fits := func(op lin.Op, i int) bool { return op.Kind == changer(changes[i]) }
	t := &table{
		history: h, known: h.Server != nil, Attribution: judging.Attribute(h, changes, fits),
	}
	t.Stale = judging.StaleReads(h, claims.StaleReads)
	return t
}

// changer is the kind of operation that makes a change.
func changer(e lin.ServerEvent) string {
	if e.Kind == lin.NodeCreated {
		return ops.Set
	}
	return ops.Remove
}

// effects returns the history as operations on the model.
func (t *table) effects() []custom.Effect[model.BarrierOp] {
	var list []custom.Effect[model.BarrierOp]
	for n := range t.history.Ops {
		switch op := &t.history.Ops[n]; op.Kind {
		case ops.Set, ops.Remove:
			list = append(list, t.write(op, t.Of[n])...)
		case ops.Wait:
			list = append(list, t.seen(op, false)...)
		case ops.IsSet:
			list = append(list, t.seen(op, op.Output == "true")...)
		}
	}
	for _, i := range t.Strays {
		list = append(list, t.byServer(i))
	}
	return list
}

// write returns the effects of a set or a remove: its changes, or one read that found the barrier
// as wanted.
func (t *table) write(op *lin.Op, changes []int) []custom.Effect[model.BarrierOp] {
	e := custom.Effect[model.BarrierOp]{By: op, Op: model.BarrierOp{Kind: model.Raise}}
	if op.Kind == ops.Remove {
		e.Op.Kind = model.Lower
	}
	own := -1
	switch {
	case len(changes) > 0:
		own = changes[0]
		e.Step = t.Changes[own].Step
	case op.OK() && t.known:
		return t.seen(op, op.Kind == ops.Set)
	case op.Outcome == lin.OpFailed, t.known:
		return nil
	case !op.OK():
		e.Op.Outcome = model.Maybe
	}
	return judging.WithRepetitions(e, own, changes, t.byServer)
}

// seen is the effect of an operation that reads whether the barrier is up.
func (t *table) seen(op *lin.Op, up bool) []custom.Effect[model.BarrierOp] {
	if !op.OK() {
		return nil
	}
	looks := func(after int) bool {
		return up == (after > 0 && t.Changes[after-1].Kind == lin.NodeCreated)
	}
	step, ordered := t.Read(op, looks)
	if !ordered {
		return nil
	}
	return []custom.Effect[model.BarrierOp]{{
		By: op, Op: model.BarrierOp{Kind: model.See, Up: up}, Read: true, Step: step,
	}}
}

// byServer is the effect of a change without an operation: a change without a call, or a
// repetition.
func (t *table) byServer(i int) custom.Effect[model.BarrierOp] {
	e := t.Changes[i]
	kind, text := model.Raise, "up"
	if e.Kind == lin.NodeDeleted {
		kind, text = model.Lower, "down"
	}
	return custom.Effect[model.BarrierOp]{
		Op: model.BarrierOp{Kind: kind}, Step: e.Step, Text: "the barrier goes " + text,
	}
}

// judgeDelivery checks the number of changes of each call.
func (t *table) judgeDelivery() lin.Verdict {
	for n, op := range t.history.Ops {
		changes := t.MadeBy(n)
		if len(changes) == 0 {
			continue // it was up, or down, already
		}
		if v, bad := judging.AppliedOnce(op, changes, op.Kind == ops.Set); bad {
			return v
		}
	}
	for _, i := range t.Strays {
		e := t.Changes[i]
		return judging.Violated(lin.Delivery, []int64{e.Step},
			"%s %s the barrier at step %d%s, and no %s accounts for that",
			judging.ByWhom(e, "the server"), pastTense(e), e.Step, judging.During(t.history, e),
			changer(e))
	}
	return judging.Fine(lin.Delivery, "no remove took two barriers down, and nobody else did")
}

func pastTense(e lin.ServerEvent) string {
	if e.Kind == lin.NodeCreated {
		return "set"
	}
	return "removed"
}

// waitsTooLong looks for a wait that went on although the barrier was down.
func (t *table) waitsTooLong(patience time.Duration) (v lin.Verdict, bad bool) {
	log := judging.ReadLog(t.history.Server)
	for _, op := range t.history.Ops {
		if op.Kind != ops.Wait || op.Pending() || patience <= 0 ||
			judging.Undisturbed(t.history, op, log) > op.CallTime {
			continue
		}
		if down := t.downFor(op); down >= patience {
			return judging.Violated(lin.Liveness, []int64{op.Call, op.Return},
				"%s went on although the barrier was down for %v", judging.Describe(op), down), true
		}
	}
	return lin.Verdict{}, false
}

// missedRemoval looks for a wait that went on after a removal that it should have seen.
func (t *table) missedRemoval(within time.Duration) (v lin.Verdict, bad bool) {
	log := judging.ReadLog(t.history.Server)
	for _, op := range t.history.Ops {
		if op.Kind != ops.Wait || within <= 0 {
			continue
		}
		if op.Pending() {
			op.Return, op.ReturnTime = t.history.End, t.history.EndTime
		}
		if judging.Undisturbed(t.history, op, log) > op.CallTime {
			continue
		}
		for _, e := range t.Changes {
			if e.Kind == lin.NodeDeleted && op.CallTime+within <= e.Time &&
				op.ReturnTime-e.Time > within {
				return judging.Violated(lin.Liveness, []int64{op.Call, e.Step},
					"%s waited from step %d on, and did not pass when the barrier was removed "+
						"at step %d: it still waited %v later",
					op.Client, op.Call, e.Step, op.ReturnTime-e.Time), true
			}
		}
	}
	return lin.Verdict{}, false
}

// downFor is the longest time without interruption that the barrier was down during a call.
func (t *table) downFor(op lin.Op) (longest time.Duration) {
	since, down := op.CallTime, true
	for _, e := range t.Changes {
		at := min(max(e.Time, op.CallTime), op.ReturnTime)
		if down {
			longest = max(longest, at-since)
		}
		since, down = at, e.Kind == lin.NodeDeleted
	}
	if down {
		longest = max(longest, op.ReturnTime-since)
	}
	return longest
}
