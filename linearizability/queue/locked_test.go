package queue

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func lockOf(item string) string { return item + "-lock" }

// lockSession returns the n-th session of a client.
func lockSession(client string, n int64) int64 { return int64(client[0]) + 1000*n }

// gets records a complete take of a queue with locks; the lock is of the client's first session.
func (f *fixture) gets(client, value string) {
	op := f.Call(client, ops.Take, "")
	f.Creates(client, lockSession(client, 0), "/q/"+value+"-lock", "guid", lockSession(client, 0))
	f.Ret(op, lin.OpOK, lin.Result{Output: value})
}

// ends records an ack or release, and the deletes of the paths.
func (f *fixture) ends(client, kind, value string, paths ...string) {
	op := f.Call(client, kind, value)
	for _, path := range paths {
		f.Deletes(client, lockSession(client, 0), path, 0)
	}
	f.Ret(op, lin.OpOK, lin.Result{})
}

// does acknowledges an element.
func (f *fixture) does(client, value string) {
	f.ends(client, ops.Ack, value, "/q/"+value, "/q/"+value+"-lock")
}

func TestLockQueue(t *testing.T) {
	xy := func(f *fixture) {
		f.offer("a", "x")
		f.offer("a", "y")
	}
	judgingtest.CheckHistories(t, judgingtest.Always(Locked{
		Claims: Claims{Path: "/q", Patience: 5e6}, Lock: lockOf,
	}), []claimTest{
		{Name: "one after the other", Build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			f.gets("c", "y")
			f.finds("a", ops.Poll, "")
			f.does("c", "y")
			f.does("b", "x")
			f.Left = &lin.Leftovers{}
		}},
		{Name: "given back", Build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			f.ends("b", ops.Release, "x", "/q/x-lock")
			f.gets("c", "x")
			f.does("c", "x")
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/y", Data: "y"}}}
		}},
		{Name: "redelivered after an expiry", Build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			f.Expires(lockSession("b", 0), "/q/x-lock")
			f.gets("c", "x")
			f.does("c", "x")
			f.Ret(f.Call("b", ops.Ack, "x"), lin.OpFailed, lin.Result{})
			f.Left = &lin.Leftovers{}
		}},
		{Name: "without a lock", Bad: lin.Safety,
			Says: "b's take (steps 7 to 8) returned element x without a lock on it",
			Build: func(f *fixture) {
				xy(f)
				f.Ret(f.Call("b", ops.Take, ""), lin.OpOK, lin.Result{Output: "x"})
			}},
		{Name: "another's lock is deleted", Bad: lin.Safety,
			Says: "c deleted /q/x-lock at step 10, the lock of b on element x",
			Build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.Deletes("c", lockSession("c", 0), "/q/x-lock", 0)
			}},
		{Name: "lock is given up", Bad: lin.Safety,
			Says: "b gave up /q/x-lock at step 10, its lock on element x, neither done with it " +
				"nor asked to", Build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.Deletes("b", lockSession("b", 0), "/q/x-lock", 0)
				f.does("b", "x")
			}},
		{Name: "lock is given up by a close that was under way", Build: func(f *fixture) {
			xy(f)
			op := f.Call("b", ops.Close, "")
			f.gets("b", "x")
			f.Deletes("b", lockSession("b", 0), "/q/x-lock", 0)
			f.Ret(op, lin.OpOK, lin.Result{})
			f.gets("c", "x")
			f.does("c", "x")
		}},
		{Name: "lock is given up after a close", Bad: lin.Safety,
			Says: "b gave up /q/x-lock at step 12", Build: func(f *fixture) {
				xy(f)
				op := f.Call("b", ops.Close, "")
				f.gets("b", "x")
				f.Ret(op, lin.OpOK, lin.Result{})
				f.Deletes("b", lockSession("b", 0), "/q/x-lock", 0)
				f.does("b", "x")
			}},
		{Name: "the younger first", Bad: lin.Order,
			Says: "got element y, although the older x was there and not locked all the time",
			Build: func(f *fixture) {
				xy(f)
				f.gets("b", "y")
			}},
		{Name: "the younger, while the older was locked", Build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			op := f.Call("c", ops.Take, "")
			f.ends("b", ops.Release, "x", "/q/x-lock")
			f.Creates("c", lockSession("c", 0), "/q/y-lock", "guid", lockSession("c", 0))
			f.Ret(op, lin.OpOK, lin.Result{Output: "y"})
		}},
		{Name: "nothing found beside an element", Bad: lin.Order,
			Says: "b's poll (steps 7 to 9) found nothing, although at every moment",
			Build: func(f *fixture) {
				xy(f)
				f.finds("b", ops.Poll, "")
			}},
		{Name: "nothing found while all were locked", Build: func(f *fixture) {
			xy(f)
			op := f.Call("c", ops.Poll, "")
			f.gets("a", "x")
			f.gets("b", "y")
			f.ends("a", ops.Release, "x", "/q/x-lock")
			f.Ret(op, lin.OpOK, lin.Result{Empty: true})
		}},
		{Name: "removed, not acknowledged", Bad: lin.Delivery,
			Says: "element x was removed by b at step 11, but was not acknowledged by that client",
			Build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.ends("b", ops.Release, "x", "/q/x", "/q/x-lock")
			}},
		{Name: "acknowledged by another than removed it", Bad: lin.Delivery, Says: "removed by b",
			Build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				op := f.Call("c", ops.Ack, "x")
				f.Deletes("b", lockSession("b", 0), "/q/x", 0)
				f.Ret(op, lin.OpUnknown, lin.Result{})
			}},
		{Name: "said not to be acknowledged", Bad: lin.Delivery,
			Says: "not acknowledged by that client", Build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				op := f.Call("b", ops.Ack, "x")
				f.Deletes("b", lockSession("b", 0), "/q/x", 0)
				f.Ret(op, lin.OpFailed, lin.Result{})
			}},
		{Name: "unknown, and removed late", Build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			f.Ret(f.Call("b", ops.Ack, "x"), lin.OpUnknown, lin.Result{})
			f.Deletes("b", lockSession("b", 0), "/q/x", 0)
		}},
		{Name: "acknowledged, but still there", Bad: lin.Delivery,
			Says: "element x is in the queue after b's ack", Build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.ends("b", ops.Ack, "x", "/q/x-lock")
			}},
		{Name: "acknowledged twice", Bad: lin.Delivery, Says: "element x was acknowledged twice",
			Build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.does("b", "x")
				f.ends("c", ops.Ack, "x")
			}},
		{Name: "acknowledged and delivered again", Bad: lin.Delivery,
			Says: "element x was acknowledged by b's ack (steps 10 to 13), and delivered once " +
				"more by c's take", Build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.does("b", "x")
				f.gets("c", "x")
			}},
		{Name: "lost on the way", Bad: lin.Delivery, Says: "element x, offered by a, is lost",
			Build: func(f *fixture) {
				f.offer("a", "x")
				f.Deletes("", 0, "/q/x", 0)
			}},
		{Name: "waits beside a free element", Bad: lin.Liveness, Says: "client b waits in take",
			Build: func(f *fixture) {
				f.Call("b", ops.Take, "")
				f.offer("a", "x")
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"}}}
			}},
		{Name: "waits for one that is held", Build: func(f *fixture) {
			f.offer("a", "x")
			f.gets("c", "x")
			f.Call("b", ops.Take, "")
			f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"},
				{Path: "/q/x-lock", Owner: lockSession("c", 0), Czxid: 5}}}
		}},
		{Name: "gave up beside a free element", Bad: lin.Liveness,
			Says: "take of b (steps 8 to 14) gave up although element x was in the queue for " +
				"the last 5ms", Build: gaveUpAfter(5)},
		{Name: "gave up soon after it was free", Build: gaveUpAfter(4)},
		{Name: "lock is left", Bad: lin.Orphans,
			Says: "/q/x-lock (session 0x63) is no element of the queue",
			Build: func(f *fixture) {
				f.offer("a", "x")
				f.gets("c", "x")
				f.ends("c", ops.Release, "x")
				f.Left = &lin.Leftovers{Nodes: []lin.NodeAtRest{{Path: "/q/x", Data: "x"},
					{Path: "/q/x-lock", Owner: lockSession("c", 0), Czxid: 5}}}
			}},
	})
}

