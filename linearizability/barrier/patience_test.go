package barrier

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestWaitsThatPassTooLateAreFound: a wait goes on although the barrier is down, and returns late.
func TestWaitsThatPassTooLateAreFound(t *testing.T) {
	waits := func(wait int, told bool) func(f *fixture) lin.Report {
		return func(f *fixture) lin.Report {
			f.raises("a")
			op := f.Call("b", ops.Wait, "")
			f.lowers("a")
			f.PassSteps(wait)
			if told {
				f.Told("b", lin.Disconnected)
			}
			f.Ret(op, lin.OpOK, lin.Result{})
			return judgingtest.Judge(f.History(), &lin.Leftovers{}, Claims{
				Path: "/b", Patience: 50 * time.Millisecond,
			})
		}
	}
	// A wait begins before a removal and ends after it. The barrier is set again at once.
	setAgain := func(before, after int) func(f *fixture) lin.Report {
		return func(f *fixture) lin.Report {
			f.raises("a")
			op := f.Call("b", ops.Wait, "")
			f.PassSteps(before)
			f.lowers("a")
			f.raises("a")
			f.PassSteps(after)
			f.Ret(op, lin.OpOK, lin.Result{})
			return judgingtest.Judge(f.History(), &lin.Leftovers{}, Claims{
				Path: "/b", AllPass: 50 * time.Millisecond, AllowedAtRest: []string{"/b"},
			})
		}
	}
	for _, test := range []struct {
		name      string
		build     func(f *fixture) lin.Report
		bad, says string
	}{
		{"misses a removal", setAgain(60, 60), lin.Liveness,
			"b waited from step 4 on, and did not pass when the barrier was removed at step 66"},
		{"has just begun", setAgain(20, 60), "", ""},
		{"ends soon", setAgain(60, 20), "", ""},
		{"late", waits(60, false), lin.Liveness, "went on although the barrier was down for 62ms"},
		{"quick", waits(40, false), "", ""},
		{"its client was told of a loss", waits(60, true), "", ""},
	} {
		t.Run(test.name,
			func(t *testing.T) {
				judgingtest.CheckReport(t, test.build(&fixture{}), test.bad,
					test.says)
			})
	}
}

func TestWaiterCutOffMayBeLate(t *testing.T) {
	judgingtest.CheckLateness(t, func(notices []lin.Notice) lin.Report {
		f := &fixture{}
		f.H.Notices = notices
		giveUpAtT(f)
		return judgingtest.Judge(f.History(), f.Left, thresholdAtT)
	})
}
