package member

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

// spoils records a write by a client into another's instance.
func (f *fixture) spoils(client, instance string, asked bool) {
	var op int
	if asked {
		op = f.Call(client, ops.Spoil, instance)
	}
	f.Server(lin.ServerEvent{Kind: lin.DataChanged, Client: client, Session: memberSession(client),
		Path: "/m/" + instance, Data: "graffiti"})
	if asked {
		f.Ret(op, lin.OpOK, lin.Result{})
	}
}

// gaveUp records a join that failed while another client had the instance.
func (f *fixture) gaveUp(client, entry string) {
	f.Ret(f.Call(client, ops.Join, entry), lin.OpUnknown,
		lin.Result{Session: memberSession(client)})
}

// overtaken records a leave of b; its delete reaches the server while a has the instance.
func overtaken(f *fixture, session int64, after time.Duration) {
	f.joins("b", "x=b1")
	f.gaveUp("a", "x=a1")
	leave, evict := f.Call("b", ops.Leave, "x"), f.Call("c", ops.Evict, "x")
	f.gone("c", "x")
	f.Ret(evict, lin.OpOK, lin.Result{})
	f.Creates("a", 97, "/m/x", "a1", 97)
	f.passes(after)
	f.Deletes("b", session, "/m/x", 1)
	f.Creates("a", 97, "/m/x", "a1", 97)
	f.Ret(leave, lin.OpOK, lin.Result{Session: session})
}

func TestRivals(t *testing.T) {
	judgingtest.CheckHistories(t, judgingtest.Always(Claims{
		Path: "/m", Data: true, Rivals: true, Late: 100 * time.Millisecond,
		Hidden: []string{"secret"}, Within: time.Second, AllowedAtRest: []string{"/m/secret"},
	}), []claimTest{
		{Name: "one after the other", Build: func(f *fixture) {
			f.joins("a", "x=a1")
			f.gaveUp("b", "x=b1")
			f.views("c", "x=a1")
			f.leaves("a", "x")
			f.passes(500 * time.Millisecond)
			f.Creates("b", 98, "/m/x", "b1", 98)
			f.views("c", "x=b1")
			f.Expires(98, "/m/x")
			f.passes(500 * time.Millisecond)
			f.Creates("b", 99, "/m/x", "b1", 99)
			f.passes(5 * time.Second)
			f.views("c", "x=b1")
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/m"}, {Path: "/m/x", Owner: 99},
				{Path: "/m/secret"}}}
		}},
		{Name: "one loses it to the other", Build: func(f *fixture) {
			f.joins("a", "x=a1")
			f.gaveUp("b", "x=b1")
			f.Expires(97, "/m/x")
			f.Creates("b", 98, "/m/x", "b1", 98)
			f.passes(5 * time.Second)
		}},
		{Name: "nobody takes over", Bad: lin.Presence, Says: "nobody has had x, with his data, for 5.",
			Build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.gaveUp("b", "x=b1")
				f.leaves("a", "x")
				f.passes(5 * time.Second)
				f.views("c", "")
			}},
		{Name: "has it, as he says, and another does", Bad: lin.Presence,
			Says: `b's join (steps 4 to 5) was acknowledged, but x was not there with "b1"`,
			Build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.Ret(f.Call("b", ops.Join, "x=b1"), lin.OpOK, lin.Result{Session: 98})
			}},
		{Name: "deletes the rival's", Bad: lin.Safety, Says: "b deleted /m/x at step 5, which was a's",
			Build: func(f *fixture) {
				f.joins("a", "x=a1")
				op := f.Call("b", ops.Leave, "x")
				f.gone("b", "x")
				f.Ret(op, lin.OpOK, lin.Result{Session: 98})
			}},
		{Name: "has sent it when the instance was his own", Build: func(f *fixture) {
			overtaken(f, 98, 10*time.Millisecond)
		}},
		{Name: "has sent it long ago", Bad: lin.Safety, Says: "b deleted /m/x",
			Build: func(f *fixture) {
				overtaken(f, 98, time.Second)
			}},
		{Name: "has sent it in another session", Bad: lin.Safety, Says: "b deleted /m/x",
			Build: func(f *fixture) {
				overtaken(f, 198, 10*time.Millisecond)
			}},
		{Name: "writes into the rival's", Bad: lin.Safety,
			Says: `b wrote "graffiti" into /m/x at step 4, which was a's`,
			Build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.spoils("b", "x", false)
			}},
		{Name: "was asked to, and it is repaired", Build: func(f *fixture) {
			f.joins("a", "x=a1")
			f.spoils("b", "x", true)
			f.Stores("a", "/m/x", "a1")
			f.passes(5 * time.Second)
			f.views("c", "x=a1")
		}},
		{Name: "is not repaired", Bad: lin.Presence, Says: "nobody has had x, with his data",
			Build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.spoils("b", "x", true)
				f.passes(5 * time.Second)
				f.views("c", "x=graffiti")
			}},
		{Name: "shows old data", Bad: lin.Answers, Says: "shows x=a1, as it was until step",
			Build: func(f *fixture) {
				f.joins("a", "x=a1")
				f.spoils("b", "x", true)
				f.Stores("a", "/m/x", "a2")
				f.passes(5 * time.Second)
				f.views("c", "x=a1")
			}},
		{Name: "hides more than what may not be read", Bad: lin.Answers, Says: "does not show x",
			Build: func(f *fixture) {
				f.Creates("c", 99, "/m/secret", "s", 0)
				f.joins("a", "x=a1")
				f.passes(5 * time.Second)
				f.views("c", "")
			}},
		{Name: "is left behind", Bad: lin.Orphans, Says: "/m/x", Build: func(f *fixture) {
			f.joins("a", "x=a1")
			f.gaveUp("b", "x=b1")
			f.leaves("a", "x")
			f.Ret(f.Call("b", ops.Leave, "x"), lin.OpOK, lin.Result{Session: 98})
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/m"}, {Path: "/m/x", Owner: 98}}}
		}},
	})
}
