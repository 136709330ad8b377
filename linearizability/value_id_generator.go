package linearizability

import (
	"fmt"
	"strconv"

	"github.com/zksim/zksim/linearizability/ops"
)

// IDGenerator claims to be a generator of unique numbers. Its call is [ops.Next].
//
//   - Safety: no number is returned twice.
//   - Order: numbers grow.
//   - Delivery: each number lies in a block that its client reserved by an earlier change of the
//     counter; judged with the server's log.
//   - Liveness: every call returns.
//   - Orphans: nothing is left but the counter.
type IDGenerator struct {
	// Path is the znode of its counter: numbers up to its value are reserved. Empty means that
	// delivery is not judged.
	Path string
	// Ordered: a call that begins after another has returned gets a greater number. Without it,
	// this holds only between calls of one client.
	Ordered bool
	// AllowedAtRest are patterns (path.Match) of znodes below Path that may stay.
	AllowedAtRest []string
}

func (claims IDGenerator) judge(h History, left *Leftovers) Report {
	h = h.sorted()
	taken := takenIDs(h.Ops)
	var r Report
	r.add(judgeUniqueIDs(taken), judgeGrowingIDs(taken, claims.Ordered))
	if h.Server != nil && claims.Path != "" {
		r.add(judgeReservedIDs(h, taken, claims.Path))
	}
	r.add(judgeReturns(h, left, nil)...)
	if left != nil {
		r.add(judgeOrphans(left, claims.AllowedAtRest, leftBelow(left, claims.Path), Waits(h)))
	}
	return r
}

type takenID struct {
	op Op
	id int64
}

// takenIDs returns the numbers in the order of the calls.
func takenIDs(calls []Op) []takenID {
	var list []takenID
	for _, op := range calls {
		if op.Kind != ops.Next || !op.ok() {
			continue
		}
		id, err := strconv.ParseInt(op.Output, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("linearizability: %s: the output is %q; expected a number",
				describe(op), op.Output))
		}
		list = append(list, takenID{op, id})
	}
	return list
}

func judgeUniqueIDs(taken []takenID) Verdict {
	first := map[int64]Op{}
	for _, t := range taken {
		if before, twice := first[t.id]; twice {
			return violated(Safety, []int64{before.Return, t.op.Return},
				"%d is handed out twice: to %s and to %s", t.id, describe(before), describe(t.op))
		}
		first[t.id] = t.op
	}
	return fine(Safety, "%s handed out once", count(len(taken), "number"))
}

func judgeGrowingIDs(taken []takenID, ordered bool) Verdict {
	for i, t := range taken {
		for _, before := range taken[:i] {
			compared := ordered || before.op.Client == t.op.Client
			if compared && before.op.Return < t.op.Call && before.id > t.id {
				return violated(Order, []int64{before.op.Return, t.op.Call},
					"%s got %d, after %s had got %d",
					describe(t.op), t.id, describe(before.op), before.id)
			}
		}
	}
	return fine(Order, "later calls got greater numbers")
}

// judgeReservedIDs looks for the block of each number.
func judgeReservedIDs(h History, taken []takenID, path string) Verdict {
	counter := newCounterTable(h, Counter{Path: path})
	for _, t := range taken {
		reserved := false
		for i, e := range counter.changes {
			own := e.Client == "" || e.Client == t.op.Client
			reserved = reserved || own && e.Step <= t.op.Return &&
				counter.values[i] < t.id && t.id <= counter.values[i+1]
		}
		if !reserved {
			return violated(Delivery, []int64{t.op.Call, t.op.Return},
				"%s got %d, which %s had not reserved", describe(t.op), t.id, t.op.Client)
		}
	}
	return fine(Delivery, "every number was reserved by who got it")
}
