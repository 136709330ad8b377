package scenario

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestPromptness(t *testing.T) {
	expire := []fault.Fault{{Kind: fault.Expire, Client: "a", Request: 1}}
	stall := []fault.Fault{{Kind: fault.Stall, Client: "a", Request: 1, For: time.Minute}}
	at := func(kind linearizability.NoticeKind, at time.Duration) linearizability.Notice {
		return linearizability.Notice{Client: "a", Kind: kind, Step: 5, Time: at}
	}
	const s = time.Second
	tests := []struct {
		name     string
		kind     string
		deadline time.Duration
		returned time.Duration
		plan     []fault.Fault
		notices  []linearizability.Notice
		late     bool
	}{
		{"soon", ops.Lock, s, s + s/2, nil, nil, false},
		{"late", ops.Lock, s, 6 * s, nil, nil, true},
		{"no deadline", ops.Lock, 0, 6 * s, nil, nil, false},
		{"a release", ops.Unlock, s, 6 * s, nil, nil, false},
		{"perhaps a fault", ops.Lock, s, 6 * s, expire, nil, false},
		{"longer than a fault", ops.Lock, s, 12 * s, expire, nil, true},
		{"perhaps a long fault", ops.Lock, s, 60 * s, stall, nil, false},
		{"longer than a long fault", ops.Lock, s, 90 * s, stall, nil, true},
		{"connected late", ops.Lock, s, 12 * s, expire,
			[]linearizability.Notice{at(linearizability.Connected, 11*s)}, false},
		{"connected early", ops.Lock, s, 12 * s, expire,
			[]linearizability.Notice{at(linearizability.Connected, 2*s)}, true},
		{"cut off", ops.Lock, s, 12 * s, expire,
			[]linearizability.Notice{at(linearizability.Disconnected, 2*s)}, false},
	}
	for _, tt := range tests {
		var r linearizability.Report
		judgePromptness(&r, linearizability.History{Notices: tt.notices, Ops: []linearizability.Op{{
			Client: "a", Kind: tt.kind, Call: 1, Return: 9, Deadline: tt.deadline,
			ReturnTime: tt.returned,
		}}}, tt.plan)
		if late := r.Status() == linearizability.Violated; late != tt.late {
			t.Errorf("%s: late %t, want %t\n%s", tt.name, late, tt.late, r)
		}
	}
}
