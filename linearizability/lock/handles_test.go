package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

// TestHandlesOfOneClientExcludeEachOther, as those of two clients do.
func TestHandlesOfOneClientExcludeEachOther(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path, opts.Handles = "/lock", true
		return opts
	}, []lockTest{
		{Name: "one after the other",
			Steps: "a locks a-0; a unlocks a-0; a lock(handle 2) owns a-1 ok; " +
				"a unlock(handle 2) deletes a-1!1 ok; rest"},
		{Name: "both", Bad: lin.Safety,
			Says:  "a and a (handle 2) own the lock at once: a since step",
			Steps: "a locks a-0; a lock(handle 2) owns a-1 ok"},
		{Name: "both, not linearizable", Bad: lin.Linearizability, Says: "lock(handle 2) -> token",
			Steps: "a locks a-0; a lock(handle 2) owns a-1 ok"},
		{Name: "a handle and another client", Bad: lin.Safety,
			Says:  "a (handle 2) and b own the lock",
			Steps: "a lock(handle 2) owns a-0 ok; b locks b-1"},
		{Name: "two sessions that are not told, one of them over",
			Steps: "a lock() owns a-0 unknown; a@7 lock(handle 2) owns a-1 ok@0#0; a@7 expires a-1; " +
				"b locks b-2"},
		{Name: "two sessions that are not told", Bad: lin.Safety,
			Says:  "a (handle 2) and b own the lock",
			Steps: "a lock() owns a-0 unknown; a@7 lock(handle 2) owns a-1 ok@0#0; b locks b-2"},
	})
}
