package scenario

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// TestAWaiterThatWasNotWokenIsTold: the notification came to the client of two waiting goroutines,
// and one of them went on.
func TestAWaiterThatWasNotWokenIsTold(t *testing.T) {
	r := &trace.Result{Events: []trace.EventPoint{
		{Client: "b", Type: "NodeChildrenChanged", Path: "/q", Step: 4},
		{Client: "b", Type: "NodeChildrenChanged", Path: "/q", Step: 9},
		{Client: "c", Type: "NodeChildrenChanged", Path: "/q", Step: 12},
	}}
	waits := linearizability.Op{Client: "b", Kind: "take", Call: 1, Return: 50,
		Outcome: linearizability.OpFailed}
	woken := linearizability.Op{Client: "b", Kind: "take", Call: 2, Return: 11,
		Outcome: linearizability.OpOK}
	told := func(other linearizability.Op) string {
		return wokenInstead(r, []linearizability.Op{waits, other}, waits, 40)
	}
	check.Equal(t, told(woken), "after the last notification for b, NodeChildrenChanged /q at step "+
		"9, the take of another goroutine returned (step 11), and this one went on waiting")
	for name, change := range map[string]func(op *linearizability.Op){
		"another client":         func(op *linearizability.Op) { op.Client = "c" },
		"another kind":           func(op *linearizability.Op) { op.Kind = "poll" },
		"returned before":        func(op *linearizability.Op) { op.Return = 8 },
		"called after":           func(op *linearizability.Op) { op.Call = 10 },
		"failed as well":         func(op *linearizability.Op) { op.Outcome = linearizability.OpFailed },
		"returned after so long": func(op *linearizability.Op) { op.Return = 45 },
	} {
		op := woken
		change(&op)
		check.Equal(t, told(op), "", name)
	}
}

// TestALongRestIsTold: between the event and its next request the client waited for nothing.
func TestALongRestIsTold(t *testing.T) {
	take := linearizability.Op{Client: "b", Kind: "take", Call: 1, Return: 5,
		Outcome: linearizability.OpOK}
	for _, tt := range []struct {
		rest time.Duration
		text string // of the line in between
		want string
	}{
		{20 * time.Second, "-> ping", "after step 2 b neither did nor learned anything for 20s"},
		{20 * time.Second, "-> #2 exists /q: ok",
			"after step 2 b neither did nor learned anything for 10s"},
		{4 * time.Second, "-> ping", ""},
	} {
		var lines []trace.Line
		for i, text := range []string{"calls take", "<- event", tt.text, "-> #3", "take returns"} {
			at := []time.Duration{0, 0, tt.rest / 2, tt.rest, tt.rest}[i]
			lines = append(lines, trace.Line{At: trace.NewMoment(int64(i+1), 0, 0), Time: at,
				Actor: "b", Format: text})
		}
		r := &trace.Result{Trace: trace.New(lines)}
		h := linearizability.History{Ops: []linearizability.Op{take}}
		check.Equal(t, rested(r, h, []int64{1, 5}), tt.want)
	}
}

// TestARefusedRequestIsToldOfItsOwnClient although a call of another client returned later.
func TestARefusedRequestIsToldOfItsOwnClient(t *testing.T) {
	var lines []trace.Line
	for i, text := range []string{"create /l: failed, NodeExists, zxid 1", "exists /l: ok, zxid 1"} {
		lines = append(lines, trace.Line{
			At: trace.NewMoment(int64(i+1), 0, 0), Actor: "server", Format: "%s", Args: []any{text},
		})
	}
	r := &trace.Result{Trace: trace.New(lines), Requests: []trace.RequestPoint{
		{Client: "a", Op: "create", Path: "/l", Step: 1},
		{Client: "b", Op: "exists", Path: "/l", Step: 2},
	}}
	h := linearizability.History{Ops: []linearizability.Op{
		{Client: "a", Kind: "lock", Call: 1, Return: 1, Outcome: linearizability.OpOK},
		{Client: "b", Kind: "lock", Call: 2, Return: 2, Outcome: linearizability.OpOK},
	}}
	check.Equal(t, grounds(r, h, &linearizability.Verdict{Steps: []int64{1, 2}}),
		"the last that a did or learned: create /l: NodeExists (step 1)")
}
