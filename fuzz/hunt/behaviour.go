package hunt

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// behaviours lists the behaviours of a run as numbers, sorted, each once. Runs that behave alike
// have equal numbers. There are several kinds of behaviour: a fault that struck, with the operation
// of the code under test, its progress, and the ephemeral nodes of the session; the client's next
// requests; the order of two faults; and the ends of the operations. A hunt counts behaviours, and
// its search by coverage keeps the scenarios with a new one.
func behaviours(o *scenario.Outcome) []uint64 {
	b := newBehaviour(o)
	for i, s := range o.Result.Strikes {
		b.strike(s)
		if i > 0 {
			last := o.Result.Strikes[i-1]
			b.add("then", string(last.Fault.Kind), last.Op, string(s.Fault.Kind), s.Op)
		}
	}
	for _, op := range o.History.Ops {
		b.add("ends", op.Kind, b.faults(op), outcomeName(op))
	}
	slices.Sort(b.found)
	return slices.Compact(b.found)
}

// behaviour collects the behaviours of a run.
type behaviour struct {
	o        *scenario.Outcome
	requests map[string][]trace.RequestPoint // by client, in order
	found    []uint64
}

func newBehaviour(o *scenario.Outcome) *behaviour {
	b := &behaviour{o: o, requests: map[string][]trace.RequestPoint{}}
	for _, r := range o.Result.Requests {
		b.requests[r.Client] = append(b.requests[r.Client], r)
	}
	return b
}

func (b *behaviour) add(words ...string) {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(words, "\x00"))) // never fails
	b.found = append(b.found, h.Sum64())
}

// strike collects where a fault struck, and how the client went on.
func (b *behaviour) strike(s trace.Strike) {
	call := b.callAt(s.Client, s.Step)
	what := []string{string(s.Fault.Kind), length(s.Fault.For), s.Op, call.Kind}
	b.add(append(what, "after", strings.Join(b.opsBetween(s.Client, call.Call, s.Step), " "))...)
	b.add(append(what, "holding", b.held(s.Client, s.Step))...)
	b.add(append(what, "next", strings.Join(b.opsAfter(s.Client, s.Step, 3), " "))...)
}

// callAt is the operation that the client has under way, the zero Op if there is none.
func (b *behaviour) callAt(client string, step int64) linearizability.Op {
	var found linearizability.Op
	for _, op := range b.o.History.Ops {
		if op.Client == client && during(op, step) {
			found = op
		}
	}
	return found
}

// during reports whether an operation is under way at a step.
func during(op linearizability.Op, step int64) bool {
	return op.Call <= step && (op.Outcome == linearizability.OpPending || op.Return >= step)
}

// opsBetween are the last few requests of the client between two steps.
func (b *behaviour) opsBetween(client string, from, to int64) []string {
	var ops []string
	for _, r := range b.requests[client] {
		if r.Step >= from && r.Step < to {
			ops = append(ops, r.Op)
		}
	}
	return ops[max(0, len(ops)-4):]
}

func (b *behaviour) opsAfter(client string, step int64, n int) []string {
	var ops []string
	for _, r := range b.requests[client] {
		if r.Step > step && len(ops) < n {
			ops = append(ops, r.Op)
		}
	}
	return ops
}

// held classifies the number of ephemeral nodes of the client's sessions at a step: none, one or
// more.
func (b *behaviour) held(client string, step int64) string {
	n := 0
	for _, c := range b.o.Result.Changes {
		if c.Step > step || c.Owner == 0 || b.o.Result.SessionClient[c.Owner] != client {
			continue
		}
		switch c.Kind {
		case trace.NodeCreated:
			n++
		case trace.NodeDeleted:
			n--
		}
	}
	return []string{"none", "one", "more"}[min(max(n, 0), 2)]
}

// faults are the first two kinds of faults that struck the client of an operation during it.
func (b *behaviour) faults(op linearizability.Op) string {
	var kinds []string
	for _, s := range b.o.Result.Strikes {
		if during(op, s.Step) && (s.Client == op.Client || s.Client == "") {
			kinds = append(kinds, string(s.Fault.Kind))
		}
	}
	return strings.Join(kinds[:min(2, len(kinds))], " ")
}

// length puts the lengths of faults into three classes: a connection survives it, a session
// survives it, or neither does.
func length(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < scenario.SessionTimeout/2:
		return "short"
	case d < scenario.SessionTimeout:
		return "medium"
	}
	return "long"
}

func outcomeName(op linearizability.Op) string {
	if op.Empty && op.Outcome != linearizability.OpUnknown &&
		op.Outcome != linearizability.OpPending {
		return op.Outcome.String() + " empty"
	}
	return op.Outcome.String()
}

// traceOf identifies the order in which a run's requests came.
func traceOf(o *scenario.Outcome) uint64 {
	h := fnv.New64a()
	strikes := o.Result.Strikes
	for _, r := range o.Result.Requests {
		for len(strikes) > 0 && strikes[0].Step <= r.Step {
			h.Write([]byte(strikes[0].Fault.Kind)) // never fails
			strikes = strikes[1:]
		}
		h.Write([]byte(r.Client))
		h.Write([]byte{byte(r.Number), byte(r.Number >> 8), byte(r.Conn)})
		h.Write([]byte(r.Op))
	}
	for _, s := range strikes {
		h.Write([]byte(s.Fault.Kind))
	}
	return h.Sum64()
}
