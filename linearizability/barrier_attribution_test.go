package linearizability

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/linearizability/ops"
)

// TestCallsThatEndFirstAreServedFirst: of two concurrent removals, the later call can have made the
// earlier change only.
func TestCallsThatEndFirstAreServedFirst(t *testing.T) {
	f := &fixture{}
	f.raises("b")
	first := f.call("a", ops.Remove, "")
	second := f.call("a", ops.Remove, "")
	f.deletes("a", 0, "/b", 0)
	f.ret(first, OpOK, Result{})
	f.raises("b")
	f.deletes("a", 0, "/b", 0)
	f.ret(second, OpOK, Result{})
	h := f.history().sorted()
	of, strays := Attribute(h, h.Server, func(op Op, i int) bool {
		return op.Kind == changer(h.Server[i])
	})
	if diff := cmp.Diff([][]int{{0}, {1}, {3}, {2}}, of); diff != "" || strays != nil {
		t.Errorf("strays %v, changes by call:\n%s", strays, diff)
	}
}
