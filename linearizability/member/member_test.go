package member

import (
	"strings"
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// joins records a complete join of "instance=data" below /m.
func (f *fixture) joins(client, entry string) int64 {
	instance, data := cutData(entry)
	op := f.Call(client, ops.Join, entry)
	step := f.Creates(client, memberSession(client), "/m/"+instance, data, memberSession(client))
	f.Ret(op, lin.OpOK, lin.Result{Session: memberSession(client)})
	return step
}

func memberSession(client string) int64 { return int64(client[0]) }

// leaves records a complete leave.
func (f *fixture) leaves(client, instance string) {
	op := f.Call(client, ops.Leave, instance)
	f.gone(client, instance)
	f.Ret(op, lin.OpOK, lin.Result{Session: memberSession(client)})
}

// gone records a delete by a client.
func (f *fixture) gone(client, instance string) {
	f.Deletes(client, memberSession(client), "/m/"+instance, 1)
}

// views records a view.
func (f *fixture) views(client, shown string) {
	f.Ret(f.Call(client, ops.View, ""), lin.OpOK, lin.Result{Output: shown, Empty: shown == ""})
}

// picks records a pick.
func (f *fixture) picks(client, service, chosen string) {
	f.Ret(f.Call(client, ops.Pick, service), lin.OpOK, lin.Result{Output: chosen, Empty: chosen == ""})
}

// passes lets time pass, a millisecond each step.
func (f *fixture) passes(d time.Duration) { f.Step += int64(d / time.Millisecond) }

func TestGroups(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(Claims{Path: "/m", Within: time.Second}), []claimTest{
		{Name: "come and go", Build: func(f *fixture) {
			f.views("c", "")
			f.joins("a", "a=1")
			f.views("c", "a")
			f.joins("b", "b=1")
			f.views("c", "a") // a little late
			f.views("c", "a,b")
			f.leaves("a", "a")
			f.leaves("b", "b")
			f.views("c", "b")
			f.passes(time.Second)
			f.views("c", "")
			f.Left = &lin.Leftovers{
				Nodes: []lin.NodeAtRest{{Path: "/m"}}, Watches: []lin.WatchAtRest{{Client: "c", Path: "/m"}},
			}
		}},
		{Name: "shows a member who never was", Bad: lin.Answers,
			Says: "c's view (steps 4 to 5) shows a,x, which was never so",
			Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.views("c", "a,x")
			}},
		{Name: "shows what never was at one moment", Bad: lin.Answers,
			Says: "shows b, which was never so", Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.joins("b", "b=1")
				f.views("c", "b")
			}},
		{Name: "shows what is to come", Bad: lin.Answers, Says: "never so", Build: func(f *fixture) {
			f.views("c", "a")
			f.joins("a", "a=1")
		}},
		{Name: "goes back", Bad: lin.Answers,
			Says: "shows nobody, as it was until step 2, after something newer was shown",
			Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.views("c", "a")
				f.views("c", "")
			}},
		{Name: "others may lag behind", Build: func(f *fixture) {
			f.joins("a", "a=1")
			f.views("c", "a")
			f.views("b", "")
		}},
		{Name: "does not converge", Bad: lin.Answers,
			Says: "shows nobody, as it was until step 2, 2.002s before the call, and views may " +
				"lag by 1s", Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.passes(2 * time.Second)
				f.views("c", "")
			}},
		{Name: "keeps the dead", Bad: lin.Answers, Says: "shows a, as it was until step 4",
			Build: func(f *fixture) {
				op := f.Call("a", ops.Join, "a=1")
				f.Creates("a", 97, "/m/a", "1", 97)
				f.Ret(op, lin.OpUnknown, lin.Result{})
				f.Expires(97, "/m/a")
				f.passes(2 * time.Second)
				f.views("c", "a")
			}},
		{Name: "comes back after an expiry", Build: func(f *fixture) {
			f.joins("a", "a=1")
			f.Expires(97, "/m/a")
			f.passes(900 * time.Millisecond)
			f.Creates("a", 98, "/m/a", "1", 98)
			f.passes(9 * time.Second)
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/m"}, {Path: "/m/a", Owner: 98}}}
		}},
		{Name: "comes back too late", Bad: lin.Presence,
			Says: `a has not been there with "1" for 1.101s since step 4, though it had joined ` +
				`(a's join (steps 1 to 3))`, Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.Expires(97, "/m/a")
				f.passes(1100 * time.Millisecond)
				f.Creates("a", 98, "/m/a", "1", 98)
			}},
		{Name: "never comes back", Bad: lin.Presence, Says: "has not been there",
			Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.Expires(97, "/m/a")
				f.passes(1100 * time.Millisecond)
				f.views("c", "")
			}},
		{Name: "acknowledged, not there", Bad: lin.Presence,
			Says: `a's join (steps 2 to 3) was acknowledged, but a was not there with "1"`,
			Build: func(f *fixture) {
				f.Starts("a", 97)
				f.Ret(f.Call("a", ops.Join, "a=1"), lin.OpOK, lin.Result{})
			}},
		{Name: "an earlier attempt has done it", Build: func(f *fixture) {
			op := f.Call("a", ops.Join, "a=1")
			f.Creates("a", 97, "/m/a", "1", 97)
			f.Ret(op, lin.OpUnknown, lin.Result{})
			f.Ret(f.Call("a", ops.Join, "a=1"), lin.OpOK, lin.Result{})
		}},
		{Name: "is still there", Bad: lin.Presence,
			Says: "a's leave (steps 4 to 5) was acknowledged, but /m/a is still there",
			Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.Ret(f.Call("a", ops.Leave, "a"), lin.OpOK, lin.Result{Session: 97})
			}},
		{Name: "an expired session's znode is still there", Build: func(f *fixture) {
			f.joins("a", "a=1")
			f.Ret(f.Call("a", ops.Leave, "a"), lin.OpOK, lin.Result{Session: 98})
			f.Expires(97, "/m/a")
			f.Left = &lin.Leftovers{}
		}},
		{Name: "is still there, of an unknown session", Bad: lin.Presence, Says: "is still there",
			Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.Ret(f.Call("a", ops.Leave, "a"), lin.OpOK, lin.Result{})
			}},
		{Name: "an unknown session was told to have expired", Build: func(f *fixture) {
			f.joins("a", "a=1")
			f.Told("a", lin.SessionExpired)
			f.Ret(f.Call("a", ops.Leave, "a"), lin.OpOK, lin.Result{})
			f.Expires(97, "/m/a")
			f.Left = &lin.Leftovers{}
		}},
		{Name: "comes back after it has left", Bad: lin.Presence,
			Says: "/m/a came back at step 7, though it had left (a's leave (steps 4 to 6))",
			Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.leaves("a", "a")
				f.Creates("a", 97, "/m/a", "1", 97)
			}},
		{Name: "deleted by another", Bad: lin.Safety, Says: "b deleted /m/a at step 4, which was a's",
			Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.gone("b", "a")
			}},
		{Name: "deleted by the next process of its owner", Build: func(f *fixture) {
			f.joins("a", "a=1")
			f.Told("a", lin.Died)
			op := f.Call("d", ops.Join, "a=2")
			f.gone("d", "a")
			f.Creates("d", 100, "/m/a", "2", 100)
			f.Ret(op, lin.OpOK, lin.Result{Session: 100})
		}},
		{Name: "deleted by a client that has not joined it", Bad: lin.Safety,
			Says: "d deleted /m/a at step 5, which was a's", Build: func(f *fixture) {
				f.joins("a", "a=1")
				f.Told("a", lin.Died)
				f.gone("d", "a")
			}},
		{Name: "deleted by a client that joins it before its owner has died", Bad: lin.Safety,
			Says: "d deleted /m/a at step 5, which was a's", Build: func(f *fixture) {
				f.joins("a", "a=1")
				op := f.Call("d", ops.Join, "a=2")
				f.gone("d", "a")
				f.Told("a", lin.Died)
				f.Creates("d", 100, "/m/a", "2", 100)
				f.Ret(op, lin.OpOK, lin.Result{Session: 100})
			}},
		{Name: "evicted", Build: func(f *fixture) {
			f.joins("a", "a=1")
			op := f.Call("b", ops.Evict, "a")
			f.gone("b", "a")
			f.Ret(op, lin.OpOK, lin.Result{})
			f.Creates("a", 97, "/m/a", "1", 97)
		}},
		{Name: "left at rest", Bad: lin.Orphans, Says: "/m/a (session 0x61) is left below /m",
			Build: func(f *fixture) {
				f.joins("a", "a=1")
				op := f.Call("a", ops.Leave, "a")
				f.Ret(op, lin.OpUnknown, lin.Result{})
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/m"}, {Path: "/m/a", Owner: 97}}}
			}},
		{Name: "a view that never returns", Bad: lin.Liveness,
			Says: "c's view (step 1, pending) never returned", Build: func(f *fixture) {
				f.Call("c", ops.View, "")
				f.Left = &lin.Leftovers{}
			}},
	}, func(f *fixture) {
		f.passes(2 * time.Second)
		f.views("d", f.shown())
	})
}

