package linearizability

import (
	"testing"
	"time"

	"github.com/zksim/zksim/linearizability/ops"
)

func TestSignalsOfLoss(t *testing.T) {
	signals := Lock{Signals: true, SignalWithin: 3 * time.Millisecond} // three steps
	expired := func(wait int, then func(f *fixture)) func(f *fixture) {
		return func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.expires(1, node("a", 0))
			f.told("a", SessionExpired)
			for range wait {
				f.next()
			}
			then(f)
		}
	}
	lost := func(f *fixture) { f.told("a", LockLost) }
	unlocks := func(f *fixture) { f.ret(f.call("a", ops.Unlock, ""), OpOK, Result{}) }
	dies := func(f *fixture) { f.told("a", Died) }
	told := func(kinds ...NoticeKind) func(f *fixture) {
		return func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			for _, kind := range kinds {
				f.told("a", kind)
			}
			f.unlock("a", 1, node("a", 0))
		}
	}
	inTheNextHold := func(about int) func(f *fixture) {
		return func(f *fixture) {
			var tokens []int64
			tokens = append(tokens, f.lock("a", 1, node("a", 0)))
			f.unlock("a", 1, node("a", 0))
			tokens = append(tokens, f.lock("a", 1, node("a", 1)))
			f.loses("a", tokens[about])
			f.unlock("a", 1, node("a", 1))
		}
	}
	checkHistories(t, lockAt, []lockTest{
		{name: "lies", opts: signals, bad: Belief,
			says: "a was told at step 4 that it had lost the lock, but its znode " +
				"/lock/a-0000000000 was alive", build: told(LockLost)},
		{name: "has no signal", build: told(LockLost)},
		{name: "plays safe after a disconnect", opts: signals, build: told(Disconnected, LockLost)},
		{name: "lies before the disconnect", opts: signals, bad: Belief, says: "but its znode",
			build: told(LockLost, Disconnected)},
		{name: "says so from its own unlock", opts: signals, build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			op := f.call("a", ops.Unlock, "")
			f.told("a", LockLost)
			f.deletes("a", 1, node("a", 0), 1)
			f.ret(op, OpOK, Result{})
		}},
		{name: "says so late of its hold before", opts: signals, build: inTheNextHold(0)},
		{name: "says so too soon of its hold", opts: signals, bad: Belief, says: "but its znode",
			build: inTheNextHold(1)},
		{name: "in time", opts: signals, build: expired(2, lost)},
		{name: "too late", opts: signals, bad: Belief,
			says: "the lock's signal of loss did not come within 3ms", build: expired(3, lost)},
		{name: "never", opts: signals, bad: Belief,
			says:  "a's session expired at step 5 while it held the lock",
			build: expired(3, unlocks)},
		{name: "unlocked before it had to come", opts: signals, build: expired(2, unlocks)},
		{name: "died before it had to come", opts: signals, build: expired(2, dies)},
		{name: "died before it knew", opts: signals, build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.expires(1)
			f.told("a", Died)
			for range 9 {
				f.next()
			}
		}},
		{name: "died too late", opts: signals, bad: Belief,
			says: "the lock's signal of loss did not come within 3ms", build: expired(4, dies)},
		{name: "never, and nobody asked", opts: Lock{Signals: true}, build: expired(9, unlocks)},
		{name: "late news of an earlier session", opts: signals, build: func(f *fixture) {
			f.expires(9)
			f.lock("a", 1, node("a", 0))
			f.told("a", SessionExpired)
			for range 9 {
				f.next()
			}
			f.unlock("a", 1, node("a", 0))
		}},
	})
}

func TestDisconnectEndsBeliefOnlyOnDemand(t *testing.T) {
	build := func(f *fixture) {
		f.lock("a", 1, node("a", 0))
		f.told("a", Disconnected)
		f.lock("b", 2, node("b", 1))
	}
	checkHistories(t, lockAt, []lockTest{
		{name: "zero value", bad: Belief, says: "a and b both believe", build: build},
		{name: "signals", opts: Lock{Signals: true, DisconnectEndsBelief: true}, bad: Belief,
			says: "a and b both believe", build: build},
	})
	f := &fixture{}
	build(f)
	r := Judge(f.history(), nil, Lock{Path: "/lock", DisconnectEndsBelief: true})
	if v, _ := r.Verdict(Belief); v.Status != OK {
		t.Errorf("a had stopped believing: %s", v)
	}
}
