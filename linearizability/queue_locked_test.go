package linearizability

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zksim/zksim/linearizability/ops"
)

func lockOf(item string) string { return item + "-lock" }

// lockSession returns the n-th session of a client.
func lockSession(client string, n int64) int64 { return int64(client[0]) + 1000*n }

// gets records a complete take of a queue with locks; the lock is of the client's first session.
func (f *fixture) gets(client, value string) {
	op := f.call(client, ops.Take, "")
	f.creates(client, lockSession(client, 0), "/q/"+value+"-lock", "guid", lockSession(client, 0))
	f.ret(op, OpOK, Result{Output: value})
}

// ends records an ack or release, and the deletes of the paths.
func (f *fixture) ends(client, kind, value string, paths ...string) {
	op := f.call(client, kind, value)
	for _, path := range paths {
		f.deletes(client, lockSession(client, 0), path, 0)
	}
	f.ret(op, OpOK, Result{})
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
	checkHistories(t, always(LockQueue{
		Queue: Queue{Path: "/q", Patience: 5e6}, Lock: lockOf,
	}), []claimTest{
		{name: "one after the other", build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			f.gets("c", "y")
			f.finds("a", ops.Poll, "")
			f.does("c", "y")
			f.does("b", "x")
			f.left = &Leftovers{}
		}},
		{name: "given back", build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			f.ends("b", ops.Release, "x", "/q/x-lock")
			f.gets("c", "x")
			f.does("c", "x")
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/y", Data: "y"}}}
		}},
		{name: "redelivered after an expiry", build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			f.expires(lockSession("b", 0), "/q/x-lock")
			f.gets("c", "x")
			f.does("c", "x")
			f.ret(f.call("b", ops.Ack, "x"), OpFailed, Result{})
			f.left = &Leftovers{}
		}},
		{name: "without a lock", bad: Safety,
			says: "b's take (steps 7 to 8) returned element x without a lock on it",
			build: func(f *fixture) {
				xy(f)
				f.ret(f.call("b", ops.Take, ""), OpOK, Result{Output: "x"})
			}},
		{name: "another's lock is deleted", bad: Safety,
			says: "c deleted /q/x-lock at step 10, the lock of b on element x",
			build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.deletes("c", lockSession("c", 0), "/q/x-lock", 0)
			}},
		{name: "lock is given up", bad: Safety,
			says: "b gave up /q/x-lock at step 10, its lock on element x, neither done with it " +
				"nor asked to", build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.deletes("b", lockSession("b", 0), "/q/x-lock", 0)
				f.does("b", "x")
			}},
		{name: "lock is given up by a close that was under way", build: func(f *fixture) {
			xy(f)
			op := f.call("b", ops.Close, "")
			f.gets("b", "x")
			f.deletes("b", lockSession("b", 0), "/q/x-lock", 0)
			f.ret(op, OpOK, Result{})
			f.gets("c", "x")
			f.does("c", "x")
		}},
		{name: "lock is given up after a close", bad: Safety,
			says: "b gave up /q/x-lock at step 12", build: func(f *fixture) {
				xy(f)
				op := f.call("b", ops.Close, "")
				f.gets("b", "x")
				f.ret(op, OpOK, Result{})
				f.deletes("b", lockSession("b", 0), "/q/x-lock", 0)
				f.does("b", "x")
			}},
		{name: "the younger first", bad: Order,
			says: "got element y, although the older x was there and not locked all the time",
			build: func(f *fixture) {
				xy(f)
				f.gets("b", "y")
			}},
		{name: "the younger, while the older was locked", build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			op := f.call("c", ops.Take, "")
			f.ends("b", ops.Release, "x", "/q/x-lock")
			f.creates("c", lockSession("c", 0), "/q/y-lock", "guid", lockSession("c", 0))
			f.ret(op, OpOK, Result{Output: "y"})
		}},
		{name: "nothing found beside an element", bad: Order,
			says: "b's poll (steps 7 to 9) found nothing, although at every moment",
			build: func(f *fixture) {
				xy(f)
				f.finds("b", ops.Poll, "")
			}},
		{name: "nothing found while all were locked", build: func(f *fixture) {
			xy(f)
			op := f.call("c", ops.Poll, "")
			f.gets("a", "x")
			f.gets("b", "y")
			f.ends("a", ops.Release, "x", "/q/x-lock")
			f.ret(op, OpOK, Result{Empty: true})
		}},
		{name: "removed, not acknowledged", bad: Delivery,
			says: "element x was removed by b at step 11, but was not acknowledged by that client",
			build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.ends("b", ops.Release, "x", "/q/x", "/q/x-lock")
			}},
		{name: "acknowledged by another than removed it", bad: Delivery, says: "removed by b",
			build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				op := f.call("c", ops.Ack, "x")
				f.deletes("b", lockSession("b", 0), "/q/x", 0)
				f.ret(op, OpUnknown, Result{})
			}},
		{name: "said not to be acknowledged", bad: Delivery,
			says: "not acknowledged by that client", build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				op := f.call("b", ops.Ack, "x")
				f.deletes("b", lockSession("b", 0), "/q/x", 0)
				f.ret(op, OpFailed, Result{})
			}},
		{name: "unknown, and removed late", build: func(f *fixture) {
			xy(f)
			f.gets("b", "x")
			f.ret(f.call("b", ops.Ack, "x"), OpUnknown, Result{})
			f.deletes("b", lockSession("b", 0), "/q/x", 0)
		}},
		{name: "acknowledged, but still there", bad: Delivery,
			says: "element x is in the queue after b's ack", build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.ends("b", ops.Ack, "x", "/q/x-lock")
			}},
		{name: "acknowledged twice", bad: Delivery, says: "element x was acknowledged twice",
			build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.does("b", "x")
				f.ends("c", ops.Ack, "x")
			}},
		{name: "acknowledged and delivered again", bad: Delivery,
			says: "element x was acknowledged by b's ack (steps 10 to 13), and delivered once " +
				"more by c's take", build: func(f *fixture) {
				xy(f)
				f.gets("b", "x")
				f.does("b", "x")
				f.gets("c", "x")
			}},
		{name: "lost on the way", bad: Delivery, says: "element x, offered by a, is lost",
			build: func(f *fixture) {
				f.offer("a", "x")
				f.deletes("", 0, "/q/x", 0)
			}},
		{name: "waits beside a free element", bad: Liveness, says: "client b waits in take",
			build: func(f *fixture) {
				f.call("b", ops.Take, "")
				f.offer("a", "x")
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"}}}
			}},
		{name: "waits for one that is held", build: func(f *fixture) {
			f.offer("a", "x")
			f.gets("c", "x")
			f.call("b", ops.Take, "")
			f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"},
				{Path: "/q/x-lock", Owner: lockSession("c", 0), Czxid: 5}}}
		}},
		{name: "gave up beside a free element", bad: Liveness,
			says: "take of b (steps 8 to 14) gave up although element x was in the queue for " +
				"the last 5ms", build: gaveUpAfter(5)},
		{name: "gave up soon after it was free", build: gaveUpAfter(4)},
		{name: "lock is left", bad: Orphans,
			says: "/q/x-lock (session 0x63) is no element of the queue",
			build: func(f *fixture) {
				f.offer("a", "x")
				f.gets("c", "x")
				f.ends("c", ops.Release, "x")
				f.left = &Leftovers{Nodes: []NodeAtRest{{Path: "/q/x", Data: "x"},
					{Path: "/q/x-lock", Owner: lockSession("c", 0), Czxid: 5}}}
			}},
	})
}

