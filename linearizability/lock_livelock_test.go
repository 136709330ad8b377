package linearizability

import (
	"testing"

	"github.com/zksim/zksim/linearizability/ops"
)

func TestLivelock(t *testing.T) {
	// tries lets a and b in turn make and delete n znodes, and calls each after every znode.
	tries := func(n int, each func(f *fixture, i int)) func(f *fixture) {
		return func(f *fixture) {
			f.call("a", ops.Lock, "")
			f.call("b", ops.Lock, "")
			for i := range n {
				client, session := "a", int64(1)
				if i%2 > 0 {
					client, session = "b", 2
				}
				f.creates(client, session, node(client, i), "", session)
				f.deletes(client, session, node(client, i), 0)
				each(f, i)
			}
		}
	}
	nothing := func(*fixture, int) {}
	checkHistories(t, lockAt, []lockTest{
		{name: "free all the time", bad: Liveness,
			says: "from step 3 to 201 clients made 100 znodes for the lock, which was free, " +
				"and none of them was granted it: a made 50, b made 50",
			build: tries(100, nothing)},
		{name: "granted now and then", build: func(f *fixture) {
			tries(200, func(f *fixture, i int) {
				if i%90 == 0 {
					f.lock("c", 3, node("c", i))
					f.unlock("c", 3, node("c", i))
				}
			})(f)
			f.h.Ops = f.h.Ops[2:] // the others have ended
		}},
		{name: "held", build: func(f *fixture) {
			token := f.lock("c", 3, node("c", 0))
			tries(100, nothing)(f)
			f.left = &Leftovers{Nodes: []NodeAtRest{
				{Path: node("c", 0), Owner: 3, OwnerClient: "c", Czxid: token},
			}}
		}},
		{name: "disturbed", build: func(f *fixture) {
			tries(100, func(f *fixture, i int) {
				if i == 50 {
					f.told("a", Disconnected)
				}
			})(f)
			f.h.Ops = nil
		}},
	})
}
