package lock

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestRevocableLocks(t *testing.T) {
	claims := Revocable{Claims: Claims{Path: "/lock"}, Within: 50 * time.Millisecond}
	held := func(meanwhile, end string) string {
		return "a locks a-0; a hold();" + meanwhile + "; a -> " + end + "; a unlocks a-0; rest"
	}
	const asks = "z@9 stores a-0=?"
	judgingtest.CheckHistories(t, judgingtest.Always(claims), []claimTest{
		{Name: "asked and heard", Steps: held(asks, ops.Revoked)},
		{Name: "not asked", Steps: held("", ops.Over)},
		{Name: "asked just before the end", Steps: held(asks, ops.Over)},
		{Name: "lost before it could hear", Steps: held(asks+"; pass 100", ops.Lost)},
		{Name: "its session ends before it could hear",
			Steps: held(asks+"; a expires a-0; pass 100", ops.Over)},
		{Name: "its session ends too late for an excuse", Bad: lin.Delivery,
			Says:  "had not heard of it 202ms later",
			Steps: held(asks+"; pass 100; a expires a-0; pass 100", ops.Over)},
		{Name: "told of a loss by the same signal", Steps: held("a told disconnected", ops.Revoked)},
		{Name: "heard what nobody asked", Bad: lin.Delivery,
			Says: "nobody had changed /lock/a-0000000000", Steps: held("", ops.Revoked)},
		{Name: "asked and not heard", Bad: lin.Delivery,
			Says: "a was asked at step 5 to give /lock/a-0000000000 up, and had not heard of it " +
				"101ms later", Steps: held(asks+"; pass 100", ops.Over)},
	})
}

// randomRevocable makes valid histories with requests to owners.
func randomRevocable(t *rapid.T) lin.History {
	f := &fixture{}
	for n := range rapid.IntRange(1, 8).Draw(t, "holds") {
		client := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "client")
		f.Plays(fmt.Sprintf("%s locks %[1]s-%d", client, n))
		end := rapid.SampledFrom([]string{ops.Revoked, ops.Over, ops.Revoked}).Draw(t, "end")
		if rapid.Bool().Draw(t, "holds on") {
			f.Plays(client + " hold()")
			if end == ops.Revoked {
				f.Plays(fmt.Sprintf("z@9 stores %s-%d=?", client, n))
			}
			f.Plays(client + " -> " + end)
		}
		f.Plays(fmt.Sprintf("%s unlocks %[1]s-%d", client, n))
	}
	return f.History()
}

func judgeRevocable(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Revocable{Claims: Claims{Path: "/lock"}, Within: time.Second})
}

func TestCorrectRevocableLocksAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomRevocable, judgeRevocable)
}

func TestBrokenRevocableLocksAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomRevocable, judgeRevocable, []mutation{
		{"heard, but never asked",
			judgingtest.OnEvent(judgingtest.OfKind(lin.DataChanged), judgingtest.Drop),
			[]string{lin.Delivery}, 0},
		{"asked, but never heard", judgingtest.OnCall(
			func(op *lin.Op) bool { return op.Kind == ops.Hold && op.Output == ops.Revoked },
			func(_ *lin.History, op *lin.Op) {
				op.Output, op.ReturnTime = ops.Over, op.ReturnTime+time.Minute
			}), []string{lin.Delivery}, 0},
	})
}
