package linearizability

import (
	"testing"

	"github.com/zksim/zksim/linearizability/ops"
)

func TestRegisters(t *testing.T) {
	x := "x"
	checkHistories(t, always(Register{}), []claimTest{
		{name: "read, written, compared and set", build: func(f *fixture) {
			f.quick("a", ops.Read, "", "")
			f.quick("a", ops.Write, "x", "")
			f.quick("b", ops.Read, "", "x")
			f.quick("b", ops.CAS, OldNew(&x, "y"), "")
			f.quick("a", ops.CAS, OldNew(&x, "z"), ops.Refused)
			f.quick("a", ops.CAS, OldNew(nil, "z"), ops.Refused)
			f.quick("b", ops.Read, "", "y")
		}},
		{name: "stale read", bad: Linearizability, says: "b: read() -> x (steps 5 to 6)",
			build: func(f *fixture) {
				f.quick("a", ops.Write, "x", "")
				f.quick("a", ops.Write, "y", "")
				f.quick("b", ops.Read, "", "x")
			}},
		{name: "a cas of another value", bad: Linearizability, says: `cas(["x","y"])`,
			build: func(f *fixture) {
				f.quick("a", ops.CAS, OldNew(&x, "y"), "")
			}},
		{name: "a cas is refused although it fits", bad: Linearizability, says: "-> refused",
			build: func(f *fixture) {
				f.quick("a", ops.Write, "x", "")
				f.quick("a", ops.CAS, OldNew(&x, "y"), ops.Refused)
			}},
		{name: "a write of unknown outcome is seen", build: func(f *fixture) {
			f.ret(f.call("a", ops.Write, "x"), OpUnknown, Result{})
			f.quick("b", ops.Read, "", "x")
		}},
		{name: "a write of unknown outcome is not seen", build: func(f *fixture) {
			f.ret(f.call("a", ops.Write, "x"), OpUnknown, Result{})
			f.ret(f.call("a", ops.Read, ""), OpUnknown, Result{})
			f.quick("b", ops.Read, "", "")
		}},
		{name: "a write that failed is seen", bad: Linearizability, says: "read() -> x",
			build: func(f *fixture) {
				f.ret(f.call("a", ops.Write, "x"), OpFailed, Result{})
				f.quick("b", ops.Read, "", "x")
			}},
	})
}
