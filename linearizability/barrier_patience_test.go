package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// TestWaitsThatPassTooLateAreFound: a wait goes on although the barrier is down, and returns late.
func TestWaitsThatPassTooLateAreFound(t *testing.T) {
	waits := func(wait int, told bool) func(f *fixture) Report {
		return func(f *fixture) Report {
			f.raises("a")
			op := f.call("b", ops.Wait, "")
			f.lowers("a")
			f.passSteps(wait)
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
			f.passSteps(before)
			f.lowers("a")
			f.raises("a")
			f.passSteps(after)
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
		{"misses a removal", setAgain(60, 60), Liveness,
			"b waited from step 4 on, and did not pass when the barrier was removed at step 66"},
		{"has just begun", setAgain(20, 60), "", ""},
		{"ends soon", setAgain(60, 20), "", ""},
		{"late", waits(60, false), Liveness, "went on although the barrier was down for 62ms"},
		{"quick", waits(40, false), "", ""},
		{"its client was told of a loss", waits(60, true), "", ""},
	} {
		t.Run(test.name,
			func(t *testing.T) { checkReport(t, test.build(&fixture{}), test.bad, test.says) })
	}
}

func TestWaiterCutOffMayBeLate(t *testing.T) {
	checkLateness(t, func(notices []Notice) Report {
		f := &fixture{}
		f.h.Notices = notices
		giveUpAtT(f)
		return Judge(f.history(), f.left, thresholdAtT)
	})
}
