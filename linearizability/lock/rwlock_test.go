package lock

import (
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestRWLocks(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/lock"
		return ReadWrite(opts)
	}, []lockTest{
		{Name: "two readers",
			Steps: "a reads a-0; b reads b-1; a endsRead a-0; b endsRead b-1; c writes c-2; " +
				"c endsWrite c-2; rest"},
		{Name: "reader and writer", Bad: lin.Safety, Says: "a and b own the lock at once",
			Steps: "a reads a-0; b writes b-1"},
		{Name: "a reader's znode with the number of its writer", Bad: lin.Safety,
			Says:  "a was granted it although b's /lock/b-0000000000 was there",
			Steps: "a lock(write) owns a-1; b reads b-0; a ok"},
		{Name: "a reader's znode with a greater number", Bad: lin.Safety,
			Says:  "b was granted it although the older /lock/a-0000000000 was there",
			Steps: "a lock(write) owns a-0; b reads b-1; a ok"},
		{Name: "reader and writer, believed", Bad: lin.Belief,
			Says:  "a and b both believe that they hold the lock",
			Steps: "a reads a-0; b writes b-1"},
		{Name: "reader and writer, not linearizable", Bad: lin.Linearizability,
			Says:  "these exclude each other: a: lock(read) -> token 2 (steps 1 to 3) and b: lock(write)",
			Steps: "a reads a-0; b writes b-1"},
		{Name: "two writers", Bad: lin.Safety, Says: "a and b own the lock at once",
			Steps: "a writes a-0; b writes b-1"},
		{Name: "the writer reads on",
			Steps: "a writes a-0; a reads a-7; a endsWrite a-0; b reads b-1; b endsRead b-1; " +
				"a endsRead a-7; rest"},
		{Name: "a reader's token from before the writer", Bad: lin.Fencing,
			Says:  "b was granted the lock at step 7 with token 2",
			Steps: "b lock(read) owns b-1; a writes a-0; a deletes a-0; b ok"},
		{Name: "a reader overtakes a reader", Opts: Claims{Fair: true},
			Steps: "a lock(read) owns a-0; b reads b-1; b endsRead b-1; a ok"},
		{Name: "a reader overtakes a writer", Opts: Claims{Fair: true}, Bad: lin.Order,
			Says:  "b overtook a",
			Steps: "a lock(write) owns a-0; b reads b-1; b endsRead b-1; a ok"},
		{Name: "a reader waits behind a writer",
			Steps: "a reads a-0; b lock(write) owns b-1; c lock(read) owns c-2; " +
				"rest a-0 b-1 c-2; b waits lock a-0; c waits lock b-1"},
		{Name: "a reader waits for a reader", Bad: lin.Liveness,
			Says:  "client c waits for /lock/a-0000000000",
			Steps: "a reads a-0; c lock(read) owns c-2; rest a-0 c-2; c waits lock a-0"},
		{Name: "a znode is left", Bad: lin.Orphans, Says: "/lock/a-0000000000",
			Steps: "a lock(read) owns a-0 unknown; rest a-0"},
		{Name: "a herd", Opts: Claims{MaxHerd: 1}, Bad: lin.Herd,
			Says:  "fired 3 watch notifications",
			Steps: "a writes a-0; a unlock(write) deletes a-0!3 ok"},
	})
}

func randomRWLock(t *rapid.T) lin.History {
	return randomHolds(t, readWriteLock, ops.ReadMode, ops.ReadMode, ops.WriteMode)
}

func judgeFairRWLock(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, ReadWrite(fairLock))
}

func TestCorrectRWLocksAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomRWLock, judgeFairRWLock)
}

func TestBrokenRWLocksAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomRWLock, judgeFairRWLock, lockMutations(readWriteLock, 60))
}

func TestWriterThatReadsOn(t *testing.T) {
	fair := Claims{Path: "/lock", Fair: true, MaxHerd: 1}
	judgingtest.CheckHistories(t, judgingtest.Always(ReadWrite(fair)), []claimTest{
		{Name: "before the writer who waits",
			Steps: "a writes a-0; b lock(write) owns b-1; a lock(read) owns a-2 ok#2; " +
				"a endsWrite a-0; a endsRead a-2; b ok"},
		{Name: "without a znode", Bad: lin.Safety,
			Says:  "a deleted its own znode /lock/a-0000000000",
			Steps: "a writes a-0; b lock(write) owns b-1; a lock(read) ok@1#2; a endsWrite a-0"},
		{Name: "with the znode by which it wrote",
			Steps: "a writes a-0; a lock(read) ok@1#2; a unlock(write) ok; a endsRead a-0"},
		{Name: "and a writer is let in", Bad: lin.Safety, Says: "a and b own the lock at once",
			Steps: "a writes a-0; b lock(write) owns b-1; a lock(read) owns a-2 ok#2; " +
				"a endsWrite a-0; b ok"},
		{Name: "after its node was deleted", Bad: lin.Safety, Says: "c deleted a's znode",
			Steps: "a writes a-0; b lock(write) owns b-1; a lock(read) owns a-2 ok#2; " +
				"a endsWrite a-0; c deletes a-2"},
		{Name: "with a znode of another session", Bad: lin.Safety,
			Says:  "belongs to session 0x4, but the client is in session 0x1",
			Steps: "a writes a-0; a@4 lock(read) owns a-2 ok@1#2"},
		{Name: "given up by the first of two unlocks", Bad: lin.Safety,
			Says:  "before its last unlock",
			Steps: "a reads a-0; a lock(read) ok@1#2; a endsRead a-0"},
	})
}

// TestReadersWokenTogetherAreNoHerd: a waiter that is woken in vain counts.
func TestReadersWokenTogetherAreNoHerd(t *testing.T) {
	claims := ReadWrite{Path: "/lock", MaxHerd: 1}
	judgingtest.CheckHistories(t, judgingtest.Always(claims), []claimTest{
		{Name: "two readers",
			Steps: "a writes a-0; b lock(read) owns b-1; c lock(read) owns c-2; " +
				"a unlock(write) deletes a-0!2 ok; b ok; b endsRead b-1; c ok"},
		{Name: "a reader and a writer", Bad: lin.Herd, Says: "2 watch notifications",
			Steps: "a writes a-0; b lock(read) owns b-1; c lock(write) owns c-2; " +
				"a unlock(write) deletes a-0!2 ok; b ok; b endsRead b-1; c ok"},
	})
}
