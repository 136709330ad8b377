package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

// Only the server may take a lock away.
func TestSnatchedLocks(t *testing.T) {
	const shared = "/lock/x" // every owner's znode has this name
	blindRelease := func(again bool) func(f *fixture) *Leftovers {
		return func(f *fixture) *Leftovers {
			f.lock("b", 2, shared)
			op := f.call("b", ops.Unlock, "")
			f.deletes("b", 2, shared, 1)
			f.lock("a", 1, shared)
			if again {
				f.deletes("b", 2, shared, 1) // the reply was lost, and b tries again
			}
			f.ret(op, OpOK, Result{})
			if !again {
				f.unlock("a", 1, shared)
			}
			return nil
		}
	}
	toldFirst := func(kind NoticeKind) func(f *fixture) *Leftovers {
		return func(f *fixture) *Leftovers {
			f.lock("a", 1, shared)
			f.told("a", kind)
			f.deletes("b", 2, shared, 1)
			return nil
		}
	}
	tests := []lockTest{
		{name: "blind release", bad: Safety,
			says: "b deleted a's znode /lock/x at step 9 while a held the lock", build: blindRelease(true)},
		{name: "release that hits its own znode only", build: blindRelease(false)},
		{name: "snatched, then granted to another", bad: Belief, says: "a and b both believe",
			build: func(f *fixture) *Leftovers {
				f.lock("a", 1, shared)
				f.deletes("b", 2, shared, 1)
				f.lock("b", 2, shared)
				return nil
			}},
		{name: "snatched before the good news", bad: Safety,
			says: "b deleted a's znode /lock/x at step 3 before a's lock returned",
			build: func(f *fixture) *Leftovers {
				op := f.call("a", ops.Lock, "")
				token := f.creates("a", 1, shared, "", 1)
				f.deletes("b", 2, shared, 1)
				f.ret(op, OpOK, Result{Token: token, Session: 1})
				return nil
			}},
		{name: "by its own stray delete", bad: Safety,
			says: "a deleted its own znode /lock/x at step 4 while a held the lock",
			build: func(f *fixture) *Leftovers {
				f.lock("a", 1, shared)
				f.deletes("a", 1, shared, 1)
				return nil
			}},
		{name: "in the middle of its own unlock", build: func(f *fixture) *Leftovers {
			f.lock("a", 1, shared)
			op := f.call("a", ops.Unlock, "")
			f.deletes("b", 2, shared, 1)
			f.ret(op, OpOK, Result{})
			return nil
		}},
		{name: "told of a loss before", build: toldFirst(LockLost)},
		{name: "told of a disconnect only", bad: Safety, says: "b deleted a's znode",
			build: toldFirst(Disconnected)},
		{name: "closed its session", build: func(f *fixture) *Leftovers {
			f.lock("a", 1, shared)
			step := f.server(ServerEvent{Kind: SessionEnded, Session: 1, Owner: 1, Client: "a"})
			f.h.Server = append(f.h.Server, ServerEvent{Step: step, Kind: NodeDeleted, Path: shared,
				Session: 1, Owner: 1, Client: "a"})
			return nil
		}},
		{name: "reaped late, after the session's end", build: func(f *fixture) *Leftovers {
			f.lock("a", 1, shared)
			f.expires(1)
			f.deletes("b", 2, shared, 1)
			return nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

func TestSnatchedLockIsNoZombieWindow(t *testing.T) {
	f := &fixture{}
	f.lock("a", 1, node("a", 0))
	f.deletes("b", 2, node("a", 0), 1)
	f.told("a", SessionExpired)
	if r := Judge(f.history(), nil, Lock{Path: "/lock"}); len(r.ZombieWindows) != 0 {
		t.Errorf("got %+v", r.ZombieWindows)
	}
}

// Without tokens, a re-entrant lock looks like two holds, and the first has no unlock of its own.
func TestReentrantLockIsNotSnatched(t *testing.T) {
	f := &fixture{}
	op := f.call("a", ops.Lock, "")
	f.creates("a", 1, node("a", 0), "", 1)
	f.ret(op, OpOK, Result{Session: 1})
	f.ret(f.call("a", ops.Lock, ""), OpOK, Result{Session: 1})
	f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{Session: 1})
	f.unlock("a", 1, node("a", 0))
	r := Judge(f.history(), nil, Lock{Path: "/lock"})
	if v, _ := r.Verdict(Safety); v.Status != OK {
		t.Error(v)
	}
}

func TestSignalsOfLoss(t *testing.T) {
	signals := Lock{Signals: true, SignalWithin: 3 * time.Millisecond} // three steps
	expired := func(wait int, then func(f *fixture)) func(f *fixture) *Leftovers {
		return func(f *fixture) *Leftovers {
			f.lock("a", 1, node("a", 0))
			f.expires(1, node("a", 0))
			f.told("a", SessionExpired)
			for range wait {
				f.next()
			}
			then(f)
			return nil
		}
	}
	lost := func(f *fixture) { f.told("a", LockLost) }
	unlocks := func(f *fixture) { f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{}) }
	told := func(kinds ...NoticeKind) func(f *fixture) *Leftovers {
		return func(f *fixture) *Leftovers {
			f.lock("a", 1, node("a", 0))
			for _, kind := range kinds {
				f.told("a", kind)
			}
			f.unlock("a", 1, node("a", 0))
			return nil
		}
	}
	inTheNextHold := func(about int) func(f *fixture) *Leftovers {
		return func(f *fixture) *Leftovers {
			var tokens []int64
			tokens = append(tokens, f.lock("a", 1, node("a", 0)))
			f.unlock("a", 1, node("a", 0))
			tokens = append(tokens, f.lock("a", 1, node("a", 1)))
			f.loses("a", tokens[about])
			f.unlock("a", 1, node("a", 1))
			return nil
		}
	}
	tests := []lockTest{
		{name: "lies", opts: signals, bad: Belief,
			says: "a was told at step 4 that it had lost the lock, but its znode " +
				"/lock/a-0000000000 was alive", build: told(LockLost)},
		{name: "has no signal", build: told(LockLost)},
		{name: "plays safe after a disconnect", opts: signals, build: told(Disconnected, LockLost)},
		{name: "lies before the disconnect", opts: signals, bad: Belief, says: "but its znode",
			build: told(LockLost, Disconnected)},
		{name: "says so from its own unlock", opts: signals, build: func(f *fixture) *Leftovers {
			f.lock("a", 1, node("a", 0))
			op := f.call("a", ops.Unlock, "")
			f.told("a", LockLost)
			f.deletes("a", 1, node("a", 0), 1)
			f.ret(op, OpOK, Result{})
			return nil
		}},
		{name: "says so late of its hold before", opts: signals, build: inTheNextHold(0)},
		{name: "says so too soon of its hold", opts: signals, bad: Belief, says: "but its znode",
			build: inTheNextHold(1)},
		{name: "in time", opts: signals, build: expired(2, lost)},
		{name: "too late", opts: signals, bad: Belief,
			says: "the lock's signal of loss did not come within 3ms", build: expired(3, lost)},
		{name: "never", opts: signals, bad: Belief,
			says: "a's session expired at step 5 while it held the lock", build: expired(3, unlocks)},
		{name: "unlocked before it had to come", opts: signals, build: expired(2, unlocks)},
		{name: "never, and nobody asked", opts: Lock{Signals: true}, build: expired(9, unlocks)},
		{name: "late news of an earlier session", opts: signals, build: func(f *fixture) *Leftovers {
			f.expires(9)
			f.lock("a", 1, node("a", 0))
			f.told("a", SessionExpired)
			for range 9 {
				f.next()
			}
			f.unlock("a", 1, node("a", 0))
			return nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

func TestDisconnectEndsBeliefOnlyOnDemand(t *testing.T) {
	build := func(f *fixture) *Leftovers {
		f.lock("a", 1, node("a", 0))
		f.told("a", Disconnected)
		f.lock("b", 2, node("b", 1))
		return nil
	}
	lockTest{bad: Belief, says: "a and b both believe", build: build}.run(t)
	lockTest{opts: Lock{Signals: true, DisconnectEndsBelief: true}, bad: Belief,
		says: "a and b both believe", build: build}.run(t)
	f := &fixture{}
	build(f)
	r := Judge(f.history(), nil, Lock{Path: "/lock", DisconnectEndsBelief: true})
	if v, _ := r.Verdict(Belief); v.Status != OK {
		t.Errorf("a had stopped believing: %s", v)
	}
}

func TestTokensThatAreNoCzxids(t *testing.T) {
	hold := func(f *fixture, client string, session int64, token func(czxid int64) int64) {
		op := f.call(client, ops.Lock, "")
		czxid := f.creates(client, session, node(client, 0), "", session)
		f.ret(op, OpOK, Result{Token: token(czxid), Session: session})
		f.unlock(client, session, node(client, 0))
	}
	count := func(n int64) func(int64) int64 { return func(int64) int64 { return n } }
	itself := func(czxid int64) int64 { return czxid }
	tests := []lockTest{
		{name: "a counter", build: func(f *fixture) *Leftovers {
			hold(f, "a", 1, count(1001))
			hold(f, "b", 2, count(1002))
			return nil
		}},
		{name: "a counter that meets another's czxid", build: func(f *fixture) *Leftovers {
			hold(f, "a", 1, count(1))
			hold(f, "b", 2, count(2)) // a's czxid
			return nil
		}},
		{name: "a counter that falls", bad: Fencing, says: "b was granted the lock",
			build: func(f *fixture) *Leftovers {
				hold(f, "a", 1, count(1002))
				hold(f, "b", 2, count(1001))
				return nil
			}},
		{name: "czxids but for one", bad: Safety, says: "no znode with czxid 1001 was ever created",
			build: func(f *fixture) *Leftovers {
				hold(f, "a", 1, itself)
				hold(f, "b", 2, count(1001))
				return nil
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

func TestWhatAHolderLeavesIsNoLeak(t *testing.T) {
	watched := func(release bool) func(f *fixture) *Leftovers {
		return func(f *fixture) *Leftovers {
			token := f.lock("a", 1, node("a", 0))
			helper := f.creates("a", 1, "/lock/helper", "", 1)
			rest := &Leftovers{Watches: []WatchAtRest{{"a", node("a", 0)}},
				Nodes: []NodeAtRest{{Path: "/lock/helper", Owner: 1, Czxid: helper, OwnerClient: "a"}}}
			if release {
				f.unlock("a", 1, node("a", 0))
			} else {
				rest.Nodes = append(rest.Nodes,
					NodeAtRest{Path: node("a", 0), Owner: 1, Czxid: token, OwnerClient: "a"})
			}
			return rest
		}
	}
	lockTest{build: watched(false)}.run(t)
	lockTest{bad: Orphans, says: "/lock/helper (session 0x1 of client a)", build: watched(true)}.run(t)
	lockTest{bad: Orphans, says: "a watch of a on /lock/a-0000000000", build: watched(true)}.run(t)
}