// gaveUpAfter records a take that fails the given number of steps after the element was released.
func gaveUpAfter(steps int) func(*fixture) {
	return func(f *fixture) {
		f.offer("a", "x")
		f.gets("c", "x")
		rel := f.call("c", ops.Release, "x")
		op := f.call("b", ops.Take, "")
		f.deletes("c", lockSession("c", 0), "/q/x-lock", 0)
		for range steps - 2 {
			f.next()
		}
		f.ret(rel, OpOK, Result{})
		f.ret(op, OpFailed, Result{})
	}
}

// randomLockQueue makes valid histories of a queue with locks.
func randomLockQueue(t *rapid.T) History {
	s := &simulator{t: t}
	var queue []string            // elements in the order of the offers
	holds := map[string]string{}  // client to element
	session := map[string]int64{} // the number of sessions of a client
	for _, v := range []string{"p", "q", "r"} {
		s.offer("a", v)
		queue = append(queue, v)
	}
	unlock := func(client string) {
		s.deletes(client, lockSession(client, session[client]), "/q/"+holds[client]+"-lock", 0)
		holds[client] = ""
	}
	knows := func(client string) bool {
		for _, op := range slices.Backward(s.h.Ops) {
			if op.Client == client && op.Kind == ops.Poll {
				return op.ok()
			}
		}
		return false
	}
	s.begin = func(client string) (kind, input string) {
		held := holds[client]
		switch {
		case held != "" && !knows(client):
			unlock(client) // it had abandoned the call
		case held != "" && rapid.IntRange(0, 5).Draw(t, "expiry") == 5:
			s.expires(lockSession(client, session[client]), "/q/"+held+"-lock")
			session[client]++
			holds[client] = ""
		case held != "":
			return rapid.SampledFrom([]string{ops.Ack, ops.Ack, ops.Ack, ops.Release}).Draw(t,
				"end"), held
		}
		if rapid.IntRange(0, 4).Draw(t, "offer") < 2 {
			return ops.Offer, fmt.Sprintf("v%d", len(s.h.Ops))
		}
		return ops.Poll, ""
	}
	s.apply = func(client, kind, input string) Result {
		id := lockSession(client, session[client])
		switch {
		case kind == ops.Offer:
			s.creates(client, id, "/q/"+input, input, 0)
			queue = append(queue, input)
			return Result{}
		case kind == ops.Release:
			unlock(client)
			return Result{}
		case kind == ops.Ack:
			step := s.deletes(client, id, "/q/"+input, 0)
			unlock(client)
			s.h.Server[len(s.h.Server)-1].Step = step
			queue = slices.DeleteFunc(queue, func(v string) bool { return v == input })
			return Result{}
		}
		for _, v := range queue {
			if !slices.ContainsFunc([]string{"a", "b", "c"}, func(o string) bool {
				return holds[o] == v
			}) {
				s.creates(client, id, "/q/"+v+"-lock", "guid", id)
				holds[client] = v
				return Result{Output: v}
			}
		}
		s.next()
		return Result{Empty: true}
	}
	return s.play()
}

