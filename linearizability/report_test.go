package linearizability

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestDrawWritesAPage(t *testing.T) {
	f := &fixture{}
	f.lock("a", 1, node("a", 0))
	f.expires(1, node("a", 0))
	f.lock("b", 2, node("b", 1))
	reports := map[string]Report{
		"lock() -\\u003e token 2": Judge(f.history(), nil, Lock{Path: "/lock"}),
	}
	q := &fixture{}
	q.offer("a", "x")
	q.take("b", "x")
	reports["offer(x)"] = Judge(q.history(), nil, Queue{Path: "/q"})
	for want, r := range reports {
		var page bytes.Buffer
		check.OK(t, r.Draw(&page))
		if !strings.Contains(page.String(), want) || !strings.Contains(page.String(), "<html") {
			t.Errorf("no %q in the page", want)
		}
	}
}

func TestDrawOfNothing(t *testing.T) {
	var page bytes.Buffer
	if err := Judge(History{}, nil, Lock{}).Draw(&page); err != nil {
		t.Errorf("an empty history cannot be drawn: %v", err)
	}
	if err := (Report{}).Draw(&page); err == nil {
		t.Error("a report that nobody made was drawn")
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
