package lock

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

type lockTest = historyTest[Claims]

// lockAt claims a lock, at /lock by default.
func lockAt(opts Claims) lin.Claims {
	opts.Path = cmp.Or(opts.Path, "/lock")
	return opts
}

func TestLockSafetyBeliefAndFencing(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "one after the other",
			Steps: "a locks a-0; a unlocks a-0; b locks b-1; b unlocks b-1; rest"},
		{Name: "two at once", Bad: lin.Safety, Says: "a and b own the lock at once",
			Steps: "a locks a-0; b locks b-1"},
		{Name: "two at once, believed", Bad: lin.Belief,
			Says:  "a and b both believe that they hold the lock at step 6",
			Steps: "a locks a-0; b locks b-1"},
		{Name: "two at once, not linearizable", Bad: lin.Linearizability,
			Says: "these exclude each other: a: lock()", Steps: "a locks a-0; b locks b-1"},
		{Name: "zombie",
			Steps: "a locks a-0; a expires a-0; b locks b-1; a told expired; b unlocks b-1; rest"},
		{Name: "told, but the session znodes on", Bad: lin.Safety,
			Says:  "a and b own the lock at once",
			Steps: "a locks a-0; a told disconnected; b locks b-1"},
		{Name: "good news after the expiry",
			Steps: "a lock() owns a-0; a expires a-0; b locks b-1; a ok; a told expired; " +
				"b unlocks b-1; rest"},
		{Name: "phantom: told of the expiry before", Bad: lin.Safety,
			Says:  "client a returned from lock at step 5 without a znode of its own",
			Steps: "a lock() owns a-0; a expires a-0; a told expired; a ok"},
		{Name: "phantom: in a new session", Bad: lin.Safety,
			Says:  "belongs to session 0x1, but the client is in session 0x2",
			Steps: "a starts; a lock() owns a-0; a expires a-0; a@2 starts; a ok#0"},
		{Name: "phantom: the dying session's znode is adopted", Bad: lin.Safety,
			Says:  "belongs to session 0x1",
			Steps: "a lock() owns a-0; a expires; a@2 starts; a ok"},
		{Name: "phantom: the session had ended before the call", Bad: lin.Safety,
			Says: "/lock/a-0000000000 belongs to session 0x1, which had ended at step 2, before " +
				"the call",
			Steps: "a owns a-0; a expires; a starts; a lock() ok@0#0"},
		{Name: "phantom: the session of a token had ended before the call", Bad: lin.Safety,
			Says:  "which had ended at step 2, before the call",
			Steps: "a owns a-0; a expires; a lock() ok@0#1"},
		{Name: "phantom: the session ended during the call, and its client knew", Bad: lin.Safety,
			Says:  "which had ended at step 3, and the client was told so (session expired) at step 4",
			Steps: "a lock() owns a-0; a expires; a told expired; a@2 starts; a ok@0#0"},
		{Name: "told of the end of a session that began before the log",
			Steps: "a starts; a lock() owns a-0; a@2 expires; a told expired; a ok@0#0; " +
				"a unlocks a-0; rest"},
		{Name: "phantom: the client was told, and the znode is not gone yet", Bad: lin.Safety,
			Says:  "the client was told at step 4 that it had ended",
			Steps: "a starts; a lock() owns a-0; a told expired; a@2 starts; a ok@0#0"},
		{Name: "told late of the end of an earlier session",
			Steps: "a@2 starts; a@2 expires; a starts; a lock() owns a-0; a told expired; a ok@0#0; " +
				"a unlocks a-0; rest"},
		{Name: "told of the end of another session",
			Steps: "a@2 starts; a starts; a lock() owns a-0; a told expired; a ok@0#0; " +
				"a unlocks a-0; rest"},
		{Name: "phantom: the client was told which of its sessions had ended", Bad: lin.Safety,
			Says:  "belongs to session 0x1, and the client was told at step 5 that it had ended",
			Steps: "a@2 starts; a starts; a lock() owns a-0; a told expired@1; a ok@0#0"},
		{Name: "told that its other session had ended",
			Steps: "a@2 starts; a starts; a lock() owns a-0; a told expired@2; a ok@0#0; " +
				"a unlocks a-0; rest"},
		{Name: "told that its other session had ended, when its own had, too",
			Steps: "a@2 starts; a lock() owns a-0; a expires a-0; a told expired@2; a ok@0#0; " +
				"a told expired@1; b locks b-1; b unlocks b-1; rest"},
		{Name: "a znode of no session, and two sessions",
			Steps: "a@2 starts; a starts; a lock() creates a-0; a told expired; a ok@0#3; " +
				"b lock(); a unlock() deletes a-0 ok; b creates b-1 ok@0#9; b unlock() deletes b-1 ok; rest"},
		{Name: "the session ended during the call",
			Steps: "a lock() owns a-0; a expires; a ok@0#0; a told expired; server deletes a-0; " +
				"b locks b-1; b unlocks b-1; rest"},
		{Name: "another session of the client ended during the call",
			Steps: "a@2 owns a-5; a lock() owns a-0; a expires; a told expired; a ok@0#3; " +
				"server deletes a-0; a unlock() ok; a deletes a-5"},
		{Name: "phantom: another client's znode is adopted", Bad: lin.Safety,
			Says: "it adopted /lock/b-0000000000, which client b made at step 7 in session " +
				"0x1, but the client is in session 0x2",
			Steps: "a@2 locks a-0; a@2 unlocks a-0; b@1 owns b-0; a lock() ok@2#7"},
		{Name: "phantom: never created", Bad: lin.Safety, Says: "it never created one",
			Steps: "a locks a-0; a unlocks a-0; b lock() ok@2"},
		{Name: "phantom: deleted by itself", Bad: lin.Safety,
			Says:  "/lock/a-0000000000 was gone since step 5 (a deleted it), before the call",
			Steps: "a locks a-0; a unlocks a-0; a lock() ok"},
		{Name: "an unlock that deletes nothing", Bad: lin.Fencing,
			Says: "with the equal token at step 7, because /lock/a-0000000000 lived on after a's unlock " +
				"(steps 4 to 5): no resource",
			Steps: "a lock() owns a-0 ok@1#2; a unlock() ok; b lock() ok@2#2"},
		{Name: "tokens fall", Bad: lin.Fencing,
			Says:  "b was granted the lock at step 7 with token 2, but a had token 3",
			Steps: "b lock() owns b-0; a owns a-1; a lock() ok@1#3; a deletes a-1; b ok"},
		{Name: "an unlock that failed, without the log", Bad: lin.Safety,
			Says:  "a and b own the lock at once",
			Steps: "unlogged; a lock() ok; a unlock() failed; b lock() ok"},
		{Name: "an unlock that failed ends no belief", Bad: lin.Belief,
			Says:  "a and b both believe that they hold the lock",
			Steps: "unlogged; a lock() ok; a unlock() failed; b lock() ok"},
		{Name: "an unlock that failed is repeated",
			Steps: "unlogged; a lock() ok; a unlock() failed; a unlock() ok; b lock() ok"},
		{Name: "b waits for the second unlock", Bad: lin.Safety,
			Says: "a and b own the lock at once",
			Steps: "unlogged; a lock() ok; a unlock() failed; b lock() ok; a unlock() ok; " +
				"b unlock() ok"},
		{Name: "an unlock finds that the lock was lost",
			Steps: "unlogged; a lock() ok; b lock(); a unlock() not-held; b ok; b unlock() ok"},
		{Name: "a lock that was lost was lost once", Bad: lin.Linearizability,
			Says: "no order of the operations explains",
			Steps: "unlogged; a lock() ok; a unlock() not-held; b lock() ok; c lock() ok; " +
				"b unlock() ok"},
		{Name: "the log does not show that a failed unlock ended it", Bad: lin.Safety,
			Says:  "deleted",
			Steps: "a locks a-0; a unlock() failed; b deletes a-0; a unlock() ok"},
		{Name: "an unlock that may have had an effect",
			Steps: "unlogged; a lock() ok; a unlock() unknown; b lock() ok"},
		{Name: "the log knows better than a failed unlock",
			Steps: "a locks a-0; a unlock() deletes a-0 failed; b locks b-1; b unlocks b-1; rest"},
		{Name: "unlock is idempotent after an expiry",
			Steps: "a locks a-0; a expires a-0; a unlock() ok; rest"},
		{Name: "an unlock without a hold is no violation",
			Steps: "a unlock() ok; a locks a-0; a unlocks a-0; a unlock() ok; b unlock() ok; rest"},
		{Name: "an unlock without a hold has no effect", Bad: lin.Safety,
			Says:  "a and b own the lock at once",
			Steps: "a locks a-0; b unlock() ok; b locks b-1"},
		{Name: "unlock lost its reply",
			Steps: "a locks a-0; a unlock() deletes a-0!1; b locks b-1; a unknown; " +
				"b unlocks b-1; rest"},
		{Name: "re-entrant",
			Steps: "a locks a-0; a lock() ok@1#2; a unlock() ok; a unlocks a-0; rest"},
	})
}

