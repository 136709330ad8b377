package lock

import (
	"testing"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judgingtest"
)

func TestSignalsOfLoss(t *testing.T) {
	signals := Claims{Signals: true, SignalWithin: 3 * time.Millisecond} // three steps
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "lies", Opts: signals, Bad: lin.Belief,
			Says: "a was told at step 4 that it had lost the lock, but its znode " +
				"/lock/a-0000000000 was alive", Steps: "a locks a-0; a told lost; a unlocks a-0"},
		{Name: "has no signal", Steps: "a locks a-0; a told lost; a unlocks a-0"},
		{Name: "plays safe after a disconnect", Opts: signals,
			Steps: "a locks a-0; a told disconnected; a told lost; a unlocks a-0"},
		{Name: "gives up when nothing is acknowledged", Opts: signals,
			Steps: "a locks a-0; a told unanswered; a told lost; a unlocks a-0"},
		{Name: "gives up in a pause", Opts: signals,
			Steps: "a locks a-0; a told paused; a told lost; a told resumed; a unlocks a-0"},
		{Name: "lies after a pause", Opts: signals, Bad: lin.Belief, Says: "but its znode",
			Steps: "a locks a-0; a told paused; a told resumed; a told lost; a unlocks a-0"},
		{Name: "another's request has no answer", Opts: signals, Bad: lin.Belief,
			Says:  "but its znode",
			Steps: "a locks a-0; b told unanswered; a told lost; a unlocks a-0"},
		{Name: "lies before the disconnect", Opts: signals, Bad: lin.Belief, Says: "but its znode",
			Steps: "a locks a-0; a told lost; a told disconnected; a unlocks a-0"},
		{Name: "says so from its own unlock", Opts: signals,
			Steps: "a locks a-0; a unlock(); a told lost; a deletes a-0!1; a ok"},
		{Name: "says so late of its hold before", Opts: signals,
			Steps: "a locks a-0; a unlocks a-0; a locks a-1; a told lost#2; a unlocks a-1"},
		{Name: "says so too soon of its hold", Opts: signals, Bad: lin.Belief,
			Says:  "but its znode",
			Steps: "a locks a-0; a unlocks a-0; a locks a-1; a told lost#8; a unlocks a-1"},
		{Name: "in time", Opts: signals,
			Steps: "a locks a-0; a expires a-0; a told expired; pass 2; a told lost"},
		{Name: "too late", Opts: signals, Bad: lin.Belief,
			Says:  "the lock's signal of loss did not come within 3ms",
			Steps: "a locks a-0; a expires a-0; a told expired; pass 3; a told lost"},
		{Name: "never", Opts: signals, Bad: lin.Belief,
			Says:  "a's session expired at step 5 while it held the lock",
			Steps: "a locks a-0; a expires a-0; a told expired; pass 3; a unlock() ok"},
		{Name: "unlocked before it had to come", Opts: signals,
			Steps: "a locks a-0; a expires a-0; a told expired; pass 2; a unlock() ok"},
		{Name: "died before it had to come", Opts: signals,
			Steps: "a locks a-0; a expires a-0; a told expired; pass 2; a told died"},
		{Name: "died before it knew", Opts: signals,
			Steps: "a locks a-0; a expires; a told died; pass 9"},
		{Name: "died too late", Opts: signals, Bad: lin.Belief,
			Says:  "the lock's signal of loss did not come within 3ms",
			Steps: "a locks a-0; a expires a-0; a told expired; pass 4; a told died"},
		{Name: "never, and nobody asked", Opts: Claims{Signals: true},
			Steps: "a locks a-0; a expires a-0; a told expired; pass 9; a unlock() ok"},
		{Name: "late news of an earlier session", Opts: signals,
			Steps: "z@9 expires; a locks a-0; a told expired; pass 9; a unlocks a-0"},
	})
}

// TestALeaseEndsBeforeTheSession, or belief is violated. A hold that ends otherwise is no matter.
func TestALeaseEndsBeforeTheSession(t *testing.T) {
	lease := Claims{Signals: true, Lease: true}
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "after", Opts: lease, Bad: lin.Belief,
			Says:  "a believed until step 7, 3ms longer than it held the lock, which ended at step 4 when the server ended session 0x1",
			Steps: "a locks a-0; a expires a-0; pass 2; a told lost"},
		{Name: "never", Opts: lease, Bad: lin.Belief, Says: "a lease ends before the session does",
			Steps: "a locks a-0; a expires a-0; pass 2; a unlock() ok"},
		{Name: "before", Opts: lease,
			Steps: "a locks a-0; a told unanswered; a told lost; a expires a-0; pass 2"},
		{Name: "unlocked before", Opts: lease, Steps: "a locks a-0; a unlocks a-0; a expires"},
		{Name: "no lease", Opts: Claims{Signals: true},
			Steps: "a locks a-0; a expires a-0; pass 2; a told lost"},
	})
}

func TestDisconnectEndsBeliefOnlyOnDemand(t *testing.T) {
	judgingtest.CheckHistories(t, lockAt, []lockTest{
		{Name: "zero value", Bad: lin.Belief, Says: "a and b both believe",
			Steps: "a locks a-0; a told disconnected; b locks b-1"},
		{Name: "signals", Opts: Claims{Signals: true, DisconnectEndsBelief: true}, Bad: lin.Belief,
			Says: "a and b both believe", Steps: "a locks a-0; a told disconnected; b locks b-1"},
	})
	h := played("a locks a-0; a told disconnected; b locks b-1")
	r := judgingtest.Judge(h, nil, Claims{Path: "/lock", DisconnectEndsBelief: true})
	if v, _ := r.Verdict(lin.Belief); v.Status != lin.OK {
		t.Errorf("a had stopped believing: %s", v)
	}
}
