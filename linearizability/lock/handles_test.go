package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

// TestHandlesOfOneClientExcludeEachOther, as those of two clients do.
func TestHandlesOfOneClientExcludeEachOther(t *testing.T) {
	kind := mutexOfHandles()
	const second = "handle 2"
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path, opts.Handles = "/lock", true
		return opts
	}, []lockTest{
		{Name: "one after the other", Build: func(f *fixture) {
			f.grants(kind, "a", 1, node("a", 0), "")
			f.gives(kind, "a", 1, node("a", 0), "")
			f.grants(kind, "a", 1, node("a", 1), second)
			f.gives(kind, "a", 1, node("a", 1), second)
			f.Left = &lin.Leftovers{}
		}},
		{Name: "both", Bad: lin.Safety, Says: "a and a (handle 2) own the lock at once: a since step",
			Build: func(f *fixture) {
				f.grants(kind, "a", 1, node("a", 0), "")
				f.grants(kind, "a", 1, node("a", 1), second)
			}},
		{Name: "both, not linearizable", Bad: lin.Linearizability, Says: "lock(handle 2) -> token",
			Build: func(f *fixture) {
				f.grants(kind, "a", 1, node("a", 0), "")
				f.grants(kind, "a", 1, node("a", 1), second)
			}},
		{Name: "a handle and another client", Bad: lin.Safety, Says: "a (handle 2) and b own the lock",
			Build: func(f *fixture) {
				f.grants(kind, "a", 1, node("a", 0), second)
				f.grants(kind, "b", 2, node("b", 1), "")
			}},
	})
}
