package queue

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func lockOf(item string) string { return item + "-lock" }

// lockSession returns the n-th session of a client.
func lockSession(client string, n int64) int64 { return int64(client[0]) + 1000*n }

func TestLockQueue(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(Locked{
		Claims: Claims{Path: "/q", Patience: 5e6}, Lock: lockOf,
	}), []claimTest{
		{Name: "one after the other",
			Steps: "a offers x; a offers y; b gets x; c gets y; a poll() empty; c acks y; " +
				"b acks x; rest"},
		{Name: "given back",
			Steps: "a offers x; a offers y; b gets x; b release(x) deletes x-lock ok; c gets x; " +
				"c acks x; rest y=y"},
		{Name: "redelivered after an expiry",
			Steps: "a offers x; a offers y; b gets x; b expires x-lock; c gets x; c acks x; " +
				"b ack(x) failed; rest"},
		{Name: "redelivered to another goroutine, whose take began later and returned before",
			Steps: "a offers x; b take(); b owns x-lock; b expires x-lock; b poll(); " +
				"b@2 owns x-lock; b poll -> x; b acks x; b take -> x; b ack(x) failed; rest"},
		{Name: "without a lock", Bad: lin.Safety,
			Says:  "b's take (steps 7 to 8) returned element x without a lock on it",
			Steps: "a offers x; a offers y; b take() -> x"},
		{Name: "another's lock is deleted", Bad: lin.Safety,
			Says:  "c deleted /q/x-lock at step 10, the lock of b on element x",
			Steps: "a offers x; a offers y; b gets x; c deletes x-lock"},
		{Name: "lock is given up", Bad: lin.Safety,
			Says: "b gave up /q/x-lock at step 10, its lock on element x, neither done with it " +
				"nor asked to",
			Steps: "a offers x; a offers y; b gets x; b deletes x-lock; b acks x"},
		{Name: "lock is given up by a close that was under way",
			Steps: "a offers x; a offers y; b close(); b gets x; b deletes x-lock; b ok; " +
				"c gets x; c acks x"},
		{Name: "lock is given up after a close", Bad: lin.Safety,
			Says:  "b gave up /q/x-lock at step 12",
			Steps: "a offers x; a offers y; b close(); b gets x; b ok; b deletes x-lock; b acks x"},
		{Name: "the younger first", Bad: lin.Order,
			Says:  "got element y, although the older x was there and not locked all the time",
			Steps: "a offers x; a offers y; b gets y"},
		{Name: "the younger, while the older was locked",
			Steps: "a offers x; a offers y; b gets x; c take(); b release(x) deletes x-lock ok; " +
				"c owns y-lock=guid; c -> y"},
		{Name: "nothing found beside an element", Bad: lin.Order,
			Says:  "b's poll (steps 7 to 8) found nothing, although at every moment",
			Steps: "a offers x; a offers y; b poll() empty"},
		{Name: "nothing found while all were locked",
			Steps: "a offers x; a offers y; c poll(); a gets x; b gets y; " +
				"a release(x) deletes x-lock ok; c empty"},
		{Name: "removed, not acknowledged", Bad: lin.Delivery,
			Says:  "element x was removed by b at step 11, during b's release (steps 10 to 13), but was not acknowledged by that client",
			Steps: "a offers x; a offers y; b gets x; b release(x) deletes x deletes x-lock ok"},
		{Name: "acknowledged by another than removed it", Bad: lin.Delivery, Says: "removed by b",
			Steps: "a offers x; a offers y; b gets x; c ack(x); b deletes x; c unknown"},
		{Name: "said not to be acknowledged", Bad: lin.Delivery,
			Says:  "not acknowledged by that client",
			Steps: "a offers x; a offers y; b gets x; b ack(x) deletes x failed"},
		{Name: "unknown, and removed late",
			Steps: "a offers x; a offers y; b gets x; b ack(x) unknown; b deletes x"},
		{Name: "acknowledged, but still there", Bad: lin.Delivery,
			Says:  "element x is in the queue after b's ack",
			Steps: "a offers x; a offers y; b gets x; b ack(x) deletes x-lock ok; b acks x"},
		{Name: "acknowledged twice", Bad: lin.Delivery, Says: "element x was acknowledged twice",
			Steps: "a offers x; a offers y; b gets x; b acks x; c ack(x) ok"},
		{Name: "acknowledged and delivered again", Bad: lin.Delivery,
			Says: "element x was acknowledged by b's ack (steps 10 to 13), and delivered once " +
				"more by c's take", Steps: "a offers x; a offers y; b gets x; b acks x; c gets x"},
		{Name: "lost on the way", Bad: lin.Delivery, Says: "element x, offered by a, is lost",
			Steps: "a offers x; server deletes x"},
		{Name: "waits beside a free element", Bad: lin.Liveness, Says: "client b waits in take",
			Steps: "b take(); a offers x; rest x=x"},
		{Name: "waits for one that is held",
			Steps: "a offers x; c gets x; b take(); rest x=x x-lock"},
		{Name: "gave up beside a free element", Bad: lin.Liveness,
			Says: "take of b (steps 8 to 14) gave up although element x was in the queue for " +
				"the last 5ms",
			Steps: "a offers x; c gets x; c release(x); b take(); c deletes x-lock; pass 3; " +
				"c ok; b failed"},
		{Name: "gave up soon after it was free",
			Steps: "a offers x; c gets x; c release(x); b take(); c deletes x-lock; pass 2; " +
				"c ok; b failed"},
		{Name: "lock is left", Bad: lin.Orphans,
			Says:  "/q/x-lock (session 0x63) still locks element x after c's release (steps 7 to 8)",
			Steps: "a offers x; c gets x; c release(x) ok; rest x=x x-lock"},
	})
}

