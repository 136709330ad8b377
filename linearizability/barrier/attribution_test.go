package barrier

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/custom"
)

// TestCallsThatEndFirstAreServedFirst: of two concurrent removals, the later call can have made the
// earlier change only.
func TestCallsThatEndFirstAreServedFirst(t *testing.T) {
	f := &fixture{}
	f.Plays("b raises; a remove(); a remove(); a deletes /b")
	f.Ret(1, lin.OpOK, lin.Result{})
	f.Plays("b raises; a deletes /b; a ok")
	h := f.History().Sorted()
	of, strays := custom.Attribute(h, h.Server, func(op lin.Op, i int) bool {
		return op.Kind == changer(h.Server[i])
	})
	if diff := cmp.Diff([][]int{{0}, {1}, {3}, {2}}, of); diff != "" || strays != nil {
		t.Errorf("strays %v, changes by call:\n%s", strays, diff)
	}
}
