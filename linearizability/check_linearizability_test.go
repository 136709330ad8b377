package linearizability

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anishathalye/porcupine"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/model"
)

// TestPorcupineDecides histories made by hand. No bad pattern fits the third: porcupine alone
// refuses it.
func TestPorcupineDecides(t *testing.T) {
	twoHolders := func(f *fixture) {
		f.lock("a", 1, node("a", 0))
		f.lock("b", 2, node("b", 1))
	}
	lockAnswer := func(h History) porcupine.CheckResult {
		return search(lockObject, lockEvents(newLockTable(h, mutex, Lock{Path: "/lock"})))
	}
	queueAnswer := func(h History) porcupine.CheckResult {
		return search(queueObject, queueEvents(newQueueTable(h, Queue{Path: "/q"})))
	}
	peek := func(seen string) func(*fixture) {
		return func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			f.ret(f.call("b", ops.Peek, ""), OpOK, Result{Output: seen})
		}
	}
	takes := func(first, second string) func(*fixture) {
		return func(f *fixture) {
			f.offer("a", "x")
			f.offer("a", "y")
			f.take("b", first)
			f.take("b", second)
		}
	}
	tests := []struct {
		name   string
		claims Claims
		build  func(*fixture)
		answer func(History) porcupine.CheckResult
		says   string // "" if the history is linearizable
	}{
		{"lock", Lock{Path: "/lock"}, twoHolders, lockAnswer,
			"no order of the operations explains what the clients saw of the lock: " +
				"it goes wrong with b: lock() -> token 5 (steps 4 to 6)"},
		{"queue", Queue{Path: "/q"}, takes("y", "x"), queueAnswer,
			"element x was in the queue before y"},
		{"queue, no pattern", Queue{Path: "/q"}, peek("y"), queueAnswer,
			"no order of the operations explains what the clients saw of the FIFO queue: " +
				"it goes wrong with b: peek() -> y (steps 7 to 8)"},
		{"good lock", Lock{Path: "/lock"}, func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.unlock("a", 1, node("a", 0))
			f.lock("b", 2, node("b", 1))
		}, lockAnswer, ""},
		{"good queue", Queue{Path: "/q"}, takes("x", "y"), queueAnswer, ""},
		{"good queue, peek", Queue{Path: "/q"}, peek("x"), queueAnswer, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			tt.build(f)
			answer, status := porcupine.Ok, OK
			if tt.says != "" {
				answer, status = porcupine.Illegal, Violated
			}
			check.Equal(t, tt.answer(f.history()), answer, "porcupine answers")
			v, _ := Judge(f.history(), nil, tt.claims).Verdict(Linearizability)
			if v.Status != status || !strings.Contains(v.Summary, tt.says) {
				t.Errorf("got %s\nwant %s: %s", v, status, tt.says)
			}
		})
	}
}

// TestJudgeInABubble: porcupine needs no clock.
func TestJudgeInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{}
		f.lock("a", 1, node("a", 0))
		checkReport(t, Judge(f.history(), nil, Lock{Path: "/lock"}), "", "")
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
	fickle := sequential[model.Lock, model.LockOp]{
		step: func(l model.Lock, op model.LockOp) []model.Lock {
			if asked++; asked == 1 {
				return nil
			}
			return l.Step(op)
		},
		show: showLock,
	}
	f := &fixture{}
	f.lock("a", 1, node("a", 0))
	decide(fickle, lockEvents(newLockTable(f.history(), mutex, Lock{Path: "/lock"})))
}
