package scenario

import (
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// requested is a result of requests, one in each step: "a exists /x: ok, zxid 1".
func requested(lines ...string) *trace.Result {
	r := &trace.Result{}
	var all []trace.Line
	for i, line := range lines {
		client, text, _ := strings.Cut(line, " ")
		words := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ':' })
		all = append(all, trace.Line{At: trace.NewMoment(int64(i+1), 0, 0), Actor: client,
			Format: "-> #0 %s", Args: []any{text}})
		r.Requests = append(r.Requests, trace.RequestPoint{Client: client,
			Op: strings.TrimSuffix(words[0], "+watch"), Path: words[1], Step: int64(i + 1)})
	}
	r.Trace, r.Steps = trace.New(all), int64(len(lines))
	return r
}

// TestWhatACallRestsOnIsTold: the text is about the request that has led the code astray.
func TestWhatACallRestsOnIsTold(t *testing.T) {
	const last, wrong = "the last that a did or learned", linearizability.Linearizability
	ok := func(kind string, call, returned int64) linearizability.Op {
		return linearizability.Op{Client: "a", Kind: kind, Call: call, Return: returned,
			Outcome: linearizability.OpOK}
	}
	refused := ok(ops.CAS, 1, 4)
	refused.Output = ops.Refused
	deleted := trace.Change{Kind: trace.NodeDeleted, Client: "a", Session: 7, Path: "/q/1", Step: 4}
	made := func(client, path, data string, step int64) trace.Change {
		return trace.Change{Kind: trace.NodeCreated, Client: client, Owner: 9, Path: path,
			Data: []byte(data), Step: step, Zxid: step, Czxid: step}
	}
	failed := ok(ops.Enter, 3, 6)
	failed.Client, failed.Outcome, failed.Err = "b", linearizability.OpUnknown, "timeout"
	const granted = linearizability.Safety
	unapplied := linearizability.Verdict{Property: wrong, Steps: []int64{3},
		Summary: "a's add (steps 1 to 3) was acknowledged, but the server never applied it"}
	tests := map[string]struct {
		requests []string
		changes  []trace.Change
		calls    []linearizability.Op
		verdict  linearizability.Verdict
		want     string
	}{
		"a grant on an event": {
			[]string{"a getChildren2 /l: ok [1 2], zxid 1", "a exists /l/1: ok, zxid 1", "b exists /l: ok, zxid 1"},
			nil, []linearizability.Op{ok(ops.Lock, 1, 4)},
			linearizability.Verdict{Property: granted, Steps: []int64{1, 4},
				Summary: "b and a own it; a was granted it although the older /l/2 was there"},
			last + " of it: listed the children of /l: [1 2] (step 1), and then the event NodeDeleted " +
				"/l/1 (step 3), and no list reached the server after that",
		},
		"a grant on a list of before": {
			[]string{"a getChildren2 /l: ok [], zxid 1", "b create /l/1: ok /l/1, zxid 2"},
			[]trace.Change{made("b", "/l/1", "", 2)}, []linearizability.Op{ok(ops.Lock, 1, 3)},
			linearizability.Verdict{Property: granted, Steps: []int64{1, 3},
				Summary: "b and a own it; a was granted it although b's /l/1 was there"},
			last + " of it: listed the children of /l: [] (step 1), before b created /l/1 (step 2)",
		},
		"a grant on a look before a multi": {
			[]string{"b exists /x: ok, zxid 1", "a getChildren2 /l: ok [], zxid 1",
				"b create /l/1: ok /l/1, zxid 2", "a multi (setData /l, create /l/2): ok, zxid 3",
				"a getChildren2 /l: ok [1 2], zxid 3"},
			[]trace.Change{made("b", "/l/1", "", 3)}, []linearizability.Op{ok(ops.Lock, 1, 6)},
			linearizability.Verdict{Property: granted, Steps: []int64{1, 6},
				Summary: "b and a own it; a was granted it although the older /l/1 was there"},
			last + " of it: listed the children of /l: [1 2] (step 5); before that: listed the children " +
				"of /l: [] (step 2), and then multi (setData /l, create /l/2): ok (step 4), although in " +
				"between b created /l/1 (step 3)",
		},
		"the end of a lease": {
			[]string{"a exists /l: ok, zxid 1", "a exists /l: ok, zxid 1"}, nil, nil,
			linearizability.Verdict{Property: linearizability.Belief, Steps: []int64{1, 2},
				Summary: "a believed until step 2, 1s longer than it held the lock"},
			last + " before that: exists /l: ok, from server 3, which was cut off from the others " +
				"since step 1 (step 1)",
		},
		"an attempt that left its node": {
			[]string{"a create /l/1: ok /l/1, zxid 1", "a getChildren2 /l: ok [1 0], zxid 1",
				"a create /l/2: ok /l/2, zxid 2"}, nil, nil,
			linearizability.Verdict{Property: linearizability.Liveness,
				Summary: "/l/1 was left by a's lock (first attempt, create at step 1)"},
			last + " before its next create (step 3): listed the children of /l: [1 0] (step 2)",
		},
		"a release that sent nothing": {
			[]string{"a create /l/1: ok /l/1, zxid 1", "b delete /l/0: ok, zxid 2"}, nil, nil,
			linearizability.Verdict{Property: linearizability.Liveness,
				Summary: "/l/1 was left by a's lead, and lived on after a's resign (steps 2 to 3)"},
			"a's resign sent no delete",
		},
		"a release that sent a delete": {
			[]string{"a create /l/1: ok /l/1, zxid 1", "a delete /l/0: ok, zxid 2"}, nil, nil,
			linearizability.Verdict{Property: linearizability.Liveness,
				Summary: "/l/1 was left by a's lead, and lived on after a's resign (steps 2 to 3)"},
			"",
		},
		"a create that is refused below the own node": {
			[]string{"b exists /l: ok, zxid 1", "a create /l/1: NoChildrenForEphemerals, zxid 1",
				"a exists /l: ok, zxid 1"}, nil,
			[]linearizability.Op{{Client: "a", Kind: ops.Lock, Call: 1,
				Outcome: linearizability.OpPending}},
			linearizability.Verdict{Property: linearizability.Liveness, Steps: []int64{1},
				Summary: "a's lock itself made it, and so waits for its own znode"},
			"in that call the server refused create /l/1: NoChildrenForEphemerals (step 2)",
		},
		"a grant by the node of a session that has ended": {
			[]string{"a getChildren2 /l: ok [1], zxid 1", "b exists /l: ok, zxid 1"},
			[]trace.Change{{Kind: trace.NodeDeleted, Owner: 7, Path: "/l/1", Step: 2}},
			[]linearizability.Op{ok(ops.Lead, 1, 3)},
			linearizability.Verdict{Property: InvariantProperty, Summary: "a leads at step 3"},
			"a's lead rests on the reply at step 1: listed the children of /l: [1], but its own /l/1 " +
				"went at step 2, when its session ended",
		},
		"a take, with the list and the data": {
			[]string{"a getChildren2 /q: ok [1], zxid 1", "b exists /q: ok, zxid 1",
				"a getData /q/1: ok, zxid 1", "a delete /q/1: ok, zxid 2"}, nil,
			[]linearizability.Op{ok(ops.Take, 1, 5)},
			linearizability.Verdict{Property: wrong, Steps: []int64{1, 5}},
			"a's take rests on the reply at step 4: delete /q/1: ok; before that: listed the children " +
				"of /q: [1] (step 1), then getData /q/1: ok (step 3)",
		},
		"a grant without a request": {
			[]string{"a exists /l: ok, zxid 1", "b exists /l: ok, zxid 1"}, nil,
			[]linearizability.Op{ok(ops.Lock, 2, 3)},
			linearizability.Verdict{Property: granted, Steps: []int64{2, 3}},
			"a's lock (steps 2 to 3) sent no request; " + last + ": exists /l: ok (step 1)",
		},
		"of two calls with one number, the one that reserved nothing": {
			[]string{"a getData /n: ok, zxid 1", "b exists /l: ok, zxid 1", "a setData /n: ok, zxid 1"}, nil,
			[]linearizability.Op{ok(ops.Next, 1, 2), ok(ops.Next, 3, 4)},
			linearizability.Verdict{Property: granted, Steps: []int64{1, 2, 3, 4},
				Summary: "1 is handed out twice"},
			last + " in its next of steps 1 to 2: getData /n: ok (step 1)",
		},
		"of an element out of order, the list": {
			[]string{"a getChildren2 /q: ok [1], zxid 1", "b exists /q: ok, zxid 1",
				"a getData /q/1: ok, zxid 1", "a delete /q/1: ok, zxid 2"}, []trace.Change{deleted}, nil,
			linearizability.Verdict{Property: linearizability.Order, Steps: []int64{4}},
			last + " before that: listed the children of /q: [1] (step 1), then getData /q/1: ok (step 3)",
		},
		"of an invariant, what its call rests on": {
			[]string{"a exists /l: ok, zxid 1", "b exists /l: ok, zxid 1"}, nil,
			[]linearizability.Op{ok(ops.Lead, 1, 2)},
			linearizability.Verdict{Property: InvariantProperty, Summary: "a leads at step 2"},
			"a's lead rests on the reply at step 1: exists /l: ok",
		},
		"of a left node, why its call failed": {
			[]string{"a exists /l/2: NoNode, zxid 1", "b exists /l: ok, zxid 1"}, nil,
			[]linearizability.Op{{Client: "a", Kind: ops.Lock, Call: 1, Return: 2,
				Outcome: linearizability.OpFailed, Err: "lost it"}},
			linearizability.Verdict{Property: linearizability.Orphans,
				Summary: "/l/1 was left by a's lock (steps 1 to 2, failed: lost it)"},
			last + " in that call: exists /l/2: NoNode (step 1)",
		},
		"a multi with the part that was refused": {
			[]string{"b create /m: ok /m, zxid 1",
				"a multi (setData /c, create /m): failed, NodeExists, zxid 2", "a exists /m: ok, zxid 2"},
			[]trace.Change{made("b", "/m", "b's", 1)},
			[]linearizability.Op{ok(ops.Add, 1, 3)}, unapplied,
			"the last write of a's add: multi (setData /c, create /m): NodeExists, for b created /m " +
				`with "b's" at step 1, so none of it was applied (step 2)`,
		},
		"a multi with a wrong version": {
			[]string{"b setData /c: ok, zxid 1",
				"a multi (create /m, setData /c): failed, BadVersion, zxid 2", "a exists /m: NoNode, zxid 2"},
			[]trace.Change{{Kind: trace.DataChanged, Client: "b", Path: "/c", Step: 1, Zxid: 1}},
			[]linearizability.Op{ok(ops.Add, 1, 3)}, unapplied,
			"the last write of a's add: multi (create /m, setData /c): BadVersion, for b wrote /c " +
				"at step 1, so none of it was applied (step 2)",
		},
		"a grant by a multi": {
			[]string{"b create /l: ok /l, zxid 1", "a multi (create /l, setData /e): failed, NodeExists, zxid 2",
				`a getData /e: ok, zxid 2`},
			[]trace.Change{made("b", "/l", "b", 1)},
			[]linearizability.Op{ok(ops.Lead, 1, 3)},
			linearizability.Verdict{Property: granted, Steps: []int64{3}},
			"a's lead rests on the reply at step 3: getData /e: ok; before that: multi (create /l, " +
				`setData /e): NodeExists, for b created /l with "b" at step 1, so none of it was applied (step 2)`,
		},
		"a grant on an old reply": {
			[]string{"a getChildren2 /l: ok [1], zxid 1", "b exists /l: ok, zxid 1", "b exists /l: ok, zxid 1"},
			nil, []linearizability.Op{ok(ops.Lock, 1, 3)},
			linearizability.Verdict{Property: granted, Steps: []int64{1, 3}},
			"a's lock rests on the reply at step 1: listed the children of /l: [1], and then its " +
				"client was told: disconnected (step 2)",
		},
		"a node that was left is counted": {
			[]string{"a exists /d: ok, zxid 1", "a exists /d: ok, zxid 1", "a exists /d: ok, zxid 1",
				"b create /d/b: ok /d/b, zxid 2", "b exists /d: ok, zxid 2", "b exists /d: ok, zxid 2",
				"a create /d/a: ok /d/a, zxid 3", "a getChildren2 /d: ok [a b], zxid 3"},
			[]trace.Change{made("b", "/d/b", "", 4), made("a", "/d/a", "", 7)},
			[]linearizability.Op{failed, ok(ops.Enter, 7, 8)},
			linearizability.Verdict{Property: granted, Steps: []int64{7, 8}},
			"a's enter rests on the reply at step 8: listed the children of /d: [a b], where /d/b " +
				"was left by b's enter (steps 3 to 6, unknown: timeout)",
		},
		"another client's write": {
			[]string{"b create /x: ok /x, zxid 1", "a getData /x: ok, zxid 1", "b setData /x: ok, zxid 2"},
			[]trace.Change{{Kind: trace.NodeCreated, Client: "b", Path: "/x", Step: 1, Zxid: 1},
				{Kind: trace.DataChanged, Client: "b", Path: "/x", Step: 3, Zxid: 2}},
			[]linearizability.Op{ok(ops.Get, 1, 3)},
			linearizability.Verdict{Property: wrong, Steps: []int64{3}},
			last + `: getData /x: ok, which b created at step 1 (step 2)`,
		},
		"an element out of order, with the list from before the other": {
			[]string{"a getChildren2 /q: ok [1], zxid 1", "b create /q/0: ok /q/0, zxid 2",
				"a getData /q/1: ok, zxid 2", "a delete /q/1: ok, zxid 3"}, []trace.Change{deleted}, nil,
			linearizability.Verdict{Property: linearizability.Order, Steps: []int64{4}, Summary: "element x was removed at step 4, although y was in the queue since step 2"},
			"before it removed /q/1, a had last listed the children of /q: [1] (step 1), which was before the other came",
		},
		"not whom it may wake": {
			[]string{"a getChildren2+watch /q: ok [], zxid 1", "c create /q/1: ok /q/1, zxid 3"},
			[]trace.Change{{Kind: trace.NodeCreated, Client: "c", Path: "/q/1", Step: 2, Notified: 2}}, nil,
			linearizability.Verdict{Property: linearizability.Herd, Steps: []int64{2}}, "",
		},
		"a refused write before a take": {
			[]string{"a create /q/1-lock: NodeExists, zxid 1", "a getData /q/1: ok, zxid 1"}, nil,
			[]linearizability.Op{ok(ops.Take, 1, 2)},
			linearizability.Verdict{Property: granted, Steps: []int64{1, 2}},
			"a's take rests on the reply at step 2: getData /q/1: ok; before that: create /q/1-lock: NodeExists (step 1)",
		},
		"a wait passes, and cleans up": {
			[]string{"a exists /t/ready: ok, zxid 1", "a delete /t/1: ok, zxid 2"}, nil,
			[]linearizability.Op{ok(ops.Wait, 1, 2)},
			linearizability.Verdict{Property: granted, Steps: []int64{1, 2}},
			"a's wait rests on the reply at step 1: exists /t/ready: ok",
		},
		"a number without a request": {
			[]string{"a create /n: ok /n, zxid 1", "b exists /l: ok, zxid 1"}, nil,
			[]linearizability.Op{ok(ops.Next, 2, 2)},
			linearizability.Verdict{Property: linearizability.Order, Steps: []int64{2}},
			"a's next (steps 2 to 2) sent no request; " + last + ": create /n: ok /n (step 1)",
		},
		"why a call failed that was applied": {
			[]string{"a create /n: ok /n, zxid 1", "b exists /l: ok, zxid 1", "b exists /l: ok, zxid 1"}, nil,
			[]linearizability.Op{{Client: "a", Kind: ops.Add, Call: 1, Return: 3, Outcome: linearizability.OpFailed}},
			linearizability.Verdict{Property: linearizability.Delivery, Steps: []int64{1, 3}, Summary: "a's add was applied at step 1, although it said that it was not"},
			last + ": its client was told: disconnected (step 2)",
		},
		"an older znode, and the look at another": {
			[]string{"a getChildren2 /l: ok [1 2], zxid 1", "a exists /l/2: NoNode, zxid 3", "a exists /l/3: ok, zxid 3"}, nil, []linearizability.Op{ok(ops.Lock, 1, 3)},
			linearizability.Verdict{Property: granted, Steps: []int64{3}, Summary: "b and a own it; a was granted it although the older /l/1 was there"},
			last + " of it: listed the children of /l: [1 2] (step 1), and then exists /l/2: NoNode (step 2)" +
				", and no list reached the server after that",
		},
		"of a call that was refused, the refused request": {
			[]string{"a exists /y: ok, zxid 1", "a setData /x: failed, NoNode, zxid 2",
				"a exists /y: ok, zxid 2", "a exists /y: ok, zxid 2"}, nil,
			[]linearizability.Op{refused},
			linearizability.Verdict{Property: wrong, Steps: []int64{1, 4}},
			last + ": setData /x: NoNode (step 2)",
		},
		"of two takes, the one that deleted nothing": {
			[]string{"a getData /q/1: ok, zxid 1", "a exists /q: ok, zxid 1", "a exists /q: ok, zxid 1",
				"a delete /q/1: ok, zxid 2"}, []trace.Change{deleted},
			[]linearizability.Op{ok(ops.Take, 1, 2), ok(ops.Take, 3, 4)},
			linearizability.Verdict{Property: wrong, Steps: []int64{1, 2, 3, 4},
				Summary: "a1 was taken twice: it was there once, and a deleted it, at step 4"},
			"a's take rests on the reply at step 2: exists /q: ok",
		},
		"of the older znode, not of the own one": {
			[]string{"a exists /l/2: NoNode, zxid 1", "a create /l/3: ok /l/3, zxid 3",
				"a exists /l/3: ok, zxid 3"}, nil,
			[]linearizability.Op{ok(ops.Lock, 1, 3)},
			linearizability.Verdict{Property: linearizability.Safety, Steps: []int64{3},
				Summary: "a and b own the lock; a (handle 2) was granted it although the older /l/2 was there"},
			last + " of it: exists /l/2: NoNode (step 1)",
		},
		"the own znode of that name had gone": {
			[]string{"a create /l: ok /l, zxid 1", "b create /l: ok /l, zxid 3", "a delete /l: ok, zxid 4"},
			[]trace.Change{{Kind: trace.NodeDeleted, Owner: 7, Path: "/l", Step: 2},
				{Kind: trace.NodeDeleted, Client: "a", Session: 8, Owner: 9, Path: "/l", Step: 3}}, nil,
			linearizability.Verdict{Property: linearizability.Safety, Steps: []int64{3}},
			last + " before that: its own /l had gone at step 2, when its session ended",
		},
		"no answer at all": {
			[]string{"b exists /x: ok, zxid 1", "a exists /x: ok, zxid 1"}, nil,
			[]linearizability.Op{ok(ops.Look, 1, 2)},
			linearizability.Verdict{Property: InvariantProperty, Summary: "a found nothing at step 2"},
			last + ": nothing, for the server has answered no request of it",
		},
		"what a guard saw": {
			[]string{"a exists /l: ok, zxid 1", "b exists /l: ok, zxid 1", "a exists /l: ok, zxid 2"},
			[]trace.Change{{Kind: trace.NodeCreated, Client: "b", Path: "/l", Step: 2, Zxid: 2}}, nil,
			linearizability.Verdict{Property: linearizability.Belief, Steps: []int64{1},
				Summary: "a's session expired at step 1, and the signal of loss did not come"},
			last + ": after that it read exists /l: ok, which b created at step 2 (step 3)",
		},
		"what made a znode anew, not what looked at it": {
			[]string{"a create /m: ok /m, zxid 1", "b delete /m: ok, zxid 2", "a create /m: ok /m, zxid 3",
				"a getData /m: ok, zxid 3"},
			[]trace.Change{{Kind: trace.NodeCreated, Client: "a", Path: "/m", Step: 1, Zxid: 1},
				{Kind: trace.NodeDeleted, Client: "b", Session: 7, Path: "/m", Step: 2, Zxid: 2}}, nil,
			linearizability.Verdict{Property: linearizability.Presence, Steps: []int64{2}},
			last + " of it: create /m: ok /m (step 3)",
		},
		"what a list led to": {
			[]string{"b create /m/x: ok /m/x, zxid 1", "a getChildren2 /m/x: NoNode, zxid 0",
				"a getChildren2 /m: ok [x], zxid 1"},
			[]trace.Change{{Kind: trace.NodeCreated, Client: "b", Path: "/m/x", Step: 1, Zxid: 1}},
			[]linearizability.Op{ok(ops.Look, 3, 4)},
			linearizability.Verdict{Property: linearizability.View, Steps: []int64{1, 4}},
			"a has listed the children of /m since then and not shown that: [x] (step 3); of the " +
				"znode itself it had got getChildren2 /m/x: NoNode (step 2)",
		},
		"data are not read by a list": {
			[]string{"a getData /m/x: ok, zxid 1", "b setData /m/x: ok, zxid 2",
				"a getChildren2 /m: ok [x], zxid 2"},
			[]trace.Change{{Kind: trace.DataChanged, Client: "b", Path: "/m/x", Step: 2, Zxid: 2}},
			[]linearizability.Op{ok(ops.Look, 3, 4)},
			linearizability.Verdict{Property: linearizability.View, Steps: []int64{2, 4}},
			"a read /m/x last before that: getData /m/x: ok (step 1), which left no watch",
		},
	}
	for name, tt := range tests {
		r := requested(tt.requests...)
		r.Changes, r.SessionClient = tt.changes, map[int64]string{7: "a"}
		if strings.Contains(tt.want, "its client was told: d") {
			r.Notices = []trace.Notice{{Client: "a", Kind: trace.Disconnected, Step: 2}}
		} else if strings.Contains(tt.want, "and then the event") {
			r.Events = []trace.EventPoint{{Client: "a", Type: "NodeDeleted", Path: "/l/1", Step: 3}}
		} else if strings.Contains(tt.want, "cut off") {
			r.Requests[0].Server = 3
			r.Servers = []trace.ServerState{{Server: 3}, {Server: 3, Step: 1, CutOff: true}}
		}
		tt.verdict.Status = linearizability.Violated
		report := &linearizability.Report{Verdicts: []linearizability.Verdict{tt.verdict}}
		tellLastActs(report, r, linearizability.History{Ops: tt.calls})
		text := strings.TrimPrefix(report.Verdicts[0].Summary, tt.verdict.Summary)
		check.Equal(t, strings.TrimPrefix(text, "; "), tt.want, name)
	}
}

