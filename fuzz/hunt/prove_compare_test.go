package hunt

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/barrier"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/queue"
)

var everybody = zk.WorldACL(zk.PermAll)

// awaitNode waits until a node is there.
func awaitNode(c *zk.Conn, path string) {
	for {
		if there, _, changed, err := c.ExistsW(path); err != nil || there {
			return
		} else {
			<-changed
		}
	}
}

// judged is a scenario of two clients with one of our judges.
func judged(nodes map[string]string, claims linearizability.Claims,
	plays ...func(call func(kind, input string, do func() (string, error)), c *zk.Conn),
) scenario.Scenario {
	w := scenario.Workload{Name: "compared", Impl: "compared", Nodes: nodes,
		Properties: claims.Properties(),
		Play: func(p *scenario.Player, _ scenario.Script) {
			plays[p.Index()](func(kind, input string, do func() (string, error)) {
				_ = p.Do(kind, input, func(context.Context) (r linearizability.Result, err error) {
					r.Output, err = do()
					return r, err
				})
			}, p.Conn())
		},
		Judge: func(e scenario.Evidence) (linearizability.Report, error) {
			return linearizability.Judge(e.History, nil, claims), nil
		}}
	return scenario.Scenario{Workload: w, Seed: 1, Script: scenario.Script{Clients: 2, Rounds: 1}}
}

// TestProofsTryTheOrdersThatOurJudgesCompare, though no client can tell them: of a change and the
// end of another client's wait at a barrier, and of two creates of elements of a queue.
func TestProofsTryTheOrdersThatOurJudgesCompare(t *testing.T) {
	t.Parallel()
	type calls = func(kind, input string, do func() (string, error))
	create := func(c *zk.Conn, path string) (string, error) {
		return c.Create(path, nil, 0, everybody)
	}
	offer := func(call calls, c *zk.Conn, own, other string, asks int) {
		call(ops.Offer, own, func() (string, error) {
			_, _ = create(c, "/"+own)
			awaitNode(c, "/"+other)
			for range asks {
				_, _, _ = c.Get("/q")
			}
			_, err := c.Create("/q/"+own, []byte(own), 0, everybody)
			return "", err
		})
	}
	for about, s := range map[string]scenario.Scenario{
		"a wait returns when the barrier is about to be removed": judged(
			map[string]string{"/b": ""},
			barrier.Claims{Path: "/b/x", AllowedAtRest: []string{"/b/*"}},
			func(call calls, c *zk.Conn) {
				call(ops.Set, "", func() (string, error) {
					_, err := create(c, "/b/x")
					_, _ = create(c, "/b/ready")
					return "", err
				})
				call(ops.Remove, "", func() (string, error) {
					_, _ = create(c, "/b/going")
					return "", c.Delete("/b/x", -1)
				})
			},
			func(call calls, c *zk.Conn) {
				awaitNode(c, "/b/ready")
				call(ops.Wait, "", func() (string, error) {
					awaitNode(c, "/b/going")
					_, _, err := c.Get("/b/going")
					return "", err
				})
			}),
		"a queue is ordered by names": judged(
			map[string]string{"/q": ""}, queue.Claims{Path: "/q"},
			func(call calls, c *zk.Conn) {
				offer(call, c, "a", "b", 0)
				_, _ = create(c, "/done")
			},
			func(call calls, c *zk.Conn) {
				offer(call, c, "b", "a", 3)
				awaitNode(c, "/done")
				for _, name := range []string{"a", "b"} {
					call(ops.Take, "", func() (string, error) { return name, c.Delete("/q/"+name, -1) })
				}
			}),
	} {
		p, err := Prove(t.Context(), s, Bounds{HideCounts: true})
		check.OK(t, err)
		check.Equal(t, p.Violation != nil, true, "%s: %v", about, p)
	}
}
