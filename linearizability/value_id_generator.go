package linearizability

import (
	"fmt"
	"strconv"
)

// KindNext takes a number from a generator; Output is that.
const KindNext = "next"

// IDGenerator say what a generator of numbers claims to be.
type IDGenerator struct {
	// Path is the znode of its counter: numbers up to its value are reserved. Empty
	// means that this is not judged.
	Path string
	// Ordered: a call that begins after another has returned gets a greater number,
	// whoever makes them. Otherwise that is judged between calls of one client.
	Ordered bool
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
}

// JudgeIDs judges a generator of numbers that are handed out once: operations of
// the kind [KindNext]; others are ignored. Rest may be nil. It panics if one
// returned something that is no number.
//
//	safety    no number is handed out twice
//	order     numbers grow
//	delivery  each number lies in a block by which its client has raised the
//	          counter before; judged with the server's log
//	liveness  every call returns
//	orphans   nothing is left but the counter
func (opts IDGenerator) judge(h History, rest *Leftovers) Report {
	c := &idCase{history: h.sorted(), opts: opts}
	for _, op := range c.history.Ops {
		if op.Kind == KindNext && op.ok() {
			c.taken = append(c.taken, takenID{op, idOf(op)})
		}
	}
	r := Report{Verdicts: []Verdict{c.judgeUnique(), c.judgeGrowth()}}
	if h.Server != nil && opts.Path != "" {
		r.insert(c.judgeBlocks())
	}
	r.Verdicts = append(r.Verdicts, c.history.judgeReturns(rest, nil)...)
	if rest != nil {
		r.Verdicts = append(r.Verdicts, judgeOrphans(rest, opts.AllowedAtRest, leftBelow(rest, opts.Path), c.history.waits))
	}
	return r
}

// idCase is one history of a generator, prepared for judging.
type idCase struct {
	history History
	opts    IDGenerator
	taken   []takenID // in the order of the calls
}

type takenID struct {
	op Op
	id int64
}

func idOf(op Op) int64 {
	id, err := strconv.ParseInt(op.Output, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("linearizability: %s: the output is %q; expected a number", describe(op), op.Output))
	}
	return id
}

func (c *idCase) judgeUnique() Verdict {
	first := map[int64]Op{}
	for _, t := range c.taken {
		if before, twice := first[t.id]; twice {
			return violated(Safety, []int64{before.Return, t.op.Return}, "%d is handed out twice: to %s and to %s", t.id, describe(before), describe(t.op))
		}
		first[t.id] = t.op
	}
	return fine(Safety, "%s handed out once", count(len(c.taken), "number"))
}

func (c *idCase) judgeGrowth() Verdict {
	for i, t := range c.taken {
		for _, before := range c.taken[:i] {
			if before.op.Return < t.op.Call && before.id > t.id && (c.opts.Ordered || before.op.Client == t.op.Client) {
				return violated(Order, []int64{before.op.Return, t.op.Call}, "%s got %d, after %s had got %d", describe(t.op), t.id, describe(before.op), before.id)
			}
		}
	}
	return fine(Order, "later calls got greater numbers")
}

// judgeBlocks looks for the block of each number.
func (c *idCase) judgeBlocks() Verdict {
	counter := newCounterCase(c.history, Counter{Path: c.opts.Path})
	for _, t := range c.taken {
		reserved := false
		for i, e := range counter.changes {
			own := e.Client == "" || e.Client == t.op.Client
			reserved = reserved || own && e.Step <= t.op.Return && counter.values[i] < t.id && t.id <= counter.values[i+1]
		}
		if !reserved {
			return violated(Delivery, []int64{t.op.Call, t.op.Return}, "%s got %d, which %s had not reserved", describe(t.op), t.id, t.op.Client)
		}
	}
	return fine(Delivery, "every number was reserved by who got it")
}
