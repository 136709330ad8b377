package member

import (
	"fmt"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// whyDeleted explains that the session that had made the instance of the i-th operation, a join or
// update, deleted it before the client called leave, so that the instance was gone for a while. A
// member that makes its znode anew after the end of a session may replace it once.
func (t *table) whyDeleted(i int) (why string, steps []int64) {
	op := t.history.Ops[i]
	name, end := instanceOf(op), t.stays(i)
	deleted := 0
	for _, z := range t.log.Znodes {
		instance, ok := t.instance(z.Path)
		own := z.RemovedBy(op.Client, z.Owner) && z.Creator == op.Client &&
			z.RemoverSession == z.CreatorSession
		if !ok || instance != name || !own || z.Deleted <= op.Return || z.Deleted >= end ||
			!t.truth.of(name).during("", z.Deleted, z.Deleted) || t.mayDelete(op.Client, name, z) {
			continue
		}
		if deleted++; deleted <= t.expiries(op.Client, op.Call, z.Deleted) {
			continue
		}
		return fmt.Sprintf("%s deleted its own %s at step %d, though it had joined (%s) and had not "+
				"left: others saw it go", op.Client, z.Path, z.Deleted, judging.Describe(op)),
			[]int64{z.Deleted}
	}
	return "", nil
}

// stays returns the step of the next join or leave of the instance by the client of the i-th
// operation, or of the end of the client's process.
func (t *table) stays(i int) int64 {
	op, end := t.history.Ops[i], int64(judging.Never)
	for _, next := range t.history.Ops[i+1:] {
		changes := next.Kind == ops.Join || next.Kind == ops.Leave
		if changes && next.Client == op.Client && instanceOf(next) == instanceOf(op) {
			end = next.Call
			break
		}
	}
	if died, ok := judging.FirstNotice(t.history, op.Client, op.Return, lin.Died); ok {
		end = min(end, died.Step)
	}
	return end
}

// mayDelete reports whether a client deleted the znode of its own instance in an evict, which the
// clients of a test call, or in an update that replaces the instance.
func (t *table) mayDelete(client, instance string, z *judging.Znode) bool {
	return slices.ContainsFunc(t.history.Ops, func(op lin.Op) bool {
		return op.Client == client && instanceOf(op) == instance && began(op, z.Deleted) &&
			(op.Kind == ops.Evict || t.claims.Replaces && op.Kind == ops.Update)
	})
}

// began reports whether an operation may have had an effect at a step: it had begun, and had not
// succeeded before.
func began(op lin.Op, step int64) bool {
	return op.Call <= step && (!op.OK() || step <= op.Return)
}

// disturbance names the evict or spoil that made the last change of an instance up to a step, or "".
func (t *table) disturbance(instance string, step int64) string {
	var last lin.ServerEvent
	for _, e := range t.history.Server {
		if name, _, ok := t.entry(e); ok && name == instance && e.Step <= step {
			last = e
		}
	}
	kind := map[lin.ServerEventKind]string{
		lin.NodeDeleted: ops.Evict, lin.DataChanged: ops.Spoil,
	}[last.Kind]
	for _, op := range t.history.Ops {
		if kind != "" && op.Kind == kind && op.Client == last.Client && op.Input == instance &&
			began(op, last.Step) {
			return ", after " + judging.Describe(op)
		}
	}
	return ""
}
