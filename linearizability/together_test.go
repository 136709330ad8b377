package linearizability

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestSleepersAreFound: who waits beside what it waits for, and gets it in the end.
func TestSleepersAreFound(t *testing.T) {
	passes := func(f *film, steps int) {
		for range steps {
			f.next()
		}
	}
	takes := func(wait int, told bool) func(f *film) Report {
		return func(f *film) Report {
			op := f.call("b", KindTake, "")
			f.offer("a", "x")
			passes(f, wait)
			if told {
				f.told("b", Disconnected)
			}
			f.deletes("b", 0, "/q/x", 0)
			f.ret(op, OpOK, Result{Output: "x"})
			return JudgeQueue(f.history(), &Rest{}, QueueOptions{Path: "/q", Patience: 50 * time.Millisecond})
		}
	}
	waits := func(wait int, told bool) func(f *film) Report {
		return func(f *film) Report {
			f.raises("a")
			op := f.call("b", KindWait, "")
			f.lowers("a")
			passes(f, wait)
			if told {
				f.told("b", Disconnected)
			}
			f.ret(op, OpOK, Result{})
			return JudgeBarrier(f.history(), &Rest{}, BarrierOptions{Path: "/b", Patience: 50 * time.Millisecond})
		}
	}
	for _, test := range []struct {
		name      string
		shoot     func(f *film) Report
		bad, says string
	}{
		{"a take", takes(60, false), Liveness, "waited although element x, which it took in the end, had been in the queue for 62ms"},
		{"a take that is quick", takes(40, false), "", ""},
		{"a take of a client that was told of a loss", takes(60, true), "", ""},
		{"a wait", waits(60, false), Liveness, "went on although the barrier was down for 62ms"},
		{"a wait that is quick", waits(40, false), "", ""},
		{"a wait of a client that was told of a loss", waits(60, true), "", ""},
	} {
		t.Run(test.name, func(t *testing.T) { checkReport(t, test.shoot(&film{}), test.bad, test.says) })
	}
}

// TestCloseGivesBack whatever its client holds.
func TestCloseGivesBack(t *testing.T) {
	closes := func(deletes bool) func(f *film) Report {
		return func(f *film) Report {
			f.starts("a", 1)
			f.starts("b", 2)
			f.lock("a", 1, node("a", 1))
			op := f.call("a", KindClose, "")
			f.told("a", LockLost)
			if deletes {
				f.deletes("a", 1, node("a", 1), 0)
			}
			f.ret(op, OpOK, Result{})
			f.lock("b", 2, node("b", 2))
			f.unlock("b", 2, node("b", 2))
			return JudgeLock(f.history(), nil, LockOptions{Path: "/lock", Signals: true})
		}
	}
	checkReport(t, closes(true)(&film{}), "", "")
	checkReport(t, closes(false)(&film{}), Safety, "")
}

// TestACloseThatIsUnderWay when a lock is granted may end it at once; one that is
// over may not.
func TestACloseThatIsUnderWay(t *testing.T) {
	closes := func(over bool) func(f *film) Report {
		return func(f *film) Report {
			f.starts("a", 1)
			lock := f.call("a", KindLock, "")
			op := f.call("a", KindClose, "")
			token := f.creates("a", 1, node("a", 1), "", 1)
			if over {
				f.ret(op, OpOK, Result{})
			}
			f.ret(lock, OpOK, Result{Token: token, Session: 1})
			f.told("a", LockLost)
			f.deletes("a", 1, node("a", 1), 0)
			if !over {
				f.ret(op, OpOK, Result{})
			}
			return JudgeLock(f.history(), nil, LockOptions{Path: "/lock", Signals: true})
		}
	}
	checkReport(t, closes(false)(&film{}), "", "")
	checkReport(t, closes(true)(&film{}), Belief, "a was told at step 7 that it had lost the lock, but its znode")
}

// TestCallsThatEndFirstAreServedFirst: of two removals at once the later call can
// have the earlier change only.
func TestCallsThatEndFirstAreServedFirst(t *testing.T) {
	f := &film{}
	f.raises("b")
	first := f.call("a", KindRemove, "")
	second := f.call("a", KindRemove, "")
	f.deletes("a", 0, "/b", 0)
	f.ret(first, OpOK, Result{})
	f.raises("b")
	f.deletes("a", 0, "/b", 0)
	f.ret(second, OpOK, Result{})
	h := f.history().sorted()
	of, strays := Attribute(h, h.Server, func(op Op, i int) bool { return op.Kind == changer(h.Server[i]) })
	if diff := cmp.Diff([][]int{{0}, {1}, {3}, {2}}, of); diff != "" || strays != nil {
		t.Errorf("strays %v, changes by call:\n%s", strays, diff)
	}
}