func TestLockWithoutServerLog(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "one after the other",
			Steps: "a lock() ok; a unlock() ok; b lock() ok; b unlock() ok"},
		{Name: "two at once", Bad: lin.Safety, Says: "a and b own",
			Steps: "a lock() ok; b lock() ok"},
		{Name: "a was told of an expiry before",
			Steps: "a lock() ok; b lock(); a told expired; b ok"},
		{Name: "an expiry after a release, and after the next grant", Bad: lin.Safety,
			Says: "a and b own the lock at once",
			Steps: "a lock() ok; b lock() ok; a unlock() ok; b unlock() ok; a lock() ok; " +
				"a unlock() ok; a told expired"},
		{Name: "an expiry some time after the release",
			Steps: "a lock() ok; a unlock() ok; b lock() ok; b unlock() ok; a told expired"},
		{Name: "b had it all the time in which a lost it", Bad: lin.Linearizability,
			Says:  "these exclude each other",
			Steps: "b lock() ok; a lock() ok; a unlock() not-held; b unlock() ok"},
		{Name: "two at once, while another one releases", Bad: lin.Linearizability,
			Says:  "these exclude each other: c: lock() -> ok (steps 2 to 6) and a: lock() -> ok",
			Steps: "b lock(); c lock(); b ok; a lock(); b unlock(); c ok; b ok; a ok; c unlock() ok"},
		{Name: "granted again after a loss",
			Steps: "a lock() ok; a told lost; a lock() ok; a unlock() ok; b lock() ok"},
		{Name: "two at once, and a had been granted it again", Bad: lin.Safety,
			Says: "a and b own", Steps: "a lock() ok; a told lost; a lock() ok; b lock() ok"},
		{Name: "unlock unknown, then granted to another",
			Steps: "a lock() ok; a unlock() unknown; b lock() ok; b unlock() ok"},
	})
}

