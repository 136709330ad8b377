package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

// TestStolenLocks: only the server may revoke a lock.
func TestStolenLocks(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "blind release", Bad: lin.Safety,
			Says: "b deleted a's znode /lock/x at step 9, in b's unlock (steps 4 to 10), while a held " +
				"the lock",
			Steps: "b locks x; b unlock() deletes x!1; a locks x; b deletes x!1; b ok"},
		{Name: "release that hits its own znode only",
			Steps: "b locks x; b unlock() deletes x!1; a locks x; b ok; a unlocks x"},
		{Name: "snatched, then granted to another", Bad: lin.Belief, Says: "a and b both believe",
			Steps: "a locks x; b deletes x!1; b locks x"},
		{Name: "snatched before the good news", Bad: lin.Safety,
			Says:  "b deleted a's znode /lock/x at step 3 before a's lock returned",
			Steps: "a lock() owns x; b deletes x!1; a ok"},
		{Name: "by its own stray delete", Bad: lin.Safety,
			Says:  "a deleted its own znode /lock/x at step 4 while a held the lock",
			Steps: "a locks x; a deletes x!1"},
		{Name: "in the middle of its own unlock",
			Steps: "a locks x; a unlock(); b deletes x!1; a ok"},
		{Name: "told of a loss before", Steps: "a locks x; a told lost; b deletes x!1"},
		{Name: "told of a disconnect only", Bad: lin.Safety, Says: "b deleted a's znode",
			Steps: "a locks x; a told disconnected; b deletes x!1"},
		{Name: "closed its session", Steps: "a locks x; a expires x", Build: func(f *fixture) {
			for i := range f.H.Server[1:] {
				f.H.Server[i+1].Session, f.H.Server[i+1].Client = 1, "a"
			}
		}},
		{Name: "taken by the server: a TTL node", Bad: lin.Safety,
			Says: "the server deleted a's znode /lock/x (a TTL node or a container), and not with a " +
				"session, at step 4 while a held the lock",
			Steps: "a lock() creates x ok#2; server deletes x"},
		{Name: "taken by the server, then granted to another", Bad: lin.Belief,
			Says: "a and b both believe",
			Steps: "a lock() creates x ok#2; server deletes x; b lock() creates x ok#6; " +
				"b unlock() deletes x ok; a unlock() ok"},
		{Name: "taken by the server before the good news", Bad: lin.Safety,
			Says:  "before a's lock returned",
			Steps: "a lock() creates x; server deletes x; a ok#2"},
		{Name: "taken by the server after a lease that knew of its end",
			Steps: "a lock() creates x ok#2; a told lost; server deletes x; " +
				"b lock() creates x ok#7; a unlock() ok; b unlock() deletes x ok"},
		{Name: "a lease without tokens knew of its end, and another has it",
			Steps: "a lock() creates x ok#0; a told lost; server deletes x; " +
				"b lock() creates x ok#0; a unlock() ok; b unlock() deletes x ok"},
		{Name: "a lease without tokens did not know of its end", Bad: lin.Safety,
			Says: "a and b own the lock at once",
			Steps: "a lock() creates x ok#0; server deletes x; b lock() creates x ok#0; " +
				"a told lost; a unlock() ok; b unlock() deletes x ok"},
		{Name: "taken by the server after the end of the session",
			Steps: "a lock() creates x ok@1#2; a expires; server deletes x; " +
				"b lock() creates x ok#7; a told expired; b unlock() deletes x ok"},
		{Name: "taken by the server after the end of the process",
			Steps: "a lock() creates x ok#2; a told died; server deletes x; " +
				"b lock() creates x ok#7; b unlock() deletes x ok"},
		{Name: "taken by the server during the unlock",
			Steps: "a lock() creates x ok#2; a unlock(); server deletes x; a ok"},
		{Name: "reaped late, after the session's end",
			Steps: "a locks x; a expires; b deletes x!1"},
	})
}

func TestStolenLockIsNoZombieWindow(t *testing.T) {
	h := played("a locks a-0; b deletes a-0!1; a told expired")
	if r := judgingtest.Judge(h, nil, Claims{Path: "/lock"}); len(r.ZombieWindows) != 0 {
		t.Errorf("got %+v", r.ZombieWindows)
	}
}

// TestReentrantLockIsNotStolen: without tokens, a re-entrant lock looks like two holds, and the
// first has no unlock.
func TestReentrantLockIsNotStolen(t *testing.T) {
	h := played("a lock() owns a-0 ok#0; a lock() ok@1; a unlock() ok@1; a unlocks a-0")
	r := judgingtest.Judge(h, nil, Claims{Path: "/lock"})
	if v, _ := r.Verdict(lin.Safety); v.Status != lin.OK {
		t.Error(v)
	}
}
