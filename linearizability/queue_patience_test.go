package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// TestTakesThatWaitTooLongAreFound: a take waits although an element is there, and returns late.
func TestTakesThatWaitTooLongAreFound(t *testing.T) {
	takes := func(wait int, told bool) func(f *fixture) Report {
		return func(f *fixture) Report {
			op := f.call("b", ops.Take, "")
			f.offer("a", "x")
			f.passSteps(wait)
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
	for _, test := range []struct {
		name      string
		build     func(f *fixture) Report
		bad, says string
	}{
		{"late", takes(60, false), Liveness,
			"waited although element x, which it took in the end, had been in the queue for 62ms"},
		{"quick", takes(40, false), "", ""},
		{"its client was told of a loss", takes(60, true), "", ""},
	} {
		t.Run(test.name,
			func(t *testing.T) { checkReport(t, test.build(&fixture{}), test.bad, test.says) })
	}
}

func TestTakerCutOffMayBeLate(t *testing.T) {
	checkLateness(t, func(notices []Notice) Report {
		f := &fixture{}
		f.h.Notices = notices
		f.offer("a", "x")
		op := f.call("b", ops.Take, "")
		f.step = 101
		f.ret(op, OpFailed, Result{})
		return Judge(f.history(), nil, Queue{Path: "/q", Patience: 50 * time.Millisecond})
	})
}
