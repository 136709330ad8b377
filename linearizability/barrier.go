package linearizability

import (
	"time"

	"github.com/zksim/zksim/model"
)

// The kinds of operations of a barrier. Its removal is [KindRemove].
const (
	KindSet   = "set"   // put it up
	KindWait  = "wait"  // until it is down
	KindIsSet = "isset" // Output is "true" or "false"
)

// Barrier say what a barrier claims to be.
type Barrier struct {
	// Path is the znode whose existence is the barrier. It does not exist at first.
	Path string
	// AllowedAtRest are patterns (path.Match) of znodes that may stay.
	AllowedAtRest []string
	// Patience is how long a wait may go on with the barrier down; longer is a
	// violation of liveness, unless the client was told of a loss during the call. 0
	// means that this is not judged; without the server's log it never is.
	Patience time.Duration
}

// JudgeBarrier judges the history of one barrier: operations of the kinds
// [KindSet], [KindRemove], [KindWait] and [KindIsSet]; others are ignored. Rest may
// be nil.
//
// Linearizability is that of [github.com/zksim/zksim/model.Barrier]: who returns
// from wait has found the barrier down at some moment of the call, and set and
// remove find it as it should be, or make it so. Who waits at rest must have a
// barrier to wait for (liveness). With the server's log delivery is judged, too: a
// remove takes one barrier down at most, and nobody changes it without a call or in
// one that was said to have failed. A set may set it again that somebody else has
// removed meanwhile.
func (opts Barrier) judge(h History, rest *Leftovers) Report {
	c := newBarrierCase(h.sorted(), opts)
	upAtRest := false
	if rest != nil {
		_, upAtRest = rest.node(opts.Path)
	}
	r := Judge(h, rest, Object[model.Barrier, model.BarrierOp]{
		Noun: "barrier", Step: model.Barrier.Step, Show: showBarrier,
		Effects: func(History) []Effect[model.BarrierOp] { return c.effects() },
		Path:    opts.Path, AllowedAtRest: opts.AllowedAtRest, MayWait: func(op Op) bool { return op.Kind == KindWait && upAtRest },
	})
	if c.known {
		r.insert(c.judgeDelivery())
		if v, bad := c.overslept(opts.Patience); bad {
			r.replace(v)
		}
	}
	return r
}

func showBarrier(b model.Barrier) string {
	if b {
		return "up"
	}
	return "down"
}

// barrierCase is one history of one barrier, prepared for judging.
type barrierCase struct {
	history History
	known   bool
	changes []ServerEvent
	of      [][]int
	strays  []int
}

func newBarrierCase(h History, opts Barrier) *barrierCase {
	c := &barrierCase{history: h, known: h.Server != nil}
	for _, e := range h.Server {
		if e.Path == opts.Path && (e.Kind == NodeCreated || e.Kind == NodeDeleted) {
			c.changes = append(c.changes, e)
		}
	}
	c.of, c.strays = Attribute(h, c.changes, func(op Op, i int) bool { return op.Kind == changer(c.changes[i]) })
	return c
}

// changer is the kind of operation that makes a change.
func changer(e ServerEvent) string {
	if e.Kind == NodeCreated {
		return KindSet
	}
	return KindRemove
}

// effects turns the history into operations on the model.
func (c *barrierCase) effects() []Effect[model.BarrierOp] {
	var list []Effect[model.BarrierOp]
	for n := range c.history.Ops {
		switch op := &c.history.Ops[n]; op.Kind {
		case KindSet, KindRemove:
			list = append(list, c.write(op, c.of[n])...)
		case KindWait:
			list = append(list, c.seen(op, false)...)
		case KindIsSet:
			list = append(list, c.seen(op, op.Output == "true")...)
		}
	}
	for _, i := range c.strays {
		list = append(list, c.byServer(i))
	}
	return list
}

// write is the effect of a set or a remove: its changes, or that it has found the
// barrier as it should be.
func (c *barrierCase) write(op *Op, changes []int) []Effect[model.BarrierOp] {
	e := Effect[model.BarrierOp]{By: op, Op: model.BarrierOp{Kind: model.Raise}}
	if op.Kind == KindRemove {
		e.Op.Kind = model.Lower
	}
	switch {
	case len(changes) > 0:
		e.Step = c.changes[changes[0]].Step
	case op.ok() && c.known:
		return c.seen(op, op.Kind == KindSet)
	case op.Outcome == OpFailed, c.known:
		return nil
	case !op.ok():
		e.Op.Outcome = model.Maybe
	}
	list := []Effect[model.BarrierOp]{e}
	for _, i := range changes[min(1, len(changes)):] {
		list = append(list, c.byServer(i))
	}
	return list
}

// seen is the effect of an operation that has seen whether the barrier is up.
func (c *barrierCase) seen(op *Op, up bool) []Effect[model.BarrierOp] {
	if !op.ok() {
		return nil
	}
	e := Effect[model.BarrierOp]{By: op, Op: model.BarrierOp{Kind: model.See, Up: up}, Read: true}
	e.Step = seenAt(*op, c.changes, func(after int) bool {
		return up == (after > 0 && c.changes[after-1].Kind == NodeCreated)
	})
	return []Effect[model.BarrierOp]{e}
}

// byServer is a change that no operation asked for, or not again.
func (c *barrierCase) byServer(i int) Effect[model.BarrierOp] {
	e := c.changes[i]
	kind, text := model.Raise, "up"
	if e.Kind == NodeDeleted {
		kind, text = model.Lower, "down"
	}
	return Effect[model.BarrierOp]{Op: model.BarrierOp{Kind: kind}, Step: e.Step, Text: "the barrier goes " + text}
}

// judgeDelivery checks that the barrier was changed as often as it should be.
func (c *barrierCase) judgeDelivery() Verdict {
	for n, op := range c.history.Ops {
		var changes []ServerEvent
		for _, i := range c.of[n] {
			changes = append(changes, c.changes[i])
		}
		if len(changes) == 0 {
			continue // it was up, or down, already
		}
		if v, bad := deliveredOnce(op, changes, op.Kind == KindSet); bad {
			return v
		}
	}
	for _, i := range c.strays {
		e := c.changes[i]
		return violated(Delivery, []int64{e.Step}, "%s %s the barrier at step %d, and no %s accounts for that",
			ownerOr(e.Client, "the server"), verb(e), e.Step, changer(e))
	}
	return fine(Delivery, "no remove took two barriers down, and nobody else did")
}

// overslept looks for a wait that went on although the barrier was down.
func (c *barrierCase) overslept(patience time.Duration) (Verdict, bool) {
	log := readServer(c.history.Server)
	for _, op := range c.history.Ops {
		if op.Kind != KindWait || op.pending() || patience <= 0 || c.history.undisturbed(op, log) > op.CallTime {
			continue
		}
		if down := c.downFor(op); down >= patience {
			return violated(Liveness, []int64{op.Call, op.Return}, "%s went on although the barrier was down for %v", describe(op), down), true
		}
	}
	return Verdict{}, false
}

// downFor is how long the barrier was down at most, at a time, during a call.
func (c *barrierCase) downFor(op Op) (longest time.Duration) {
	since, down := op.CallTime, true
	for _, e := range c.changes {
		at := min(max(e.Time, op.CallTime), op.ReturnTime)
		if down {
			longest = max(longest, at-since)
		}
		since, down = at, e.Kind == NodeDeleted
	}
	if down {
		longest = max(longest, op.ReturnTime-since)
	}
	return longest
}

func verb(e ServerEvent) string {
	if e.Kind == NodeCreated {
		return "set"
	}
	return "removed"
}
