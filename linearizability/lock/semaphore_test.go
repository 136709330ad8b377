package lock

import (
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestSemaphores(t *testing.T) {
	judgingtest.CheckHistories(t, func(opts Claims) lin.Claims {
		opts.Path = "/lock"
		return Semaphore{Leases: 2, Claims: opts}
	}, []lockTest{
		{Name: "two of two",
			Steps: "a acquires a-0; b acquires b-1; a releases a-0; c acquires c-2; " +
				"b releases b-1; c releases c-2; rest"},
		{Name: "three of two", Bad: lin.Safety,
			Says:  "a, b and c own the semaphore at once, which has 2 places: a since step 3",
			Steps: "a acquires a-0; b acquires b-1; c acquires c-2"},
		{Name: "three of two, believed", Bad: lin.Belief,
			Says: "a, b and c all believe that they hold the semaphore, which has 2 places, at " +
				"step 9", Steps: "a acquires a-0; b acquires b-1; c acquires c-2"},
		{Name: "three of two, not linearizable", Bad: lin.Linearizability,
			Says:  "these exclude each other: a: acquire() -> token 2 (steps 1 to 3), b: acquire()",
			Steps: "a acquires a-0; b acquires b-1; c acquires c-2"},
		{Name: "three of two by one client", Bad: lin.Safety, Says: "a, a and a own the semaphore",
			Steps: "a acquire(x) owns a-0 ok; a acquire(y) owns a-1 ok; a acquire(z) owns a-2 ok"},
		{Name: "a zombie is none too many",
			Steps: "a acquires a-0; b acquires b-1; a expires a-0; c acquires c-2; " +
				"a told expired; b releases b-1; c releases c-2; rest"},
		{Name: "a lease that b deleted", Bad: lin.Safety,
			Says:  "b deleted a's znode /lock/a-0000000000 at step 4 while a held the semaphore",
			Steps: "a acquires a-0; b deletes a-0!1"},
		{Name: "no lease of its own", Bad: lin.Safety,
			Says:  "client a returned from acquire at step 5 without a znode of its own",
			Steps: "b acquires b-0; a acquire() ok@1#77"},
		{Name: "one overtakes, with a place for both", Opts: Claims{Fair: true},
			Steps: "a acquire() owns a-0; b acquires b-1; a ok"},
		{Name: "one overtakes the one who is next", Opts: Claims{Fair: true}, Bad: lin.Order,
			Says: "c overtook b", Steps: "a acquires a-0; b acquire() owns b-1; c acquires c-2"},
		{Name: "waits, with a place free", Bad: lin.Liveness,
			Says:  "b's acquire (step 4, pending) never returned",
			Steps: "a acquires a-0; b acquire(); rest"},
		{Name: "waits at the full semaphore",
			Steps: "a acquires a-0; b acquires b-1; c acquire(); rest . a-0 b-1; " +
				"c waits acquire ."},
		{Name: "another token", Bad: lin.Fencing, Says: "but reads token 3 at step 5",
			Steps: "a acquires a-0; a use() ok@1#3"},
		{Name: "herd", Opts: Claims{MaxHerd: 1}, Bad: lin.Herd,
			Says:  "the release at step 5 fired 7 watch notifications",
			Steps: "a acquires a-0; a release() deletes a-0!7 ok"},
		{Name: "a lease is left", Bad: lin.Orphans, Says: "was left by a's acquire",
			Steps: "a acquire() owns a-0 unknown; rest a-0"},
	})
}

// TestLeasesBesideTheirGuard: the znodes of the guarding lock are no leases.
func TestLeasesBesideTheirGuard(t *testing.T) {
	claims := func(nodes string) func(struct{}) lin.Claims {
		return judgingtest.Always(Semaphore{Leases: 1, Claims: Claims{Path: "/s", Nodes: nodes}})
	}
	guarded := "a acquire() owns /s/guard/a-0 owns /s/leases/a-0 deletes /s/guard/a-0 ok#0; " +
		"rest /s/leases/a-0"
	judgingtest.CheckHistories(t, claims("/s/leases"), []claimTest{{Name: "leases", Steps: guarded}})
	judgingtest.CheckHistories(t, claims("/s/other"), []claimTest{
		{Name: "others", Bad: lin.Safety, Says: "a returned from acquire",
			Steps: guarded + "; b owns /s/other/b-0"},
	})
}

func randomSemaphore(t *rapid.T) lin.History { return randomHolds(t, semaphoreKind(2), "") }

func judgeFairSemaphore(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Semaphore{Leases: 2, Claims: fairLock})
}

func TestCorrectSemaphoresAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomSemaphore, judgeFairSemaphore)
}

func TestBrokenSemaphoresAreFoundBroken(t *testing.T) {
	two := semaphoreKind(2)
	judgingtest.CheckMutations(t, randomSemaphore, judgeFairSemaphore, []mutation{
		{"two holders more", onHold(two, addTwoHolders), []string{lin.Safety, lin.Linearizability}, 0},
		{"tokens exchanged", onHold(two, swapTokens),
			[]string{lin.Safety, lin.Belief, lin.Order, lin.Linearizability}, 40},
		{"an acquire that never returns", onHold(two, neverReturn), []string{lin.Liveness}, 0},
	})
}

// addTwoHolders adds two holders of a lease beside an existing one.
func addTwoHolders(t *rapid.T, h *lin.History, c table) bool {
	if !addHolder(t, h, c) {
		return false
	}
	e, op := h.Server[len(h.Server)-1], h.Ops[len(h.Ops)-1]
	e.Path, e.Client, e.Session, e.Owner, e.Czxid = node("y", 0), "y", 98, 98, e.Czxid+100_000
	op.Client, op.Session, op.Token = "y", 98, e.Czxid
	h.Server, h.Ops = append(h.Server, e), append(h.Ops, op)
	return true
}
