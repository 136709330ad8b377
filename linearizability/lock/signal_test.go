package lock

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
	"github.com/zksim/zksim/linearizability/ops"
)

func TestSignalsOfLoss(t *testing.T) {
	signals := Claims{Signals: true, SignalWithin: 3 * time.Millisecond} // three steps
	expired := func(wait int, then func(f *fixture)) func(f *fixture) {
		return func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.Expires(1, node("a", 0))
			f.Told("a", lin.SessionExpired)
			for range wait {
				f.Next()
			}
			then(f)
		}
	}
	lost := func(f *fixture) { f.Told("a", lin.LockLost) }
	unlocks := func(f *fixture) { f.Ret(f.Call("a", ops.Unlock, ""), lin.OpOK, lin.Result{}) }
	dies := func(f *fixture) { f.Told("a", lin.Died) }
	told := func(kinds ...lin.NoticeKind) func(f *fixture) {
		return func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			for _, kind := range kinds {
				f.Told("a", kind)
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
			f.Loses("a", tokens[about])
			f.unlock("a", 1, node("a", 1))
		}
	}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "lies", Opts: signals, Bad: lin.Belief,
			Says: "a was told at step 4 that it had lost the lock, but its znode " +
				"/lock/a-0000000000 was alive", Build: told(lin.LockLost)},
		{Name: "has no signal", Build: told(lin.LockLost)},
		{Name: "plays safe after a disconnect", Opts: signals, Build: told(lin.Disconnected, lin.LockLost)},
		{Name: "lies before the disconnect", Opts: signals, Bad: lin.Belief, Says: "but its znode",
			Build: told(lin.LockLost, lin.Disconnected)},
		{Name: "says so from its own unlock", Opts: signals, Build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			op := f.Call("a", ops.Unlock, "")
			f.Told("a", lin.LockLost)
			f.Deletes("a", 1, node("a", 0), 1)
			f.Ret(op, lin.OpOK, lin.Result{})
		}},
		{Name: "says so late of its hold before", Opts: signals, Build: inTheNextHold(0)},
		{Name: "says so too soon of its hold", Opts: signals, Bad: lin.Belief, Says: "but its znode",
			Build: inTheNextHold(1)},
		{Name: "in time", Opts: signals, Build: expired(2, lost)},
		{Name: "too late", Opts: signals, Bad: lin.Belief,
			Says: "the lock's signal of loss did not come within 3ms", Build: expired(3, lost)},
		{Name: "never", Opts: signals, Bad: lin.Belief,
			Says:  "a's session expired at step 5 while it held the lock",
			Build: expired(3, unlocks)},
		{Name: "unlocked before it had to come", Opts: signals, Build: expired(2, unlocks)},
		{Name: "died before it had to come", Opts: signals, Build: expired(2, dies)},
		{Name: "died before it knew", Opts: signals, Build: func(f *fixture) {
			f.lock("a", 1, node("a", 0))
			f.Expires(1)
			f.Told("a", lin.Died)
			for range 9 {
				f.Next()
			}
		}},
		{Name: "died too late", Opts: signals, Bad: lin.Belief,
			Says: "the lock's signal of loss did not come within 3ms", Build: expired(4, dies)},
		{Name: "never, and nobody asked", Opts: Claims{Signals: true}, Build: expired(9, unlocks)},
		{Name: "late news of an earlier session", Opts: signals, Build: func(f *fixture) {
			f.Expires(9)
			f.lock("a", 1, node("a", 0))
			f.Told("a", lin.SessionExpired)
			for range 9 {
				f.Next()
			}
			f.unlock("a", 1, node("a", 0))
		}},
	})
}

func TestDisconnectEndsBeliefOnlyOnDemand(t *testing.T) {
	build := func(f *fixture) {
		f.lock("a", 1, node("a", 0))
		f.Told("a", lin.Disconnected)
		f.lock("b", 2, node("b", 1))
	}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "zero value", Bad: lin.Belief, Says: "a and b both believe", Build: build},
		{Name: "signals", Opts: Claims{Signals: true, DisconnectEndsBelief: true}, Bad: lin.Belief,
			Says: "a and b both believe", Build: build},
	})
	f := &fixture{}
	build(f)
	r := judgingtest.Judge(f.History(), nil, Claims{Path: "/lock", DisconnectEndsBelief: true})
	if v, _ := r.Verdict(lin.Belief); v.Status != lin.OK {
		t.Errorf("a had stopped believing: %s", v)
	}
}
