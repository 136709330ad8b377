package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestUnlockGivesTheLockUp(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "granted again through it", Bad: lin.Liveness,
			Says:  "a was granted the lock through it again at step 7",
			Steps: "a locks a-0; a unlock() ok@1; a lock() ok@1#2; a unlocks a-0"},
		{Name: "for six seconds", Bad: lin.Liveness,
			Says:  "its znode /lock/a-0000000000 (created at step 2) lived on for 6.001s",
			Steps: "a locks a-0; a unlock() ok@1; pass 6000; a deletes a-0"},
		{Name: "to the end", Bad: lin.Liveness, Says: "lived on to the end",
			Steps: "a locks a-0; a unlock() ok@1; pass 6000"},
		{Name: "until the session's end", Bad: lin.Liveness,
			Says:  "lived on for 6.001s (the claim ClosesSession would allow it)",
			Steps: "a locks a-0; a unlock() ok@1; pass 6000; a expires a-0"},
		{Name: "until the session's end, as claimed", Opts: Claims{ClosesSession: true},
			Steps: "a locks a-0; a unlock() ok@1; pass 6000; a expires a-0"},
		{Name: "deleted late, although it claims to close the session",
			Opts: Claims{ClosesSession: true}, Bad: lin.Liveness, Says: "lived on for 6.001s",
			Steps: "a locks a-0; a unlock() ok@1; pass 6000; a deletes a-0"},
		{Name: "deleted in the background",
			Steps: "a locks a-0; a unlock() ok@1; a deletes a-0; pass 6000"},
		{Name: "deleted once connected again",
			Steps: "a locks a-0; a unlock() ok@1; a told disconnected; pass 6000; " +
				"a told connected; a deletes a-0"},
		{Name: "the session had ended",
			Steps: "a locks a-0; a expires; a unlock() ok@1; pass 6000; server deletes a-0"},
		{Name: "lost, as far as it knew",
			Steps: "a locks a-0; a told lost; a unlock() ok@1; pass 6000; a expires a-0"},
	})
}

// TestWriterMayGoOnAsReader through the same znode.
func TestWriterMayGoOnAsReader(t *testing.T) {
	h := played("a writes a-0; a lock(read) ok@1#2; a unlock(write) ok@1; pass 6000; " +
		"a unlock(read) deletes a-0 ok")
	v, bad := keptByUnlock(newTable(h, readWriteLock, Claims{Path: "/lock"}))
	if bad {
		t.Error(v)
	}
}