// shown is the right view at the end.
func (f *fixture) shown() string {
	c := newTable(f.History().Sorted(), Claims{Path: "/m"})
	return c.truth.names[len(c.truth.names)-1].value
}

// TestMembershipWithoutALog: without a log there are no violations.
func TestMembershipWithoutALog(t *testing.T) {
	f := &fixture{}
	f.views("c", "a,b")
	f.Ret(f.Call("a", ops.Join, "a=1"), lin.OpOK, lin.Result{})
	h := f.History()
	h.Server = nil
	judgingtest.CheckReport(t, judgingtest.Judge(h, &lin.Leftovers{}, Claims{Path: "/m", Within: 1}), "", "")
}

// TestInstancesWithNamesOfTheirOwn has znodes whose data is the name of the instance.
func TestInstancesWithNamesOfTheirOwn(t *testing.T) {
	claims := Claims{Path: "/m", Within: time.Second,
		Instance: func(path, znode string) (name, data string, ok bool) {
			return strings.Cut(znode, ":")
		}, Data: true}
	registers := func(f *fixture, client, znode string) {
		op := f.Call(client, ops.Join, client+"=1")
		f.Creates(client, memberSession(client), "/m/s/"+znode, client+":1", memberSession(client))
		f.Ret(op, lin.OpOK, lin.Result{Session: memberSession(client)})
	}
	judgingtest.CheckHistories(t, judgingtest.Always(claims), []claimTest{
		{Name: "one znode after another", Build: func(f *fixture) {
			registers(f, "a", "n-1")
			registers(f, "b", "n-2")
			f.views("c", "a=1,b=1")
			f.gone("b", "s/n-2")
			f.views("c", "a=1")
		}},
		{Name: "two znodes of one instance", Build: func(f *fixture) {
			registers(f, "a", "n-1")
			f.Creates("a", memberSession("a"), "/m/s/n-2", "a:1", memberSession("a"))
			f.gone("a", "s/n-1")
			f.passes(2 * time.Second)
			f.views("c", "a=1")
		}},
		{Name: "gone with its last znode", Bad: lin.Answers,
			Says: "c's view (steps 2005 to 2006) shows a=1, as it was until step 4",
			Build: func(f *fixture) {
				registers(f, "a", "n-1")
				f.gone("a", "s/n-1")
				f.passes(2 * time.Second)
				f.views("c", "a=1")
			}},
	})
}
