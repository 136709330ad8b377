package barrier

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/custom"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestCallsThatEndFirstAreServedFirst: of two concurrent removals, the later call can have made the
// earlier change only.
func TestCallsThatEndFirstAreServedFirst(t *testing.T) {
	f := &fixture{}
	f.raises("b")
	first := f.Call("a", ops.Remove, "")
	second := f.Call("a", ops.Remove, "")
	f.Deletes("a", 0, "/b", 0)
	f.Ret(first, lin.OpOK, lin.Result{})
	f.raises("b")
	f.Deletes("a", 0, "/b", 0)
	f.Ret(second, lin.OpOK, lin.Result{})
	h := f.History().Sorted()
	of, strays := custom.Attribute(h, h.Server, func(op lin.Op, i int) bool {
		return op.Kind == changer(h.Server[i])
	})
	if diff := cmp.Diff([][]int{{0}, {1}, {3}, {2}}, of); diff != "" || strays != nil {
		t.Errorf("strays %v, changes by call:\n%s", strays, diff)
	}
}