// TestALossAtAnUnknownStepIsUndecided: without the server's log nobody knows whether the next owner
// was granted the lock before it or after it.
func TestALossAtAnUnknownStepIsUndecided(t *testing.T) {
	for _, steps := range []string{
		"unlogged; a lock() ok; b lock(); b ok; a unlock() not-held; b unlock() ok",
		"unlogged; a lock() ok; b lock() ok; a told expired",
		"unlogged; a lock() ok; b lock() ok; a told lost; b unlock() ok; c lock() ok",
		"unlogged; a lock() ok; b lock() ok; a unlock() ok; b unlock() ok; a told expired",
	} {
		r := judgingtest.Judge(played(steps), nil, Claims{})
		for _, p := range []string{lin.Safety, lin.Belief} {
			v, _ := r.Verdict(p)
			check.Equal(t, v.Status, lin.Unknown, "%s: %s", steps, v)
			check.Contains(t, v.Summary, "a and b may have had the lock at once since step 4: "+
				"a, who was granted it at step 2, lost it at an unknown step before ")
		}
		check.Equal(t, r.Status(), lin.Unknown, "%s", steps)
	}
}

func TestLockFairnessAndHerd(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "in turn", Opts: Claims{Fair: true, MaxHerd: 1},
			Steps: "a locks a-0; b lock() owns b-1; a unlocks a-0; b ok"},
		{Name: "overtaken", Opts: Claims{Fair: true}, Bad: lin.Order, Says: "b overtook a",
			Steps: "a lock() owns a-0; b locks b-1; b unlocks b-1; a ok"},
		{Name: "no claim to fairness",
			Steps: "a lock() owns a-0; b lock() owns b-1 ok#0; b unlocks b-1; a ok#0"},
		{Name: "overtaken for good", Opts: Claims{Fair: true}, Bad: lin.Order,
			Says:  "while a waited with the older /lock/a-0000000000",
			Steps: "a lock() owns a-0; b locks b-1"},
		{Name: "herd", Opts: Claims{MaxHerd: 1}, Bad: lin.Herd,
			Says:  "the release at step 5 fired 7 watch notifications",
			Steps: "a locks a-0; a unlock() deletes a-0!7 ok"},
	})
}