func judgeSomeLockQueue(h History) Report {
	return Judge(h, &Leftovers{}, LockQueue{Queue: Queue{Path: "/q"}, Lock: lockOf})
}

func TestCorrectLockQueuesAreFoundCorrect(t *testing.T) {
	checkValid(t, randomLockQueue, judgeSomeLockQueue)
}

// steal makes another client delete a lock.
func steal(t *rapid.T, h *History) bool {
	e := one(t, h.Server, func(e *ServerEvent) bool {
		return e.Kind == NodeDeleted && Behind(h, *e,
			[]string{ops.Ack, ops.Release}) != nil && e.Path[len(e.Path)-1] == 'k' &&
			slices.ContainsFunc(h.Ops,
				func(op Op) bool {
					return op.ok() && "/q/"+op.Output+"-lock" == e.Path && op.Client == e.Client
				})
	})
	if e != nil {
		e.Client, e.Session = "z", lockSession("z", 0)
	}
	return e != nil
}

func TestBrokenLockQueuesAreFoundBroken(t *testing.T) {
	checkMutations(t, randomLockQueue, judgeSomeLockQueue, []mutation{
		{"no lock", dropChange(ops.Poll), []string{Safety}, 0},
		{"lock deleted by somebody else", steal, []string{Safety}, 0},
		{"said not to be acknowledged", sayFailed(ops.Ack), []string{Delivery}, 80},
		{"element or lock stays after it", dropChange(ops.Ack), []string{Delivery}, 25},
		{
			"delivered after all was over", moveBeyond(ops.Poll),
			[]string{Safety, Delivery, Order}, 30,
		},
		{"results exchanged", swapOutputs(ops.Poll), []string{Safety, Order}, 80},
		{"not stored", dropChange(ops.Offer), []string{Delivery, Safety, Order}, 80},
		{"hangs", neverReturns(ops.Offer, ops.Poll, ops.Ack, ops.Release), []string{Liveness}, 0},
	})
}