// TestComingBack: a delivery without a lock ends after a time. A step takes a millisecond.
func TestComingBack(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(Locked{
		Claims: Claims{Path: "/q", Patience: 5e6}, ComesBack: 10 * time.Millisecond,
	}), []claimTest{
		{Name: "acknowledged", Steps: "a offers x; b take() -> x; b ack(x) deletes x ok; rest"},
		{Name: "again after the time",
			Steps: "a offers x; b take() -> x; pass 9; c take() -> x; c ack(x) deletes x ok; " +
				"b ack(x) failed; rest"},
		{Name: "again within the time", Bad: lin.Safety,
			Says: "element x was delivered by b's take (steps 4 to 5) and again by c's take " +
				"(steps 9 to 10), although a delivery comes back only after 10ms",
			Steps: "a offers x; b take() -> x; pass 3; c take() -> x"},
		{Name: "to two at once", Bad: lin.Safety, Says: "and again by c's take",
			Steps: "a offers x; b take(); c take(); b -> x; c -> x"},
		{Name: "again after a release",
			Steps: "a offers x; b take() -> x; b release(x) ok; c take() -> x; " +
				"c ack(x) deletes x ok; rest"},
		{Name: "acknowledged and delivered again", Bad: lin.Delivery,
			Says: "delivered once more by c's take",
			Steps: "a offers x; b take() -> x; b ack(x) deletes x ok; pass 9; " +
				"c take() -> x"},
		{Name: "removed, not acknowledged", Bad: lin.Delivery, Says: "was not acknowledged",
			Steps: "a offers x; b take() deletes x -> x"},
		{Name: "waits for one that is hidden",
			Steps: "a offers x; b take() -> x; c take(); pass 9; c failed"},
		{Name: "never comes back", Bad: lin.Liveness, Says: "gave up although element x",
			Steps: "a offers x; b take() -> x; c take(); pass 20; c failed"},
		{Name: "never comes back, and a take waits", Bad: lin.Liveness,
			Says:  "client c waits in take",
			Steps: "a offers x; b take() -> x; c take(); pass 20; rest x=x"},
	})
}