// gaveUpAfter records a take that fails the given number of steps after the element was released.
func gaveUpAfter(steps int) func(*fixture) {
	return func(f *fixture) {
		f.offer("a", "x")
		f.gets("c", "x")
		rel := f.Call("c", ops.Release, "x")
		op := f.Call("b", ops.Take, "")
		f.Deletes("c", lockSession("c", 0), "/q/x-lock", 0)
		for range steps - 2 {
			f.Next()
		}
		f.Ret(rel, lin.OpOK, lin.Result{})
		f.Ret(op, lin.OpFailed, lin.Result{})
	}
}

// randomLockQueue makes valid histories of a queue with locks.
func randomLockQueue(t *rapid.T) lin.History {
	f := &fixture{}
	s := &judgingtest.Simulator{Fixture: &f.Fixture, T: t}
	var queue []string            // elements in the order of the offers
	holds := map[string]string{}  // client to element
	session := map[string]int64{} // the number of sessions of a client
	for _, v := range []string{"p", "q", "r"} {
		f.offer("a", v)
		queue = append(queue, v)
	}
	unlock := func(client string) {
		s.Deletes(client, lockSession(client, session[client]), "/q/"+holds[client]+"-lock", 0)
		holds[client] = ""
	}
	knows := func(client string) bool {
		for _, op := range slices.Backward(s.H.Ops) {
			if op.Client == client && op.Kind == ops.Poll {
				return op.OK()
			}
		}
		return false
	}
	s.Begin = func(client string) (kind, input string) {
		held := holds[client]
		switch {
		case held != "" && !knows(client):
			unlock(client) // it had abandoned the call
		case held != "" && rapid.IntRange(0, 5).Draw(t, "expiry") == 5:
			s.Expires(lockSession(client, session[client]), "/q/"+held+"-lock")
			session[client]++
			holds[client] = ""
		case held != "":
			return rapid.SampledFrom([]string{ops.Ack, ops.Ack, ops.Ack, ops.Release}).Draw(t,
				"end"), held
		}
		if rapid.IntRange(0, 4).Draw(t, "offer") < 2 {
			return ops.Offer, fmt.Sprintf("v%d", len(s.H.Ops))
		}
		return ops.Poll, ""
	}
	s.Apply = func(client, kind, input string) lin.Result {
		id := lockSession(client, session[client])
		switch {
		case kind == ops.Offer:
			s.Creates(client, id, "/q/"+input, input, 0)
			queue = append(queue, input)
			return lin.Result{}
		case kind == ops.Release:
			unlock(client)
			return lin.Result{}
		case kind == ops.Ack:
			step := s.Deletes(client, id, "/q/"+input, 0)
			unlock(client)
			s.H.Server[len(s.H.Server)-1].Step = step
			queue = slices.DeleteFunc(queue, func(v string) bool { return v == input })
			return lin.Result{}
		}
		for _, v := range queue {
			if !slices.ContainsFunc([]string{"a", "b", "c"}, func(o string) bool {
				return holds[o] == v
			}) {
				s.Creates(client, id, "/q/"+v+"-lock", "guid", id)
				holds[client] = v
				return lin.Result{Output: v}
			}
		}
		s.Next()
		return lin.Result{Empty: true}
	}
	return s.Play()
}

