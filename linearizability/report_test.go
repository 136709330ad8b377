package linearizability

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestLinearizationExplainsTheHistory(t *testing.T) {
	f := &fixture{}
	f.lock("a", 1, node("a", 0))
	f.expires(1, node("a", 0))
	f.lock("b", 2, node("b", 1))
	order, ok := Judge(f.history(), nil, Lock{Path: "/lock"}).Linearization()
	var got []string
	for _, c := range order.Taken {
		got = append(got, fmt.Sprintf("%s: %s [%s]", c.Client, c.Text, c.State))
	}
	want := []string{
		"a: lock() -> token 2 [held by a, token 2]", "server: takes the lock from a [free]",
		"b: lock() -> token 6 [held by b, token 6]",
	}
	if diff := cmp.Diff(want, got); diff != "" || !ok || len(order.Left) > 0 {
		t.Errorf("left %v, ok %v, order (-want +got):\n%s", order.Left, ok, diff)
	}
}

// TestLinearizationLeavesOutWhatHasNoPlace: a take of an element that was never offered has no
// place.
func TestLinearizationLeavesOutWhatHasNoPlace(t *testing.T) {
	q := &fixture{}
	q.offer("a", "x")
	q.take("b", "y")
	order, ok := Judge(q.history(), nil, Queue{Path: "/q"}).Linearization()
	if !ok || len(order.Taken) == 0 || len(order.Left) == 0 || order.Left[0].Client != "b" {
		t.Errorf("got %+v, %v", order, ok)
	}
}

func TestLinearizationOfNothing(t *testing.T) {
	if order, ok := Judge(History{}, nil, Lock{}).Linearization(); !ok || order.Taken != nil {
		t.Errorf("an empty history has the order %v, %v", order, ok)
	}
	if _, ok := (Report{}).Linearization(); ok {
		t.Error("a report that nobody made has an order")
	}
}

func TestHoldsEndTwice(t *testing.T) {
	f := &fixture{}
	f.lock("a", 1, node("a", 0))
	f.expires(1, node("a", 0))
	f.lock("b", 2, node("b", 1))
	h := f.history()
	holds := Judge(h, nil, Lock{Path: "/lock"}).Holds
	if len(holds) != 2 || holds[0].Client != "a" || holds[0].Held >= holds[1].From ||
		holds[0].Believed != h.End+1 || holds[1].Held != h.End+1 {
		t.Errorf("got %+v, end %d", holds, h.End)
	}
}

func TestSummariesRoundDurations(t *testing.T) {
	v := violated(Liveness, nil, "after %v of %d", 1234567890*time.Nanosecond, 3)
	check.Equal(t, v.Summary, "after 1.235s of 3")
}

func TestFirstIsTheWorst(t *testing.T) {
	r := Report{Verdicts: []Verdict{fine(Safety, ""), unknown(Linearizability, nil, ""),
		violated(Delivery, nil, "gone"), violated(Orphans, nil, "left")}}
	if r.Status() != Violated || r.First().Property != Delivery {
		t.Errorf("got %v, first %v", r.Status(), r.First())
	}
	if (Report{}).Status() != OK || (Report{}).First().Status != OK {
		t.Error("an empty report is not ok")
	}
}

func TestRecorderKeepsTheFirstReturn(t *testing.T) {
	step := int64(0)
	r := NewRecorder(func() int64 { step++; return step },
		func() time.Duration { return time.Duration(step) })
	lock := r.Call("a", ops.Lock, "")
	r.Call("b", ops.Lock, "")
	lock.OK(Result{Token: 7, Session: 1})
	lock.Failed(errors.New("too late"))
	r.Notice("a", LockLost, 0)
	h := r.History(nil)
	want := []Op{
		{Client: "a", Kind: ops.Lock, Token: 7, Session: 1, Call: 1, CallTime: 1, Return: 3,
			ReturnTime: 3, Outcome: OpOK},
		{Client: "b", Kind: ops.Lock, Call: 2, CallTime: 2, Return: -1},
	}
	if len(h.Ops) != 2 || h.Ops[0] != want[0] || h.Ops[1] != want[1] {
		t.Errorf("got %+v", h.Ops)
	}
	if len(h.Notices) != 1 || h.Notices[0] != (Notice{Client: "a", Step: 5, Time: 5,
		Kind: LockLost}) || h.End != 6 {
		t.Errorf("got %+v, end %d", h.Notices, h.End)
	}
}

func TestRecorderMayBeNil(t *testing.T) {
	var r *Recorder
	c := r.Call("a", ops.Lock, "")
	c.OK(Result{})
	c.Unknown(Result{}, errors.New("x"))
	r.Notice("a", Disconnected, 0)
	if h := r.History(nil); len(h.Ops) != 0 {
		t.Errorf("got %+v", h)
	}
}

func TestRecorderIsSafeForConcurrentUse(t *testing.T) {
	var mu sync.Mutex
	step := int64(0)
	r := NewRecorder(func() int64 { mu.Lock(); defer mu.Unlock(); step++; return step },
		func() time.Duration { return 0 })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				r.Call("a", ops.Offer, "x").Failed(errors.New("no"))
				r.History(nil)
			}
		})
	}
	wg.Wait()
	if h := r.History(nil); len(h.Ops) != 160 || len(h.pendingOps(ops.Offer)) != 0 {
		t.Errorf("%d operations", len(h.Ops))
	}
}
