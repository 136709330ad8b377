package queue

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestElementsPutBack(t *testing.T) {
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "then delivered",
			Steps: "a offers x; b take() deletes x creates x=x failed; c takes x; rest"},
		{Name: "overtaken meanwhile",
			Steps: "a offers x; a offers y; b take() deletes x; c takes y; b creates x=x; " +
				"b failed; c peek() -> x; c takes x"},
		{Name: "overtaken before", Bad: lin.Order, Says: "x after that by b's take",
			Steps: "a offers x; a offers y; c takes y; b take() deletes x creates x=x failed; " +
				"b takes x"},
		{Name: "overtakes an older one", Bad: lin.Order,
			Says: "element x was in the queue before y",
			Steps: "a offers x; a offers y; b take() deletes y creates y=y failed; b takes y; " +
				"b takes x"},
		{Name: "by somebody else", Bad: lin.Delivery,
			Says:  "element x was stored twice: a's offer (steps 1 to 3) created /q/x at step 2, and ",
			Steps: "a offers x; b take() deletes x; a creates x=x; b failed"},
		{Name: "while it is still there", Bad: lin.Delivery, Says: "element x was stored twice: ",
			Steps: "a offers x; b take() creates x2=x deletes x failed"},
		{Name: "although it was delivered", Bad: lin.Delivery,
			Says: "element x was stored again: b's take (steps 4 to 6) got it, and b created " +
				"/q/x at step 7 after that", Steps: "a offers x; b takes x; b creates x=x"},
		{Name: "lost in the end", Bad: lin.Delivery, Says: "element x, offered by a, is lost",
			Steps: "a offers x; b take() deletes x creates x=x failed; c take() deletes x unknown"},
		{Name: "stale peek beside it", Opts: Claims{StaleReads: true},
			Steps: "a offers x; a offers y; b take() deletes x creates x=x failed; b peek() -> x"},
		{Name: "empty beside its first stay", Bad: lin.Linearizability,
			Says:  "found the queue empty",
			Steps: "a offers x; b poll() empty; b take() deletes x creates x=x failed"},
	})
}

func TestTakesThatGiveUp(t *testing.T) {
	patient := Claims{Patience: 5 * time.Millisecond} // five steps
	judgingtest.CheckHistories(t, queueAt(plainQueue), []queueTest{
		{Name: "beside an element", Opts: patient, Bad: lin.Liveness,
			Says: "take of b (steps 4 to 9) gave up although element x was in the queue for " +
				"the last 5ms", Steps: "a offers x; b take(); pass 4; b failed; rest x=x"},
		{Name: "soon", Opts: patient, Steps: "a offers x; b take(); pass 3; b failed; rest x=x"},
		{Name: "nobody asked", Steps: "a offers x; b take(); pass 9; b failed; rest x=x"},
		{Name: "in a world not brought to rest", Opts: patient, Bad: lin.Liveness, Says: "gave up",
			Steps: "a offers x; b take(); pass 4; b failed; rest x=x"},
		{Name: "put back meanwhile", Opts: patient,
			Steps: "a offers x; b take() deletes x creates x=x; pass 3; b failed; rest x=x"},
		{Name: "put back earlier", Opts: patient, Bad: lin.Liveness, Says: "for the last 5ms",
			Steps: "a offers x; b take() deletes x creates x=x; pass 4; b failed; rest x=x"},
		{Name: "after a disconnect", Opts: patient,
			Steps: "a offers x; b take(); b told disconnected; pass 3; b failed; rest x=x"},
		{Name: "in a new session", Opts: patient,
			Steps: "a offers x; b take(); b starts; pass 3; b failed; rest x=x"},
		{Name: "another took it", Opts: patient,
			Steps: "a offers x; b take(); pass 9; c takes x; b failed; rest"},
	})
}