func judgeSomeLockQueue(h lin.History) lin.Report {
	return judgingtest.Judge(h, &lin.Leftovers{}, Locked{Claims: Claims{Path: "/q"}, Lock: lockOf})
}

func TestCorrectLockQueuesAreFoundCorrect(t *testing.T) {
	judgingtest.CheckValid(t, randomLockQueue, judgeSomeLockQueue)
}

// steal makes another client delete a lock.
func steal(t *rapid.T, h *lin.History) bool {
	e := judgingtest.One(t, h.Server, func(e *lin.ServerEvent) bool {
		return e.Kind == lin.NodeDeleted && judgingtest.Behind(h, *e,
			[]string{ops.Ack, ops.Release}) != nil && e.Path[len(e.Path)-1] == 'k' &&
			slices.ContainsFunc(h.Ops,
				func(op lin.Op) bool {
					return op.OK() && "/q/"+op.Output+"-lock" == e.Path && op.Client == e.Client
				})
	})
	if e != nil {
		e.Client, e.Session = "z", lockSession("z", 0)
	}
	return e != nil
}

func TestBrokenLockQueuesAreFoundBroken(t *testing.T) {
	judgingtest.CheckMutations(t, randomLockQueue, judgeSomeLockQueue, []mutation{
		{"no lock", judgingtest.DropChange(ops.Poll), []string{lin.Safety}, 0},
		{"lock deleted by somebody else", steal, []string{lin.Safety}, 0},
		{"said not to be acknowledged", judgingtest.SayFailed(ops.Ack), []string{lin.Delivery}, 80},
		{"element or lock stays after it", judgingtest.DropChange(ops.Ack), []string{lin.Delivery}, 25},
		{
			"delivered after all was over", judgingtest.MoveBeyond(ops.Poll),
			[]string{lin.Safety, lin.Delivery, lin.Order}, 30,
		},
		{"results exchanged", judgingtest.SwapOutputs(ops.Poll), []string{lin.Safety, lin.Order}, 80},
		{"not stored", judgingtest.DropChange(ops.Offer), []string{lin.Delivery, lin.Safety, lin.Order}, 80},
		{"hangs", judgingtest.NeverReturns(ops.Offer, ops.Poll, ops.Ack, ops.Release), []string{lin.Liveness}, 0},
	})
}