func TestLockLivenessAndOrphans(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "waiting behind a holder",
			Steps: "a locks a-0; b lock() owns b-1; rest . a-0 b-1; b waits lock a-0"},
		{Name: "self-deadlock", Bad: lin.Liveness,
			Says: "client b waits for /lock/b-0000000000, which belongs to b's own session 0x2 " +
				"and was left by b's lock (first attempt, create at step 2): b takes it for " +
				"another's", Steps: "b lock() owns b-0 owns b-1; rest b-0 b-1; b waits lock b-0",
			Build: ownersAreKnown},
		{Name: "perhaps behind another goroutine", Bad: lin.Liveness,
			Says:  "and was left by b's lock (step 1, pending): b takes it for another's",
			Steps: "b lock() owns b-0 owns b-1; b lock(); rest b-0 b-1; b waits lock b-0",
			Build: ownersAreKnown},
		{Name: "behind what its unlock did not delete", Bad: lin.Liveness,
			Says: "was left by b's lock (steps 1 to 3), and lived on after b's unlock (steps 4 to 5): " +
				"b takes it for another's", Steps: "b lock() owns b-0 ok; b unlock() ok; " +
				"b lock() owns b-1; rest b-0 b-1; b waits lock b-0", Build: ownersAreKnown},
		{Name: "behind a forgotten znode", Bad: lin.Liveness,
			Says: "and was left by a's lock (steps 1 to 3, unknown: connection closed): a does " +
				"not know of it, and nobody will delete it",
			Steps: "a lock() owns a-0 unknown; b lock() owns b-1; rest a-0 b-1; b waits lock a-0"},
		{Name: "forgotten znode", Bad: lin.Orphans,
			Says:  "/lock/a-0000000000 (session 0x1) was left by a's lock",
			Steps: "a lock() owns a-0 unknown; b lock() owns b-1; rest a-0 b-1; b waits lock a-0"},
		{Name: "forgotten znode is allowed",
			Opts:  Claims{AllowedAtRest: []string{"/lock/a-*", "/lock/deep/a-*"}},
			Steps: "a lock() owns a-0 unknown; rest a-0"},
		{Name: "behind a client that waits behind a forgotten znode", Bad: lin.Liveness,
			Says: "client b waits for /lock/a-0000000000, which belongs to a's session 0x1 and " +
				"was left",
			Steps: "c lock() owns c-2; a lock() owns a-0 unknown; b lock() owns b-1; " +
				"rest a-0 b-1 c-2; b waits lock a-0; c waits lock b-1"},
		{Name: "a lost delete of a forgotten znode", Bad: lin.Orphans,
			Says: "was left by a's lock (steps 1 to 3, unknown: connection closed); a delete of " +
				"it was lost at step 4",
			Steps: "a lock() owns a-0 unknown; b lock() owns b-1; rest a-0 b-1",
			Build: func(f *fixture) { f.Left.Nodes[0].LostDelete = 4 }},
		{Name: "polling a forgotten znode", Bad: lin.Liveness,
			Says: "client b polls /lock/a-0000000000, 9 times so far, which belongs to a's " +
				"session 0x1",
			Steps: "a lock() owns a-0 unknown; b lock() owns b-1; rest a-0 b-1; " +
				"b waits lock a-0 9"},
		{Name: "refused because of a forgotten znode", Bad: lin.Liveness,
			Says: "client b gets no further because of /lock/a-0000000000 (create: NodeExists, 9 " +
				"times so far), which belongs to a's session 0x1 and was left by a's lock",
			Steps: "a lock() owns a-0 unknown; b lock(); rest a-0; " +
				"b waits lock a-0 9 create: NodeExists"},
		{Name: "behind a forgotten child of a watched directory", Bad: lin.Liveness,
			Says: "waits for /lock/a-0000000000, which belongs to a's session 0x1 and " +
				"was left by a's lock (steps 1 to 3, unknown: connection closed)",
			Steps: "a lock() owns a-0 unknown; c lock() owns c-1; b lock() owns b-2; " +
				"rest . a-0 b-2 c-1; b waits lock .; c waits lock .", Build: ownersAreKnown},
		{Name: "behind the znode of the very call", Bad: lin.Liveness,
			Says: "client b waits for /lock/b-0000000000, which belongs to b's session 0x2: " +
				"b's lock (step 1, pending) itself made it, and so waits for its own znode",
			Steps: "b lock() owns b-0; rest b-0; b waits lock b-0", Build: ownersAreKnown},
		{Name: "behind the znode by which the writer of the same call reads", Bad: lin.Liveness,
			Says: "client b waits for /lock/read-0000000000, which belongs to b's session 0x2: " +
				"b's lock (step 1, pending) itself made it",
			Steps: "b lock() owns read-0 owns write-1; a lock() owns write-2; " +
				"rest read-0 write-1 write-2; a waits lock write-1; b waits lock read-0",
			Build: ownersAreKnown},
		{Name: "waits though its znode is the oldest", Bad: lin.Liveness,
			Opts:  Claims{AllowedAtRest: []string{"/lock/deep"}},
			Says:  "although its own znode /lock/b-0000000000 is the oldest there",
			Steps: "b lock() owns b-0; rest . b-0; b waits lock .",
			Build: ownersAreKnown},
		{Name: "its place is gone", Bad: lin.Liveness,
			Opts: Claims{AllowedAtRest: []string{"/lock/deep"}},
			Says: "b's own znode /lock/b-0000000000 went at step 3, when session 0x2 ended, and " +
				"then client b waits for /lock, which has no child",
			Steps: "b lock() owns b-0; b expires b-0; rest .; b waits lock ."},
		{Name: "behind each other", Bad: lin.Liveness,
			Says: "client a waits for /lock/b-0000000001, which belongs to b's session 0x2, who " +
				"is waiting too, for /lock/a-0000000000, which belongs to a's session 0x1, who " +
				"is waiting too: a circle, and nobody in it goes on",
			Steps: "a lock() owns a-0; b lock() owns b-1; rest a-0 b-1; " +
				"a waits lock b-1; b waits lock a-0", Build: ownersAreKnown},
		{Name: "three behind each other", Bad: lin.Liveness,
			Says: "client a waits for /lock/b-0000000001, which belongs to b's session 0x2, who " +
				"is waiting too, for /lock/c-0000000002, which belongs to c's session 0x3, who " +
				"is waiting too, for /lock/a-0000000000, which belongs to a's session 0x1, who " +
				"is waiting too: a circle, and nobody in it goes on",
			Steps: "a lock() owns a-0; b lock() owns b-1; c lock() owns c-2; rest a-0 b-1 c-2; " +
				"a waits lock b-1; b waits lock c-2; c waits lock a-0", Build: ownersAreKnown},
		{Name: "behind a persistent znode that had children", Bad: lin.Liveness,
			Opts: Claims{AllowedAtRest: []string{"/lock/dir", "/lock/deep", "/lock/deep/dir"}},
			Says: "client b waits for /lock/dir, which has no child and is persistent and was " +
				"left by a's lock (steps 1 to 4): no session's end will delete it",
			Steps: "a lock() creates dir owns dir/a-0 ok; a unlock() deletes dir/a-0 ok; " +
				"b lock(); rest dir; b waits lock dir"},
		{Name: "polling behind a holder",
			Steps: "a locks a-0; b lock(); rest a-0; b waits lock a-0 9"},
		{Name: "polling a znode that is gone", Bad: lin.Liveness,
			Says: "client b polls /lock/a-0000000000, 9 times so far, which does not exist, and " +
				"b's lock (step 1, pending) never returned", Steps: "b lock(); b waits lock a-0 9"},
		{Name: "missed wake-up", Bad: lin.Liveness,
			Says:  "which does not exist: it missed the delete",
			Steps: "b lock() owns b-1; rest b-1; b waits lock a-0"},
		{Name: "missed wake-up by an unlock", Bad: lin.Liveness,
			Says:  "does not exist: a deleted it at step 5, in a's unlock (steps 4 to 6): it missed",
			Steps: "a locks a-0; a unlocks a-0; b lock() owns b-1; rest b-1; b waits lock a-0"},
		{Name: "dead session's znode", Bad: lin.Liveness,
			Says: "that session has ended, but the znode is still there",
			Steps: "a lock() owns a-0 unknown; b lock() owns b-1; a expires; rest a-0 b-1; " +
				"b waits lock a-0"},
		{Name: "unlock hangs", Bad: lin.Liveness,
			Says:  "a's unlock (step 4, pending) never returned",
			Steps: "a locks a-0; a unlock(); rest"},
		{Name: "wedged in one more attempt", Bad: lin.Liveness, Says: "wedged: a's lock has failed",
			Steps: "a lock()", Build: func(f *fixture) {
				f.Left = &lin.Leftovers{Waiting: []lin.Wait{{Client: "a", Op: ops.Lock}},
					Wedged: []string{"a's lock has failed 99 times"}}
			}},
		{Name: "wedged", Bad: lin.Liveness, Says: "wedged: a in Close",
			Build: func(f *fixture) { f.Left = &lin.Leftovers{Wedged: []string{"a in Close"}} }},
		{Name: "leaks", Bad: lin.Orphans,
			Says: "session 0x9 is alive and nobody's (and 2 more: a watch of a on /lock/x, " +
				"though a waits for nothing; a goroutine: loop)", Build: func(f *fixture) {
				f.Left = &lin.Leftovers{Sessions: []lin.SessionAtRest{{ID: 9}, {ID: 1, Client: "a"}},
					Watches: []lin.WatchAtRest{{Client: "a", Path: "/lock/x"}}, Leaked: []string{"loop"}}
			}},
	})
}

