package linearizability

import (
	"fmt"
	"testing"
	"time"
)

// TestNoPatienceIsAskedOfWhoIsCutOff: b may sleep on while it has no connection, be it
// told of that in the time that patience looks at, or before.
func TestNoPatienceIsAskedOfWhoIsCutOff(t *testing.T) {
	type told struct {
		kind NoticeKind
		at   int64 // step, and ms
	}
	opts := QueueOptions{Path: "/q", Patience: 50 * time.Millisecond}
	takes := func(f *film) Report { // until 102
		f.offer("a", "x")
		op := f.call("b", KindTake, "")
		f.step = 101
		f.ret(op, OpFailed, Result{})
		return JudgeQueue(f.history(), nil, opts)
	}
	passes := func(f *film) Report { // until 102
		rest := giveUpAtT(f)
		return JudgeThresholdBarrier(f.history(), rest, thresholdAtT)
	}
	for _, test := range []struct {
		notices []told
		bad     string
	}{
		{nil, Liveness},
		{[]told{{Connected, 1}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}}, ""},
		{[]told{{Connected, 1}, {SessionExpired, 20}}, ""},
		{[]told{{Connected, 1}, {LockLost, 20}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 40}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 70}}, ""},
		{[]told{{Connected, 1}, {Disconnected, 20}, {SessionExpired, 30}, {Connected, 40}}, Liveness},
		{[]told{{Connected, 1}, {Disconnected, 20}, {Connected, 30}, {Disconnected, 40}}, ""},
		{[]told{{Disconnected, 20}}, Liveness}, // a history without connections
	} {
		for kind, judge := range map[string]func(*film) Report{"take": takes, "barrier": passes} {
			t.Run(fmt.Sprint(kind, test.notices), func(t *testing.T) {
				f := &film{}
				for _, n := range test.notices {
					f.h.Notices = append(f.h.Notices, Notice{Client: "b", Step: n.at, Time: time.Duration(n.at) * time.Millisecond, Kind: n.kind})
				}
				checkReport(t, judge(f), test.bad, "")
			})
		}
	}
}