// randomLockQueue makes valid histories of a queue with locks.
func randomLockQueue(t *rapid.T) lin.History {
	f := &fixture{}
	s := &judgingtest.Simulator{Fixture: &f.Fixture, T: t}
	var queue []string            // elements in the order of the offers
	holds := map[string]string{}  // client to element
	session := map[string]int64{} // the number of sessions of a client
	for _, v := range []string{"p", "q", "r"} {
		f.Plays("a offers " + v)
		queue = append(queue, v)
	}
	unlock := func(client string) {
		s.Deletes(client, lockSession(client, session[client]), "/q/"+holds[client]+"-lock", 0)
		holds[client] = ""
	}
	knows := func(client string) bool {
		for _, op := range slices.Backward(s.H.Ops) {
			if op.Client == client && op.Kind == ops.Poll {
				return op.OK()
			}
		}
		return false
	}
	s.Begin = func(client string) (kind, input string) {
		held := holds[client]
		switch {
		case held != "" && !knows(client):
			unlock(client) // it had abandoned the call
		case held != "" && rapid.IntRange(0, 5).Draw(t, "expiry") == 5:
			s.Expires(lockSession(client, session[client]), "/q/"+held+"-lock")
			session[client]++
			holds[client] = ""
		case held != "":
			return rapid.SampledFrom([]string{ops.Ack, ops.Ack, ops.Ack, ops.Release}).Draw(t,
				"end"), held
		}
		if rapid.IntRange(0, 4).Draw(t, "offer") < 2 {
			return ops.Offer, fmt.Sprintf("v%d", len(s.H.Ops))
		}
		return ops.Poll, ""
	}
	s.Apply = func(client, kind, input string) lin.Result {
		id := lockSession(client, session[client])
		switch {
		case kind == ops.Offer:
			s.Creates(client, id, "/q/"+input, input, 0)
			queue = append(queue, input)
			return lin.Result{}
		case kind == ops.Release:
			unlock(client)
			return lin.Result{}
		case kind == ops.Ack:
			step := s.Deletes(client, id, "/q/"+input, 0)
			unlock(client)
			s.H.Server[len(s.H.Server)-1].Step = step
			queue = slices.DeleteFunc(queue, func(v string) bool { return v == input })
			return lin.Result{}
		}
		for _, v := range queue {
			if !slices.ContainsFunc([]string{"a", "b", "c"}, func(o string) bool {
				return holds[o] == v
			}) {
				s.Creates(client, id, "/q/"+v+"-lock", "guid", id)
				holds[client] = v
				return lin.Result{Output: v}
			}
		}
		s.Next()
		return lin.Result{Empty: true}
	}
	return s.Play()
}

func judgeSomeLockQueue(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Locked{Claims: Claims{Path: "/q"}, Lock: lockOf})
}

func TestCorrectLockQueuesAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomLockQueue, judgeSomeLockQueue)
}

// steal makes another client delete a lock.
var steal = judgingtest.OnEvent(func(h *lin.History, e *lin.ServerEvent) bool {
	return e.Kind == lin.NodeDeleted && strings.HasSuffix(e.Path, "-lock") &&
		judgingtest.Behind(h, *e, []string{ops.Ack, ops.Release}) != nil &&
		slices.ContainsFunc(h.Ops, func(op lin.Op) bool {
			return op.OK() && "/q/"+op.Output+"-lock" == e.Path && op.Client == e.Client
		})
}, func(_ *lin.History, e *lin.ServerEvent) { e.Client, e.Session = "z", lockSession("z", 0) })

func TestBrokenLockQueuesAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomLockQueue, judgeSomeLockQueue, []mutation{
		{"no lock", judgingtest.DropChange(ops.Poll), []string{lin.Safety}, 0},
		{"lock deleted by somebody else", steal, []string{lin.Safety}, 0},
		{"said not to be acknowledged", judgingtest.SayFailed(ops.Ack), []string{lin.Delivery}, 80},
		{"element or lock stays after it", judgingtest.DropChange(ops.Ack), []string{lin.Delivery}, 25},
		{
			"delivered after all was over", judgingtest.MoveBeyond(ops.Poll),
			[]string{lin.Safety, lin.Delivery, lin.Order}, 30,
		},
		{"results exchanged", judgingtest.SwapOutputs(ops.Poll), []string{lin.Safety, lin.Order}, 80},
		{"not stored", judgingtest.DropChange(ops.Offer), []string{lin.Delivery, lin.Safety, lin.Order}, 80},
		{"hangs", judgingtest.NeverReturns(ops.Offer, ops.Poll, ops.Ack, ops.Release), []string{lin.Liveness}, 0},
	})
}