// TestAWriteIsToldWithWhatItRestsOn: the code gave up because of a lost request.
func TestAWriteIsToldWithWhatItRestsOn(t *testing.T) {
	r := requested("a create /l: ok /l, zxid 1", "a ping /: ok, zxid 1", "a delete /l: ok, zxid 2")
	r.Requests = append(r.Requests[:1], r.Requests[2])
	r.Notices = []trace.Notice{{Client: "a", Kind: trace.Disconnected, Step: 2}}
	r.Strikes = []trace.Strike{{Client: "a", Op: "exists", Path: "/l", Step: 1,
		Fault: fault.Fault{Kind: fault.DropRequest}}}
	pending := linearizability.Op{Client: "a", Kind: ops.Lock, Call: 1,
		Outcome: linearizability.OpPending}
	check.Equal(t, lastAct(r, []linearizability.Op{pending}, "a", 3), "its client was told: "+
		"disconnected (step 2), and its exists /l was lost on the way to the server, then delete /l: ok (step 3)")
	pending.Client = "b"
	check.Equal(t, lastAct(r, []linearizability.Op{pending}, "a", 3), "delete /l: ok (step 3)")
}

// TestALoopThatMakesItsDirectoryPolls: a refused create changes nothing.
func TestALoopThatMakesItsDirectoryPolls(t *testing.T) {
	var lines []string
	for range few + 1 {
		lines = append(lines, "a create /l: NodeExists, zxid 1", "a getChildren2 /l: ok [b], zxid 1")
	}
	pending := linearizability.Op{Client: "a", Kind: ops.Lock, Outcome: linearizability.OpPending}
	path, times := polled(requested(lines...), pending)
	check.Equal(t, path, "/l")
	check.Equal(t, times, few+1)
}

// TestAMultiIsToldWithTheDataOfTheWrite: another part checks the same znode.
func TestAMultiIsToldWithTheDataOfTheWrite(t *testing.T) {
	r := requested("a multi (check /e, create /l, setData /e): ok, zxid 3", "server created /l: ok")
	r.Requests = r.Requests[:1]
	r.Changes = []trace.Change{
		{Kind: trace.NodeCreated, Client: "a", Path: "/l", Data: []byte("x"), Step: 2, Zxid: 3},
		{Kind: trace.DataChanged, Client: "a", Path: "/e", Data: []byte("y"), Step: 2, Zxid: 3}}
	check.Equal(t, lastAct(r, nil, "a", 1), `multi (check /e, create /l "x", setData /e "y"): ok (step 1)`)
}

// TestTheEndOfASessionIsTold and not the loss of its connection right after that.
func TestTheEndOfASessionIsTold(t *testing.T) {
	r := requested("a exists /l: ok, zxid 1")
	r.Notices = []trace.Notice{{Client: "a", Kind: trace.SessionExpired, Step: 2},
		{Client: "a", Kind: trace.Disconnected, Step: 3}}
	check.Equal(t, lastAct(r, nil, "a", 3), "its client was told: session-expired (step 2)")
}
