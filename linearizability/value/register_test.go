package value

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestRegisters(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(Register{}), []claimTest{
		{Name: "read, written, compared and set",
			Steps: `a read() empty; a write(x) empty; b read() -> x; b cas(["x","y"]) empty; ` +
				`a cas(["x","z"]) -> refused; a cas([null,"z"]) -> refused; b read() -> y`},
		{Name: "stale read", Bad: lin.Linearizability, Says: "b: read() -> x (steps 5 to 6)",
			Steps: "a write(x) empty; a write(y) empty; b read() -> x"},
		{Name: "a cas of another value", Bad: lin.Linearizability, Says: `cas(["x","y"])`,
			Steps: `a cas(["x","y"]) empty`},
		{Name: "a cas is refused although it fits", Bad: lin.Linearizability, Says: "-> refused",
			Steps: `a write(x) empty; a cas(["x","y"]) -> refused`},
		{Name: "a write of unknown outcome is seen", Steps: "a write(x) unknown; b read() -> x"},
		{Name: "a write of unknown outcome is not seen",
			Steps: "a write(x) unknown; a read() unknown; b read() empty"},
		{Name: "a write that failed is seen", Bad: lin.Linearizability, Says: "read() -> x",
			Steps: "a write(x) failed; b read() -> x"},
		{Name: "never returns", Bad: lin.Liveness,
			Says: "a's write (step 1, pending) never returned", Steps: "a write(x); rest"},
		{Name: "a goroutine is left", Bad: lin.Orphans, Says: "left at rest: a goroutine: loop",
			Build: func(f *fixture) { f.Left = &lin.Leftovers{Leaked: []string{"loop"}} }},
	})
}
