package lock

import (
	"testing"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestLivelock(t *testing.T) {
	// tries lets a and b in turn make and delete n znodes, and calls each after every znode.
	tries := func(n int, each func(f *fixture, i int)) func(f *fixture) {
		return func(f *fixture) {
			f.Call("a", ops.Lock, "")
			f.Call("b", ops.Lock, "")
			for i := range n {
				client, session := "a", int64(1)
				if i%2 > 0 {
					client, session = "b", 2
				}
				f.Creates(client, session, node(client, i), "", session)
				f.Deletes(client, session, node(client, i), 0)
				each(f, i)
			}
		}
	}
	nothing := func(*fixture, int) {}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "free all the time", Bad: lin.Liveness,
			Says: "from step 3 to 201 clients made 100 znodes for the lock, which was free, " +
				"and none of them was granted it: a made 50, b made 50",
			Build: tries(100, nothing)},
		{Name: "granted now and then", Build: func(f *fixture) {
			tries(200, func(f *fixture, i int) {
				if i%90 == 0 {
					f.lock("c", 3, node("c", i))
					f.unlock("c", 3, node("c", i))
				}
			})(f)
			f.H.Ops = f.H.Ops[2:] // the others have ended
		}},
		{Name: "held", Build: func(f *fixture) {
			token := f.lock("c", 3, node("c", 0))
			tries(100, nothing)(f)
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{
				{Path: node("c", 0), Owner: 3, OwnerClient: "c", Czxid: token},
			}}
		}},
		{Name: "disturbed", Build: func(f *fixture) {
			tries(100, func(f *fixture, i int) {
				if i == 50 {
					f.Told("a", lin.Disconnected)
				}
			})(f)
			f.H.Ops = nil
		}},
	})
}
