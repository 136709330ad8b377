package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

// TestLocksOnTTLNodes: the end of a session says nothing, and the end of a TTL ends a hold if the
// holder could not write.
func TestLocksOnTTLNodes(t *testing.T) {
	ttl := Claims{TTL: true}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "in turn", Opts: ttl, Steps: "a lock() creates x ok#2; a stores x=2; " +
			"a unlock() deletes x ok; b lock() creates x ok#9; b unlock() deletes x ok; rest"},
		{Name: "without tokens", Opts: ttl, Steps: "a lock() creates x ok#0; " +
			"a unlock() deletes x ok; b lock() creates x ok#0; b unlock() deletes x ok; rest"},
		{Name: "two at once", Opts: ttl, Bad: lin.Safety, Says: "a and b own the lock at once",
			Steps: "a lock() creates x ok#2; b lock() creates y ok#5"},
		{Name: "held beyond the session", Opts: ttl,
			Steps: "a lock() creates x ok@1#2; a expires; a told expired; pass 5; " +
				"a unlock() deletes x ok; b lock() creates x ok#15; b unlock() deletes x ok"},
		{Name: "granted after the end of the session before", Opts: ttl,
			Steps: "a starts; a expires; a told expired; a lock() creates x ok#5; " +
				"a unlock() deletes x ok"},
		{Name: "two at once, after the end of the session", Opts: ttl, Bad: lin.Safety,
			Says:  "a and b own the lock at once",
			Steps: "a lock() creates x ok@1#2; a expires; b lock() creates y ok#6"},
		{Name: "not renewed", Opts: ttl, Bad: lin.Safety,
			Says:  "the server (its TTL was over, though a could write to it) deleted a's znode /lock/x",
			Steps: "a lock() creates x ok#2; server deletes x; a unlock() ok"},
		{Name: "cut off", Opts: ttl,
			Steps: "a lock() creates x ok#2; a told disconnected; server deletes x; " +
				"b lock() creates x ok#7; b unlock() deletes x ok; a unlock() failed"},
		{Name: "cut off before the last write", Opts: ttl, Bad: lin.Safety, Says: "though a could",
			Steps: "a lock() creates x ok#2; a told disconnected; a told connected; a stores x=2; " +
				"server deletes x; a unlock() ok"},
		{Name: "waits for an answer", Opts: ttl,
			Steps: "a lock() creates x ok#2; a told unanswered; server deletes x; " +
				"a told lost; a unlock() ok"},
		{Name: "taken by another", Opts: ttl, Bad: lin.Safety, Says: "b deleted a's znode /lock/x",
			Steps: "a lock() creates x ok#2; a told disconnected; b deletes x; a unlock() ok"},
		{Name: "left at rest", Opts: ttl,
			Steps: "a lock() creates x ok#2; a unlock() failed; rest . x"},
		{Name: "the same without the claim", Bad: lin.Orphans, Says: "/lock/x",
			Steps: "a lock() creates x ok#2; a unlock() ok; rest . x"},
	})
}
