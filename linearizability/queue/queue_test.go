package queue

import (
	"cmp"
	"reflect"
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

type queueTest = historyTest[Claims]

func plainQueue(q Claims) lin.Claims { return q }

// queueAt makes claims of a kind, for the directory /q by default.
func queueAt(kind func(Claims) lin.Claims) func(Claims) lin.Claims {
	return func(opts Claims) lin.Claims {
		opts.Path = cmp.Or(opts.Path, "/q")
		return kind(opts)
	}
}

func TestQueueOrderAndLinearizability(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "first in, first out",
			Steps: "a offers x; a offers y; b peek() -> x; b takes x; b takes y; " +
				"b poll() empty; rest ."},
		{Name: "wrong order", Bad: lin.Order,
			Says: "element x was in the queue before y (a's offer (steps 1 to 3), a's offer " +
				"(steps 4 to 6)), but y left first, by b's take (steps 7 to 9), x after that by " +
				"b's take (steps 10 to 12)", Steps: "a offers x; a offers y; b takes y; b takes x"},
		{Name: "wrong order is not linearizable", Bad: lin.Linearizability, Says: "y left first",
			Steps: "a offers x; a offers y; b takes y; b takes x"},
		{Name: "no claim to order", Opts: Claims{Unordered: true},
			Steps: "a offers x; a offers y; b takes y; b takes x"},
		{Name: "concurrent offers, order of the server", Bad: lin.Order,
			Says:  "element y was in the queue before x",
			Steps: "a offer(x); b offer(y) creates y=y; a creates x=x; a ok; b ok; c takes x"},
		{Name: "never offered", Bad: lin.Linearizability,
			Says:  "returned element ghost, which was never in the queue",
			Steps: "a offers x; b take() -> ghost"},
		{Name: "another than it was made with", Bad: lin.Linearizability,
			Says:  `never in the queue; it removed /q/x, which a had created with "x" at step 2`,
			Steps: "a offers x; b take() deletes x -> ghost"},
		{Name: "not empty", Bad: lin.Linearizability,
			Says: "b's poll (steps 4 to 5) found the queue empty, although it never was " +
				"meanwhile: element x", Steps: "a offers x; b poll() empty; b takes x"},
		{Name: "stale empty", Opts: Claims{StaleReads: true},
			Steps: "a offers x; b poll() empty; b takes x"},
		{Name: "too stale", Opts: Claims{StaleReads: true}, Bad: lin.Linearizability,
			Says:  "since the client's own last change at step 2",
			Steps: "b offers x; b poll() empty"},
		{Name: "covered by two elements", Bad: lin.Linearizability, Says: "found the queue empty",
			Steps: "a offers x; b poll(); a offers y; c takes x; b empty"},
		{Name: "empty for a moment", Steps: "a offers x; b poll(); c takes x; a offers y; b empty"},
		{Name: "peek at the second", Bad: lin.Linearizability,
			Says:  "b's peek() -> y (steps 7 to 8), but the FIFO queue was [x y] from step 5 on",
			Steps: "a offers x; a offers y; b peek() -> y"},
	})
}

