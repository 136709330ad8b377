package lock

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anishathalye/porcupine"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/model"
)

func TestPorcupineDecidesLocks(t *testing.T) {
	for _, tt := range []struct {
		name, steps string
		answer      porcupine.CheckResult
		says        string
	}{
		{"two holders", "a locks a-0; b locks b-1", porcupine.Illegal,
			"no order of the operations explains what the clients saw of the lock: " +
				"these exclude each other: a: lock() -> token 2 (steps 1 to 3) and " +
				"b: lock() -> token 5 (steps 4 to 6)"},
		{"one after the other", "a locks a-0; a unlocks a-0; b locks b-1", porcupine.Ok, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, claims := played(tt.steps), Claims{Path: "/lock"}
			events := eventsOf(newTable(h, mutex, claims))
			check.Equal(t, judging.Search(mutexModel, events), tt.answer, "porcupine answers")
			judgingtest.CheckLinearizability(t, judgingtest.Judge(h, nil, claims), tt.says)
		})
	}
}

func TestServersOrderExplainsCorrectLocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := randomLock(t)
		events := eventsOf(newTable(h, mutex, fairLock))
		if !judging.InOrder(mutexModel, events) {
			t.Fatalf("the order of the server does not explain a correct lock:\n%s", judgingtest.Dump(h))
		}
		if judging.Search(mutexModel, events) != porcupine.Ok {
			t.Fatalf("porcupine refuses what the fast path accepts:\n%s", judgingtest.Dump(h))
		}
	})
}

func TestLinearizationExplainsTheHistory(t *testing.T) {
	h := played("a locks a-0; a expires a-0; b locks b-1")
	order, ok := judgingtest.Judge(h, nil, Claims{Path: "/lock"}).Linearization()
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

func TestLinearizationOfNothing(t *testing.T) {
	if order, ok := judgingtest.Judge(lin.History{}, nil,
		Claims{}).Linearization(); !ok || order.Taken != nil {
		t.Errorf("an empty history has the order %v, %v", order, ok)
	}
	if _, ok := (lin.Report{}).Linearization(); ok {
		t.Error("a report that nobody made has an order")
	}
}

func TestHoldsEndTwice(t *testing.T) {
	h := played("a locks a-0; a expires a-0; b locks b-1")
	holds := judgingtest.Judge(h, nil, Claims{Path: "/lock"}).Holds
	if len(holds) != 2 || holds[0].Client != "a" || holds[0].Held >= holds[1].From ||
		holds[0].Believed != h.End+1 || holds[1].Held != h.End+1 {
		t.Errorf("got %+v, end %d", holds, h.End)
	}
}

// TestJudgeInABubble: porcupine needs no clock.
func TestJudgeInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := judgingtest.Judge(played("a locks a-0"), nil, Claims{Path: "/lock"})
		judgingtest.CheckReport(t, r, "", "")
	})
}

// TestDisagreementNamesItself: decide panics if porcupine refuses a history that the likely order
// explains.
func TestDisagreementNamesItself(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "porcupine finds") {
			t.Errorf("got %q", text)
		}
	}()
	asked := 0
	fickle := judging.Model[model.Lock, model.LockOp]{
		Step: func(l model.Lock, op model.LockOp) []model.Lock {
			if asked++; asked == 1 {
				return nil
			}
			return l.Step(op)
		},
		Show: showMutex,
	}
	judging.Decide(fickle, eventsOf(newTable(played("a locks a-0"), mutex, Claims{Path: "/lock"})))
}
