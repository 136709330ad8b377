package lock

import (
	"testing"
	"time"

	"github.com/zksim/zksim/internal/check"
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// TestANoticeBeforeTheGrantMayBeOfAnEarlierSession: it came 1 step after the call of lock, when the
// client was in the session of the calls before, or in one that nobody knows.
func TestANoticeBeforeTheGrantMayBeOfAnEarlierSession(t *testing.T) {
	op := func(client, kind string, call, ret, session int64) lin.Op {
		ms := time.Millisecond
		return lin.Op{Client: client, Kind: kind, Session: session, Outcome: lin.OpOK,
			Call: call, CallTime: time.Duration(call) * ms,
			Return: ret, ReturnTime: time.Duration(ret) * ms}
	}
	before := func(session int64) []lin.Op {
		return []lin.Op{op("a", ops.Lock, 1, 2, session), op("a", ops.Unlock, 3, 4, session)}
	}
	right := []lin.Op{
		op("b", ops.Lock, 5, 6, 9), op("a", ops.Lock, 7, 11, 4), op("b", ops.Unlock, 9, 10, 9),
		op("a", ops.Unlock, 12, 13, 4), op("b", ops.Lock, 14, 15, 9), op("b", ops.Unlock, 20, 21, 9),
	}
	wrong := append(right[:4:4], op("c", ops.Lock, 10, 11, 8))
	wrong[3].Call, wrong[3].Return = 20, 21 // a holds on
	for _, c := range []struct {
		name  string
		calls []lin.Op
		want  lin.Status
	}{
		{"of the session before", append(before(1), right...), lin.OK},
		{"of an unknown session", right, lin.OK},
		{"of the session of the grant", append(before(4), right...), lin.Violated},
		{"of the session before, or of that which the client dialed then, two owners",
			append(before(1), wrong...), lin.Unknown},
		{"of an unknown session, two owners", wrong, lin.Unknown},
	} {
		h := lin.History{Ops: c.calls, End: 22, EndTime: 22 * time.Millisecond}
		h.Notices = []lin.Notice{{Client: "a", Step: 8, Time: 8 * time.Millisecond,
			Kind: lin.SessionExpired}}
		r := lin.Judge(h, nil, Claims{})
		got := lin.OK
		for _, v := range r.Verdicts {
			if v.Property != lin.Liveness {
				got = max(got, v.Status)
			}
		}
		check.Equal(t, got, c.want, "%s: %v", c.name, r.Verdicts)
	}
}
