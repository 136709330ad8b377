package object

import (
	"cmp"
	"context"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
)

// Reentrant makes a workload of a lock that its owner may lock again and must unlock as often. Each
// client calls open once and takes the lock round after round, in up to three levels.
func Reentrant(open func(Env) Locker, given ...LockClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/reentrant")
	return claims.judged(scenario.Workload{
		Name:  "reentrant",
		About: claims.About,
		Play: inRounds(open, claims.Path, 1,
			func(p *scenario.Player, h *scenario.Handle[Locker]) (turn, end func(int)) {
				l := singleMode(p, h)
				return func(round int) { playReentrant(l, round) }, nil
			}),
		Length: claims.length,
	}, ops.Lock, func(l lock.Claims) linearizability.Claims {
		return lock.Reentrant(l)
	})
}

// singleMode is a lock with one mode.
func singleMode[L Locker](p *scenario.Player, h *scenario.Handle[L]) lockMode {
	type numbered interface{ Token() int64 }
	s := lockMode{
		client: p,
		lock:   func(ctx context.Context) error { return h.Now().Lock(ctx) },
		unlock: func(ctx context.Context) error { return h.Now().Unlock(ctx) },
	}
	if _, ok := any(h.Now()).(lossSignaler); ok {
		s.lost = func() <-chan struct{} { return any(h.Now()).(lossSignaler).Lost() }
	}
	if _, ok := any(h.Now()).(numbered); ok {
		s.token = func() int64 { return any(h.Now()).(numbered).Token() }
	}
	if _, ok := any(h.Now()).(TryLocker); ok {
		s.try = func(ctx context.Context) (bool, error) {
			return any(h.Now()).(TryLocker).TryLock(ctx)
		}
	}
	return s
}

// playReentrant plays a round: the outer level, and in it up to two inner levels that end before
// it. One of these may be inside the other.
func playReentrant(l lockMode, round int) {
	if !l.lockUntilHeld(scenario.At("lock", round)) {
		return
	}
	switch l.client.Choose(scenario.At("kind", round), 4) {
	case 0:
		l.hold(scenario.At("hold", round))
	case 1:
		l.lockInner(scenario.At("deep", round))
	default:
		l.holdBeyondSession(scenario.At("outlast", round))
		l.again(scenario.At("again", round))
	}
	l.release(scenario.At("unlock", round))
}

// holdBeyondSession holds for longer than a session lives in one of two rounds. The lock may be
// lost then, so that it cannot be locked again.
func (s lockMode) holdBeyondSession(label string) {
	stop := s.watchLoss()
	d := time.Millisecond
	if s.client.Choose(label, 2) == 0 {
		d = scenario.LongHold
	}
	s.client.Pause(d)
	stop()
}

// lockInner locks again and holds at the inner level, with a further level in it.
func (s lockMode) lockInner(label string) {
	defer s.client.AtCall(s.watchLoss())
	if s.acquire(s.client.Context()) != nil {
		s.client.Pause(time.Millisecond)
		return
	}
	s.again(label + " again")
	s.hold(label + " hold")
	s.release(label + " unlock")
}
