package linearizability

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/linearizability/ops"
)

// TestSleepersAreFound: who waits beside what it waits for, and gets it in the end.
func TestSleepersAreFound(t *testing.T) {
	passes := func(f *fixture, steps int) {
		for range steps {
			f.next()
		}
	}
	takes := func(wait int, told bool) func(f *fixture) Report {
		return func(f *fixture) Report {
			op := f.call("b", ops.Take, "")
			f.offer("a", "x")
			passes(f, wait)
			if told {
				f.told("b", Disconnected)
			}
			f.deletes("b", 0, "/q/x", 0)
			f.ret(op, OpOK, Result{Output: "x"})
			return Judge(f.history(), &Leftovers{}, Queue{Path: "/q", Patience: 50 * time.Millisecond})
		}
	}
	waits := func(wait int, told bool) func(f *fixture) Report {
		return func(f *fixture) Report {
			f.raises("a")
			op := f.call("b", ops.Wait, "")
			f.lowers("a")
			passes(f, wait)
			if told {
				f.told("b", Disconnected)
			}
			f.ret(op, OpOK, Result{})
			return Judge(f.history(), &Leftovers{}, Barrier{Path: "/b", Patience: 50 * time.Millisecond})
		}
	}
	for _, test := range []struct {
		name      string
		build     func(f *fixture) Report
		bad, says string
	}{
		{"a take", takes(60, false), Liveness,
			"waited although element x, which it took in the end, had been in the queue for 62ms"},
		{"a take that is quick", takes(40, false), "", ""},
		{"a take of a client that was told of a loss", takes(60, true), "", ""},
		{"a wait", waits(60, false), Liveness, "went on although the barrier was down for 62ms"},
		{"a wait that is quick", waits(40, false), "", ""},
		{"a wait of a client that was told of a loss", waits(60, true), "", ""},
	} {
		t.Run(test.name,
			func(t *testing.T) { checkReport(t, test.build(&fixture{}), test.bad, test.says) })
	}
}

// TestCloseGivesBack whatever its client holds.
func TestCloseGivesBack(t *testing.T) {
	closes := func(deletes bool) func(f *fixture) Report {
		return func(f *fixture) Report {
			f.starts("a", 1)
			f.starts("b", 2)
			f.lock("a", 1, node("a", 1))
			op := f.call("a", ops.Close, "")
			f.told("a", LockLost)
			if deletes {
				f.deletes("a", 1, node("a", 1), 0)
			}
			f.ret(op, OpOK, Result{})
			f.lock("b", 2, node("b", 2))
			f.unlock("b", 2, node("b", 2))
			return Judge(f.history(), nil, Lock{Path: "/lock", Signals: true})
		}
	}
	checkReport(t, closes(true)(&fixture{}), "", "")
	checkReport(t, closes(false)(&fixture{}), Safety, "")
}

// TestACloseThatIsUnderWay when a lock is granted may end it at once; one that is over may not.
func TestACloseThatIsUnderWay(t *testing.T) {
	closes := func(over bool) func(f *fixture) Report {
		return func(f *fixture) Report {
			f.starts("a", 1)
			lock := f.call("a", ops.Lock, "")
			op := f.call("a", ops.Close, "")
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
			return Judge(f.history(), nil, Lock{Path: "/lock", Signals: true})
		}
	}
	checkReport(t, closes(false)(&fixture{}), "", "")
	checkReport(t, closes(true)(&fixture{}), Belief,
		"a was told at step 7 that it had lost the lock, but its znode")
}

// TestCallsThatEndFirstAreServedFirst: of two removals at once the later call can have the earlier
// change only.
func TestCallsThatEndFirstAreServedFirst(t *testing.T) {
	f := &fixture{}
	f.raises("b")
	first := f.call("a", ops.Remove, "")
	second := f.call("a", ops.Remove, "")
	f.deletes("a", 0, "/b", 0)
	f.ret(first, OpOK, Result{})
	f.raises("b")
	f.deletes("a", 0, "/b", 0)
	f.ret(second, OpOK, Result{})
	h := f.history().sorted()
	of, strays := Attribute(h, h.Server, func(op Op,
		i int) bool {
		return op.Kind == changer(h.Server[i])
	})
	if diff := cmp.Diff([][]int{{0}, {1}, {3}, {2}}, of); diff != "" || strays != nil {
		t.Errorf("strays %v, changes by call:\n%s", strays, diff)
	}
}

// TestNoPatienceIsAskedOfWhoIsCutOff: b may sleep on while it has no connection, be it told of that
// in the time that patience looks at, or before.
func TestNoPatienceIsAskedOfWhoIsCutOff(t *testing.T) {
	type told struct {
		kind NoticeKind
		at   int64 // step, and ms
	}
	opts := Queue{Path: "/q", Patience: 50 * time.Millisecond}
	takes := func(f *fixture) Report { // until 102
		f.offer("a", "x")
		op := f.call("b", ops.Take, "")
		f.step = 101
		f.ret(op, OpFailed, Result{})
		return Judge(f.history(), nil, opts)
	}
	passes := func(f *fixture) Report { // until 102
		rest := giveUpAtT(f)
		return Judge(f.history(), rest, thresholdAtT)
	}
	for _, test := range []struct {
		notices []told
		bad     string
	}{
		{nil, Liveness},
		{[]told{{Connected, 1}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}}, ""},
		{[]told{{Connected, 1}, {SessionExpired, 20}}, ""},
		{[]told{{Connected, 1}, {LockLost, 20}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 40}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 70}}, ""},
		{[]told{{Connected, 1}, {Disconnected, 20}, {SessionExpired, 30}, {Connected, 40}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 30}, {Disconnected, 40}}, ""},
		{[]told{{Disconnected, 20}}, Liveness}, // a history without connections
	} {
		for kind, judge := range map[string]func(*fixture) Report{"take": takes, "barrier": passes} {
			t.Run(fmt.Sprint(kind, test.notices), func(t *testing.T) {
				f := &fixture{}
				for _, n := range test.notices {
					f.h.Notices = append(f.h.Notices,
						Notice{Client: "b", Step: n.at, Time: time.Duration(n.at) * time.Millisecond, Kind: n.kind})
				}
				checkReport(t, judge(f), test.bad, "")
			})
		}
	}
}