// ownersAreKnown tells the client of each znode at rest.
func ownersAreKnown(f *fixture) {
	for i, n := range f.Left.Nodes {
		f.Left.Nodes[i].OwnerClient = string(rune('a' + n.Owner - 1))
	}
}

// TestOtherKindsAreJudgedAsLocks: they share the judge of a lock, and add to it.
func TestOtherKindsAreJudgedAsLocks(t *testing.T) {
	claims := Claims{Path: "/lock", MaxHerd: 1}
	for name, kind := range map[string]lin.Claims{
		"reentrant": Reentrant(claims), "revocable": Revocable{Claims: claims},
	} {
		t.Run(name, func(t *testing.T) {
			judgingtest.CheckHistories(t, judgingtest.Always(kind), []claimTest{
				{Name: "two at once", Bad: lin.Safety, Steps: "a locks a-0; b locks b-1"},
				{Name: "two at once, believed", Bad: lin.Belief, Steps: "a locks a-0; b locks b-1"},
				{Name: "two at once, not linearizable", Bad: lin.Linearizability,
					Steps: "a locks a-0; b locks b-1"},
				{Name: "another token", Bad: lin.Fencing, Steps: "a locks a-0; a use() ok#3"},
				{Name: "taken by the server without a session", Bad: lin.Safety,
					Steps: "a lock() creates x ok#2; server deletes x"},
				{Name: "taken by the server after a lease that knew of its end",
					Steps: "a lock() creates x ok#2; a told lost; server deletes x; a unlock() ok"},
				{Name: "behind a forgotten znode", Bad: lin.Liveness,
					Steps: "a lock() owns a-0 unknown; b lock() owns b-1; rest a-0 b-1; " +
						"b waits lock a-0"},
				{Name: "forgotten znode", Bad: lin.Orphans,
					Steps: "a lock() owns a-0 unknown; b lock() owns b-1; rest a-0 b-1; " +
						"b waits lock a-0"},
				{Name: "herd", Bad: lin.Herd, Steps: "a locks a-0; a unlock() deletes a-0!7 ok"},
			})
		})
	}
}

