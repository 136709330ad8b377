package queue

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestTakesThatWaitTooLongAreFound: a take waits although an element is there, and returns late.
func TestTakesThatWaitTooLongAreFound(t *testing.T) {
	takes := func(wait int, told bool) func(f *fixture) lin.Report {
		return func(f *fixture) lin.Report {
			op := f.Call("b", ops.Take, "")
			f.offer("a", "x")
			f.PassSteps(wait)
			if told {
				f.Told("b", lin.Disconnected)
			}
			f.Deletes("b", 0, "/q/x", 0)
			f.Ret(op, lin.OpOK, lin.Result{Output: "x"})
			return judgingtest.Judge(f.History(), &lin.Leftovers{}, Claims{
				Path: "/q", Patience: 50 * time.Millisecond,
			})
		}
	}
	for _, test := range []struct {
		name      string
		build     func(f *fixture) lin.Report
		bad, says string
	}{
		{"late", takes(60, false), lin.Liveness,
			"waited although element x, which it took in the end, had been in the queue for 62ms"},
		{"quick", takes(40, false), "", ""},
		{"its client was told of a loss", takes(60, true), "", ""},
	} {
		t.Run(test.name,
			func(t *testing.T) {
				judgingtest.CheckReport(t, test.build(&fixture{}), test.bad,
					test.says)
			})
	}
}

func TestTakerCutOffMayBeLate(t *testing.T) {
	judgingtest.CheckLateness(t, func(notices []lin.Notice) lin.Report {
		f := &fixture{}
		f.H.Notices = notices
		f.offer("a", "x")
		op := f.Call("b", ops.Take, "")
		f.Step = 101
		f.Ret(op, lin.OpFailed, lin.Result{})
		return judgingtest.Judge(f.History(), nil, Claims{Path: "/q", Patience: 50 * time.Millisecond})
	})
}
