package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestWaitsThatEachLeaveAWatch are told if there are five on one znode, none of which has fired.
func TestWaitsThatEachLeaveAWatch(t *testing.T) {
	const node = "/barriers/b"
	for _, tt := range []struct {
		about    string
		waits    int
		kind     string
		requests string // the text of each request
		event    int64  // the step of an event, 0 if there is none
		told     bool
	}{
		{"five", 5, ops.Wait, "-> #1 getData+watch /barriers/b: ok", 0, true},
		{"four", 4, ops.Wait, "-> #1 getData+watch /barriers/b: ok", 0, false},
		{"four and four, with an event between", 8, ops.Wait,
			"-> #1 getData+watch /barriers/b: ok", 40, false},
		{"locks", 5, ops.Lock, "-> #1 getData+watch /barriers/b: ok", 0, false},
		{"reads", 5, ops.Wait, "-> #1 getData /barriers/b: ok", 0, false},
		{"no node", 5, ops.Wait, "-> #1 getData+watch /barriers/b: NoNode", 0, false},
		{"exists, no node", 5, ops.Wait, "-> #1 exists+watch /barriers/b: NoNode", 0, true},
		{"exists, not allowed", 5, ops.Wait, "-> #1 exists+watch /barriers/b: NoAuth", 0, false},
	} {
		var r trace.Result
		var h linearizability.History
		lines := make([]trace.Line, 10*tt.waits)
		for i := range int64(tt.waits) {
			call := 10*i + 1
			op := "getData"
			if strings.Contains(tt.requests, "exists") {
				op = "exists"
			}
			r.Requests = append(r.Requests, trace.RequestPoint{Client: "a", Op: op,
				Path: node, Step: call + 1})
			lines[call].Format = tt.requests
			h.Ops = append(h.Ops, linearizability.Op{Client: "a", Kind: tt.kind, Call: call,
				Return: call + 2, Deadline: time.Second, ReturnTime: time.Second,
				Outcome: linearizability.OpFailed})
		}
		if tt.event > 0 {
			r.Events = []trace.EventPoint{{Client: "a", Path: node, Step: tt.event}}
		}
		for i := range lines {
			lines[i].At = trace.NewMoment(int64(i+1), 0, 0)
		}
		r.Trace = trace.New(lines)
		var report linearizability.Report
		judgeWatches(&report, &r, h)
		if told := report.Status() == linearizability.Violated; told != tt.told {
			t.Errorf("%s: told %v, want %v: %s", tt.about, told, tt.told, report)
		}
	}
}
