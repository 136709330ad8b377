package value

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// IDGenerator claims to be a generator of unique numbers. Its call is [ops.Next]. No search
// decides: the numbers themselves are the order of the calls, and every pair of calls is compared
// with it.
//
//   - Safety: no number is returned twice.
//   - Order: numbers grow.
//   - Delivery: each number lies in a block that its client reserved by an earlier change of the
//     counter; judged with the server's log.
//   - Liveness: every call returns.
//   - Orphans: nothing is left but the counter.
type IDGenerator struct {
	// Path is the znode of its counter: numbers up to its value are reserved, or all numbers below
	// it. Empty means that delivery is not judged.
	Path string
	// Ordered: a call that begins after another has returned gets a greater number. Without it,
	// this holds only between calls of one client.
	Ordered bool
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
}

// Properties implements [lin.Claims].
func (claims IDGenerator) Properties() []string {
	list := []string{lin.Safety, lin.Order, lin.Liveness, lin.Orphans}
	if claims.Path != "" {
		list = append(list, lin.Delivery)
	}
	return judging.Properties(list...)
}

// Judge implements [lin.Claims].
func (claims IDGenerator) Judge(h lin.History, left *lin.Leftovers) lin.Report {
	h = h.Sorted()
	taken := takenIDs(h.Ops)
	var r lin.Report
	r.Add(judgeUniqueIDs(h, taken, claims.Path), judgeGrowingIDs(taken, claims.Ordered))
	if h.Server != nil && claims.Path != "" {
		r.Add(judgeReservedIDs(h, taken, claims.Path))
	}
	r.Add(judging.Returns(h, left, nil)...)
	if left != nil {
		r.Add(judging.Orphans(left, claims.AllowedAtRest, judging.LeftBelow(h, left, claims.Path),
			judging.Waits(h)))
	}
	return r
}

type takenID struct {
	op lin.Op
	id int64
}

// takenIDs returns the numbers in the order of the calls.
func takenIDs(calls []lin.Op) []takenID {
	var list []takenID
	for _, op := range calls {
		if op.Kind != ops.Next || !op.OK() {
			continue
		}
		id, err := strconv.ParseInt(op.Output, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("linearizability: %s: the output is %q; expected a number",
				judging.Describe(op), op.Output))
		}
		list = append(list, takenID{op, id})
	}
	return list
}

func judgeUniqueIDs(h lin.History, taken []takenID, path string) lin.Verdict {
	first := map[int64]lin.Op{}
	for _, t := range taken {
		if before, twice := first[t.id]; twice {
			return judging.Violated(lin.Safety, []int64{before.Return, t.op.Return},
				"%d is handed out twice: to %s and to %s%s", t.id, judging.Describe(before),
				judging.Describe(t.op), cmp.Or(begunAnew(h, path, before.Call, t.op.Return),
					wroteTheSame(h, path, before, t.op)))
		}
		first[t.id] = t.op
	}
	return judging.Fine(lin.Safety, "%s handed out once", judging.Count(len(taken), "number"))
}

// begunAnew says that the counter was deleted between two steps, "" if it was not. If its path is
// not known, it is what the server itself deleted, as an empty container.
func begunAnew(h lin.History, path string, from, to int64) string {
	for _, e := range h.Server {
		byServer := e.Session == 0 && e.Owner == 0
		if e.Kind == lin.NodeDeleted && (e.Path == path || path == "" && byServer) &&
			from <= e.Step && e.Step <= to {
			return fmt.Sprintf(", as %s deleted %s at step %d and the numbers began anew",
				judging.ByWhom(e, "the server"), e.Path, e.Step)
		}
	}
	return ""
}

// wroteTheSame says that two calls have written the same into the counter: neither reserved its
// numbers for itself.
func wroteTheSame(h lin.History, path string, calls ...lin.Op) (text string) {
	by := map[string]lin.ServerEvent{} // the last write of each client
	for _, e := range h.Server {
		if e.Path != cmp.Or(path, e.Path) || e.Kind != lin.DataChanged {
			continue
		}
		for _, op := range calls {
			if op.Client == e.Client && op.Call <= e.Step && e.Step <= op.Return {
				by[e.Client] = e
			}
		}
	}
	a, b := by[calls[0].Client], by[calls[1].Client]
	if a.Step == 0 || a.Step == b.Step || a.Data != b.Data || a.Path != b.Path {
		return ""
	}
	if a.Step > b.Step {
		a, b = b, a
	}
	return fmt.Sprintf(", as %s wrote %q into %s at step %d, and %s the same over it at step %d",
		a.Client, a.Data, a.Path, a.Step, b.Client, b.Step)
}

func judgeGrowingIDs(taken []takenID, ordered bool) lin.Verdict {
	greatest := map[string]int64{} // of those that were returned before, by client
	returned := slices.SortedStableFunc(slices.Values(taken), func(a, b takenID) int {
		return cmp.Compare(a.op.Return, b.op.Return)
	})
	name := func(t takenID) string {
		if ordered {
			return ""
		}
		return t.op.Client
	}
	for i, t := range taken {
		for ; returned[0].op.Return < t.op.Call; returned = returned[1:] {
			of := name(returned[0])
			greatest[of] = max(greatest[of], returned[0].id)
		}
		if greatest[name(t)] <= t.id {
			continue
		}
		for _, before := range taken[:i] {
			if name(before) == name(t) && before.op.Return < t.op.Call && before.id > t.id {
				return judging.Violated(lin.Order, []int64{before.op.Return, t.op.Call},
					"%s got %d, after %s had got %d",
					judging.Describe(t.op), t.id, judging.Describe(before.op), before.id)
			}
		}
	}
	if !ordered {
		return judging.Fine(lin.Order, "later calls of one client got greater numbers "+
			"(every pair was compared)")
	}
	return judging.Fine(lin.Order, "later calls got greater numbers (every pair was compared)")
}

// judgeReservedIDs looks for the block of each number. The counter is the last number that is
// reserved or, in all blocks of a history, the first that is not.
func judgeReservedIDs(h lin.History, taken []takenID, path string) lin.Verdict {
	counter := newCounterTable(h, Counter{Path: path})
	v := reservedIDs(counter, taken, 0)
	if v.Status == lin.Violated {
		if other := reservedIDs(counter, taken, 1); other.Status != lin.Violated {
			return other
		}
	}
	return v
}

// reservedIDs is judgeReservedIDs for a counter that is ahead of the last number by so much.
func reservedIDs(counter *counterTable, taken []takenID, ahead int64) lin.Verdict {
	for _, t := range taken {
		reserved, why := false, ""
		for i, e := range counter.Changes {
			if at := t.id + ahead; at <= counter.values[i] || at > counter.values[i+1] {
				continue
			}
			own := e.Client == "" || e.Client == t.op.Client
			reserved = reserved || own && e.Step <= t.op.Return
			why = fmt.Sprintf(": %s reserved %d to %d at step %d", judging.ByWhom(e, "somebody"),
				counter.values[i]+1, counter.values[i+1], e.Step)
			if own {
				why += ", which was too late"
			}
		}
		if !reserved {
			return judging.Violated(lin.Delivery, []int64{t.op.Call, t.op.Return},
				"%s got %d, which %s had not reserved%s", judging.Describe(t.op), t.id,
				t.op.Client, why)
		}
	}
	return judging.Fine(lin.Delivery, "every number was reserved by who got it")
}
