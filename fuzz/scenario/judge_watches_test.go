package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestWaitsThatEachLeaveAWatch are told if there are five on one znode, none of which is over.
func TestWaitsThatEachLeaveAWatch(t *testing.T) {
	const node = "/barriers/b"
	get := []string{"getData+watch /barriers/b: ok"}
	for _, tt := range []struct {
		about    string
		waits    int
		requests []string // of each wait
		between  string   // after four waits: an event, a notice or a request of a
		told     bool
	}{
		{"five", 5, get, "", true},
		{"four", 4, get, "", false},
		{"four and four, with an event between", 8, get, "NodeDeleted", false},
		{"four and four, with another event", 8, get, "NodeChildrenChanged", true},
		{"four and four, with a notice between", 8, get, "disconnected", false},
		{"four and four, the watch is removed between", 8, get, "removeWatches", false},
		{"of the children", 5, []string{"getChildren2+watch /barriers/b: ok"}, "", true},
		{"of the children, with their event", 8, []string{"getChildren2+watch /barriers/b: ok"},
			"NodeChildrenChanged", false},
		{"of the children, with another event", 8, []string{"getChildren2+watch /barriers/b: ok"},
			"NodeDataChanged", true},
		{"two paths", 5, append(get, "exists+watch /barriers/c: ok"), "", true},
		{"twice in each wait", 3, append(get, get...), "", false},
		{"two clients", 5, get, "two clients", false},
		{"locks", 5, get, "locks", false},
		{"reads", 5, []string{"getData /barriers/b: ok"}, "", false},
		{"no node", 5, []string{"getData+watch /barriers/b: NoNode"}, "", false},
		{"exists, no node", 5, []string{"exists+watch /barriers/b: NoNode"}, "", true},
		{"exists, not allowed", 5, []string{"exists+watch /barriers/b: NoAuth"}, "", false},
	} {
		var r trace.Result
		var h linearizability.History
		lines := make([]trace.Line, 10*tt.waits)
		for i := range int64(tt.waits) {
			wait := linearizability.Op{Client: "a", Kind: ops.Wait, Call: 10*i + 1, Return: 10*i + 5,
				Deadline: time.Second, ReturnTime: time.Second, Outcome: linearizability.OpFailed}
			if tt.between == "two clients" && i%2 == 1 {
				wait.Client = "b"
			} else if tt.between == "locks" {
				wait.Kind = ops.Lock
			}
			h.Ops = append(h.Ops, wait)
			for j, text := range tt.requests {
				step := wait.Call + 1 + int64(j)
				op, path, _ := strings.Cut(text, " ")
				op, _, _ = strings.Cut(op, "+")
				path, _, _ = strings.Cut(path, ":")
				r.Requests = append(r.Requests, trace.RequestPoint{Client: wait.Client, Op: op,
					Path: path, Step: step})
				lines[step-1].Format = "-> #1 " + text
			}
		}
		switch between := int64(38); {
		case strings.HasPrefix(tt.between, "Node"):
			r.Events = []trace.EventPoint{{Client: "a", Type: tt.between, Path: node, Step: between}}
		case tt.between == "disconnected":
			r.Notices = []trace.Notice{{Client: "a", Kind: trace.Disconnected, Step: between}}
		case tt.between == "removeWatches":
			r.Requests = append(r.Requests, trace.RequestPoint{Client: "a", Op: tt.between,
				Path: node, Step: between})
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