func TestQueueDelivery(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "reply lost", Bad: lin.Delivery,
			Says: "element x, offered by a, is lost: b's take (steps 4 to 6, unknown: " +
				"connection closed) removed /q/x at step 5, and nobody ever got the " +
				"element", Steps: "a offers x; b take() deletes x unknown; rest"},
		{Name: "two removed, one returned", Bad: lin.Delivery,
			Says: "b's take (steps 7 to 10) removed x at step 8 and y at step 9, and can return " +
				"only one: element y, offered by a, is lost: b deleted /q/y at step 9, but b's " +
				"take (steps 7 to 10) returned x only",
			Steps: "a offers x; a offers y; b take() deletes x deletes y -> x; rest"},
		{Name: "reply lost, at most once", Opts: Claims{MayLose: true},
			Steps: "a offers x; b take() deletes x unknown; rest"},
		{Name: "reply lost, but handed over as ambiguous",
			Steps: "a offers x; b take() deletes x unknown; rest",
			Build: func(f *fixture) { f.H.Ops[1].Output = "x" }},
		{Name: "reply lost, and the process died in doubt, before a take that would have returned it",
			Steps: "a offers x; b take() deletes x unknown; b told died; rest"},
		{Name: "reply lost, and a later take of the process would have found out", Bad: lin.Delivery,
			Says:  "nobody ever got the element",
			Steps: "a offers x; a offers y; b take() deletes x unknown; b takes y; b told died; rest"},
		{Name: "deleted outside of any take, and the process died", Bad: lin.Delivery,
			Says:  "nobody ever got the element",
			Steps: "b take() unknown; a offers x; b deletes x; b told died; rest"},
		{Name: "reply lost, and another process died", Bad: lin.Delivery,
			Says:  "removed /q/x at step 5, and nobody ever got the element",
			Steps: "a offers x; b take() deletes x unknown; a told died; rest"},
		{Name: "request lost", Steps: "a offers x; b take() unknown; b takes x"},
		{Name: "offer unknown, never applied",
			Steps: "a offer(x) unknown; a offers y; b takes y; rest"},
		{Name: "offer unknown, applied late",
			Steps: "a offer(x) unknown; b offers y; a creates x=x; b takes y; b takes x"},
		{Name: "acknowledged, never stored", Bad: lin.Delivery,
			Says:  "a's offer (steps 2 to 3) was acknowledged, but no znode was ever created",
			Steps: "a@1 starts; a offer(x) ok"},
		{Name: "acknowledged, never stored, at most once", Bad: lin.Delivery, Opts: Claims{MayLose: true},
			Says:  "a's offer (steps 2 to 3) was acknowledged, but no znode was ever created",
			Steps: "a@1 starts; a offer(x) ok"},
		{Name: "said to have failed", Bad: lin.Delivery,
			Says:  "element x is in the queue since step 2, although a's offer",
			Steps: "a offer(x) creates x=x failed"},
		{Name: "stored twice", Bad: lin.Delivery,
			Says: "a's offer (steps 1 to 4) stored element x twice: it created /q/1 at step 2 and /q/2 " +
				"at step 3, and it was taken by b's take (steps 5 to 7) and by b's take (steps 8 to 10)",
			Steps: "a offer(x) creates 1=x creates 2=x ok; b removes 1=x; b removes 2=x"},
		{Name: "stored twice is not linearizable", Bad: lin.Linearizability,
			Says:  "stored element x twice",
			Steps: "a offer(x) creates 1=x creates 2=x ok; b removes 1=x; b removes 2=x"},
		{Name: "stored twice, at least once", Opts: Claims{MayDuplicate: true},
			Steps: "a offer(x) creates 1=x creates 2=x ok; b removes 1=x; b removes 2=x"},
		{Name: "stored twice, not yet delivered", Bad: lin.Delivery,
			Says: "a's offer (steps 1 to 4) stored element x twice: it created /q/1 at step 2 " +
				"and /q/2 at step 3", Steps: "a offer(x) creates 1=x creates 2=x ok; pass 6"},
		{Name: "redelivered", Bad: lin.Delivery, Says: "element x was delivered twice: by b's take",
			Steps: "a offers x; b take() -> x; c takes x"},
		{Name: "redelivered, at least once", Opts: Claims{MayDuplicate: true},
			Steps: "a offers x; b take() -> x; c takes x"},
		{Name: "somebody else deleted it", Bad: lin.Delivery,
			Says:  "the server deleted /q/x at step 4, outside of any take",
			Steps: "a offers x; server deletes x"},
	})
}

func TestQueueWithoutServerLog(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "good", Steps: "a offer(x) ok; b take() -> x; rest"},
		{Name: "unknown take may have taken it",
			Steps: "a offer(x) ok; a offer(y) ok; b take() unknown; b take() -> y"},
		{Name: "nobody can have taken it", Bad: lin.Linearizability, Says: "and x is still there",
			Steps: "a offer(x) ok; a offer(y) ok; b take() -> y"},
		{Name: "gone at rest", Bad: lin.Delivery,
			Says:  "perhaps b's take (steps 3 to 4, unknown: connection closed) took it",
			Steps: "a offer(x) ok; b take() unknown; rest"},
		{Name: "still there at rest", Steps: "a offer(x) ok; b take() unknown; rest x=x"},
		{Name: "unknown offer may have happened", Steps: "a offer(x) unknown; b take() -> x"},
		{Name: "failed offer has not", Bad: lin.Linearizability, Says: "but the FIFO queue was []",
			Steps: "a offer(x) failed; b take() -> x"},
	})
}

func TestQueueLivenessAndOrphans(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "waiting for an empty queue", Steps: "b take(); rest"},
		{Name: "waiting beside an element", Bad: lin.Liveness,
			Says: "client b waits in take (called at step 1) although element x is there " +
				"(/q/x); it waits for a watch on /q",
			Steps: "b take(); a offers x; rest x=x; b waits take ."},
		{Name: "offer hangs", Bad: lin.Liveness, Says: "a's offer (step 1, pending) never returned",
			Steps: "a offer(x); rest"},
		{Name: "bookkeeping is left", Opts: Claims{Path: "/q", Items: "/q/items"}, Bad: lin.Orphans,
			Says: "/q/claims/1 is no element of the queue",
			Steps: "a offer(x) creates items/1=x creates claims/1=x ok; " +
				"rest items items/1=x claims claims/1=x"},
		{Name: "bookkeeping may stay",
			Opts: Claims{Path: "/q", Items: "/q/items", AllowedAtRest: []string{"/q/claims/*"}},
			Steps: "a offer(x) creates items/1=x creates claims/1=x ok; " +
				"rest items items/1=x claims claims/1=x"},
	})
}

func TestLostAndDuplicatedAreCounted(t *testing.T) {
	h := played("a offers x; a offers y; b take() deletes x unknown; b takes y; c take() -> y")
	r := judgingtest.Judge(h, nil, Claims{Path: "/q"})
	if !reflect.DeepEqual(r.Lost, []string{"x"}) ||
		!reflect.DeepEqual(r.Duplicated, []string{"y"}) {
		t.Errorf("lost %v, duplicated %v", r.Lost, r.Duplicated)
	}
}