func TestPendingCallIsUnknownWithoutLeftovers(t *testing.T) {
	r := judgingtest.Judge(played("a lock()"), nil, Claims{})
	if v, _ := r.Verdict(lin.Liveness); v.Status != lin.Unknown || r.Status() != lin.Unknown ||
		r.First().Property != lin.Liveness {
		t.Errorf("got\n%s", r)
	}
}

func TestZombieWindowIsMeasured(t *testing.T) {
	h := played("a locks a-0; a expires a-0; b locks b-1; a told expired; b unlocks b-1")
	r := judgingtest.Judge(h, nil, Claims{Path: "/lock"})
	want := lin.ZombieWindow{Client: "a", Session: 1, Path: node("a", 0), From: 4, To: 8, Duration: 4e6}
	if len(r.ZombieWindows) != 1 || r.ZombieWindows[0] != want {
		t.Errorf("got %+v, want %+v", r.ZombieWindows, want)
	}
	if r.Granted != 2 || r.LongestWait != 2e6 || r.MaxHerd != 1 {
		t.Errorf("got %d granted, the longest wait %s, herd %d", r.Granted, r.LongestWait,
			r.MaxHerd)
	}
}

// TestATokenStaysTheSame: a token that is read late in a hold is the one of the grant.
func TestATokenStaysTheSame(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(Claims{Path: "/lock"}), []claimTest{
		{Name: "the same", Steps: "a locks a-0; a use() ok@1#2; a unlocks a-0"},
		{Name: "no token was read", Steps: "a locks a-0; a use() ok@1#0; a unlocks a-0"},
		{Name: "another", Bad: lin.Fencing, Says: "but reads token 3 at step",
			Steps: "a locks a-0; a use() ok@1#3; a unlocks a-0"},
		{Name: "after the unlock", Steps: "a locks a-0; a unlocks a-0; a use() ok@1#3"},
		{Name: "after the end of the session", Steps: "a locks a-0; a expires a-0; a use() ok@1#3"},
	})
}

// node returns the path of the n-th lock znode of a client.
func node(client string, n int) string { return fmt.Sprintf("/lock/%s-%010d", client, n) }
