package linearizability

import (
	"fmt"
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// TestCallsThatWaitTooLongAreFound: a call waits although its object is available, and returns
// late.
func TestCallsThatWaitTooLongAreFound(t *testing.T) {
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
			return Judge(f.history(), &Leftovers{}, Queue{
				Path: "/q", Patience: 50 * time.Millisecond,
			})
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
			return Judge(f.history(), &Leftovers{}, Barrier{
				Path: "/b", Patience: 50 * time.Millisecond,
			})
		}
	}
	// A wait begins before a removal and ends after it. The barrier is set again at once.
	setAgain := func(before, after int) func(f *fixture) Report {
		return func(f *fixture) Report {
			f.raises("a")
			op := f.call("b", ops.Wait, "")
			passes(f, before)
			f.lowers("a")
			f.raises("a")
			passes(f, after)
			f.ret(op, OpOK, Result{})
			return Judge(f.history(), &Leftovers{}, Barrier{
				Path: "/b", AllPass: 50 * time.Millisecond, AllowedAtRest: []string{"/b"},
			})
		}
	}
	for _, test := range []struct {
		name      string
		build     func(f *fixture) Report
		bad, says string
	}{
		{"a wait that misses a removal", setAgain(60, 60), Liveness,
			"b waited from step 4 on, and did not pass when the barrier was removed at step 66"},
		{"a wait that has just begun", setAgain(20, 60), "", ""},
		{"a wait that ends soon", setAgain(60, 20), "", ""},
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

// TestClientCutOffMayBeLate: a disconnect during the patience, or before it, excuses a late b.
func TestClientCutOffMayBeLate(t *testing.T) {
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
		giveUpAtT(f)
		return Judge(f.history(), f.left, thresholdAtT)
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
		{
			[]told{
				{Connected, 1}, {Disconnected, 20}, {SessionExpired, 30}, {Connected, 40},
			}, Liveness,
		},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 30}, {Disconnected, 40}}, ""},
		{[]told{{Disconnected, 20}}, Liveness}, // a history without connections
	} {
		for kind, judge := range map[string]func(*fixture) Report{"take": takes,
			"barrier": passes} {
			t.Run(fmt.Sprint(kind, test.notices), func(t *testing.T) {
				f := &fixture{}
				for _, n := range test.notices {
					f.h.Notices = append(f.h.Notices,
						Notice{
							Client: "b", Step: n.at, Time: time.Duration(n.at) * time.Millisecond,
							Kind: n.kind,
						})
				}
				checkReport(t, judge(f), test.bad, "")
			})
		}
	}
}
