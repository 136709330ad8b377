package gallery

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// signedNumber is the number of an element, with its sign.
func signedNumber(name string) int32 {
	n, _ := strconv.ParseInt(strings.TrimPrefix(name, "n-"), 10, 32)
	return int32(n)
}

// aroundWrap is a workload of a queue that comes from a server before 3.6: its numbers have just
// wrapped, and the last elements before that are still there.
func aroundWrap(step func(*plainQueue)) scenario.Workload {
	w := queueOf(step)
	w.Nodes, w.Next = maps.Clone(w.Nodes), map[string]int32{queueDir: math.MinInt32}
	for n := range oldElements {
		w.Nodes[oldElement(n)] = fmt.Sprintf("old%d", n)
	}
	return judgedBy(w, "the elements of the beginning are taken first", oldFirst)
}

const oldElements = 3

// oldElement is the path of an element of the beginning.
func oldElement(n int) string { return fmt.Sprintf("%s/n-%d", queueDir, math.MaxInt32-n) }

// oldFirst finds a take of another element while one of the beginning was there.
func oldFirst(e scenario.Evidence) error {
	deleted := map[string]int64{} // step, by path
	for _, ev := range e.History.Server {
		if ev.Kind == linearizability.NodeDeleted {
			deleted[ev.Path] = ev.Step
		}
	}
	for _, op := range e.History.Ops {
		if op.Kind != ops.Take || op.Outcome != linearizability.OpOK ||
			strings.HasPrefix(op.Output, "old") {
			continue
		}
		for n := range oldElements {
			step, gone := deleted[oldElement(n)]
			if !gone || step > op.Return {
				return fmt.Errorf("%s got %s at step %d, and old%d was there", op.Client,
					op.Output, op.Return, n)
			}
		}
	}
	return nil
}
