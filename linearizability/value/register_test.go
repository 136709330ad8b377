package value

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestRegisters(t *testing.T) {
	x := "x"
	judgingtest.CheckHistories(t, judgingtest.Always(Register{}), []claimTest{
		{Name: "read, written, compared and set", Build: func(f *fixture) {
			f.quick("a", ops.Read, "", "")
			f.quick("a", ops.Write, "x", "")
			f.quick("b", ops.Read, "", "x")
			f.quick("b", ops.CAS, OldNew(&x, "y"), "")
			f.quick("a", ops.CAS, OldNew(&x, "z"), ops.Refused)
			f.quick("a", ops.CAS, OldNew(nil, "z"), ops.Refused)
			f.quick("b", ops.Read, "", "y")
		}},
		{Name: "stale read", Bad: lin.Linearizability, Says: "b: read() -> x (steps 5 to 6)",
			Build: func(f *fixture) {
				f.quick("a", ops.Write, "x", "")
				f.quick("a", ops.Write, "y", "")
				f.quick("b", ops.Read, "", "x")
			}},
		{Name: "a cas of another value", Bad: lin.Linearizability, Says: `cas(["x","y"])`,
			Build: func(f *fixture) {
				f.quick("a", ops.CAS, OldNew(&x, "y"), "")
			}},
		{Name: "a cas is refused although it fits", Bad: lin.Linearizability, Says: "-> refused",
			Build: func(f *fixture) {
				f.quick("a", ops.Write, "x", "")
				f.quick("a", ops.CAS, OldNew(&x, "y"), ops.Refused)
			}},
		{Name: "a write of unknown outcome is seen", Build: func(f *fixture) {
			f.Ret(f.Call("a", ops.Write, "x"), lin.OpUnknown, lin.Result{})
			f.quick("b", ops.Read, "", "x")
		}},
		{Name: "a write of unknown outcome is not seen", Build: func(f *fixture) {
			f.Ret(f.Call("a", ops.Write, "x"), lin.OpUnknown, lin.Result{})
			f.Ret(f.Call("a", ops.Read, ""), lin.OpUnknown, lin.Result{})
			f.quick("b", ops.Read, "", "")
		}},
		{Name: "a write that failed is seen", Bad: lin.Linearizability, Says: "read() -> x",
			Build: func(f *fixture) {
				f.Ret(f.Call("a", ops.Write, "x"), lin.OpFailed, lin.Result{})
				f.quick("b", ops.Read, "", "x")
			}},
		{Name: "never returns", Bad: lin.Liveness, Says: "a's write (step 1, pending) never returned",
			Build: func(f *fixture) {
				f.Call("a", ops.Write, "x")
				f.Left = &lin.Leftovers{}
			}},
		{Name: "a goroutine is left", Bad: lin.Orphans, Says: "left at rest: a goroutine: loop",
			Build: func(f *fixture) { f.Left = &lin.Leftovers{Leaked: []string{"loop"}} }},
	})
}
