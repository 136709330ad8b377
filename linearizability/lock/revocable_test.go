package lock

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// question records a request to the owner of a znode.
func (f *fixture) question(path string) {
	f.Server(lin.ServerEvent{Kind: lin.DataChanged, Session: 9, Client: "z", Path: path, Data: "?"})
}

// holds records a hold of client a; meanwhile runs during it.
func (f *fixture) holds(end string, meanwhile func()) {
	f.lock("a", 1, node("a", 0))
	op := f.Call("a", ops.Hold, "")
	meanwhile()
	f.Ret(op, lin.OpOK, lin.Result{Output: end})
	f.unlock("a", 1, node("a", 0))
}

func TestRevocableLocks(t *testing.T) {
	asks := func(f *fixture) func() { return func() { f.question(node("a", 0)) } }
	late := func(f *fixture) func() {
		return func() { f.question(node("a", 0)); f.Step += 100 }
	}
	cut := func(f *fixture) func() { return func() { f.Told("a", lin.Disconnected) } }
	nothing := func(*fixture) func() { return func() {} }
	for _, tt := range []struct {
		name      string
		end       string
		meanwhile func(f *fixture) func()
		bad, says string
	}{
		{"asked and heard", ops.Revoked, asks, "", ""},
		{"not asked", ops.Over, nothing, "", ""},
		{"asked just before the end", ops.Over, asks, "", ""},
		{"lost before it could hear", ops.Lost, late, "", ""},
		{"told of a loss by the same signal", ops.Revoked, cut, "", ""},
		{"heard what nobody asked", ops.Revoked, nothing, lin.Delivery,
			"nobody had changed /lock/a-0000000000"},
		{"asked and not heard", ops.Over, late, lin.Delivery,
			"a was asked at step 5 to give /lock/a-0000000000 up, and had not heard of it 101ms " +
				"later"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fixture{}
			f.holds(tt.end, tt.meanwhile(f))
			opts := Revocable{Claims: Claims{Path: "/lock"}, Within: 50 * time.Millisecond}
			judgingtest.CheckReport(t, judgingtest.Judge(f.History(), &lin.Leftovers{}, opts),
				tt.bad, tt.says)
		})
	}
}

// randomRevocable makes valid histories with requests to owners.
func randomRevocable(t *rapid.T) lin.History {
	f := &fixture{}
	for n := range rapid.IntRange(1, 8).Draw(t, "holds") {
		client := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "client")
		session := int64(client[0])
		f.lock(client, session, node(client, n))
		end := rapid.SampledFrom([]string{ops.Revoked, ops.Over, ops.Revoked}).Draw(t, "end")
		if rapid.Bool().Draw(t, "holds on") {
			op := f.Call(client, ops.Hold, "")
			if end == ops.Revoked {
				f.question(node(client, n))
			}
			f.Ret(op, lin.OpOK, lin.Result{Output: end})
		}
		f.unlock(client, session, node(client, n))
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
		{"heard, but never asked", func(t *rapid.T, h *lin.History) bool {
			e := judgingtest.One(t, h.Server,
				func(e *lin.ServerEvent) bool { return e.Kind == lin.DataChanged })
			if e != nil {
				i := slices.Index(h.Server, *e)
				h.Server = slices.Delete(h.Server, i, i+1)
			}
			return e != nil
		}, []string{lin.Delivery}, 0},
		{"asked, but never heard", func(t *rapid.T, h *lin.History) bool {
			op := judgingtest.One(t, h.Ops, func(op *lin.Op) bool {
				return op.Kind == ops.Hold && op.Output == ops.Revoked
			})
			if op != nil {
				op.Output, op.ReturnTime = ops.Over, op.ReturnTime+time.Minute
			}
			return op != nil
		}, []string{lin.Delivery}, 0},
	})
}
