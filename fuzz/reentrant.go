package fuzz

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// ReentrantWorkload makes a workload of a lock that its owner may lock again and
// unlocks as often. Each client calls open once, and takes the lock round after
// round, in up to three levels.
func ReentrantWorkload(impl string, claims LockClaims, open func(*zk.Conn) Locker) Workload {
	if claims.Path == "" {
		claims.Path = reentrantPath
	}
	return Workload{
		Name:  "reentrant",
		Impl:  impl,
		About: claims.About,
		Play: shared(open, func(p *Player, s Script, h *handle[Locker]) {
			l := onlySide(p, h)
			if l.lost != nil {
				p.Signals()
			}
			for round := range s.Rounds {
				playReentrant(l, round)
			}
		}),
		Length: holdingTime,
		Judge: func(e Evidence) (linearizability.Report, error) {
			return claims.fitting(e, linearizability.Judge(e.History, e.Rest, linearizability.ReentrantLock(claims.options(e))))
		},
	}
}

// TestReentrant is TestLock for a re-entrant lock; use exactly the
// path /reentrant, or claim another.
func TestReentrant(t TB, open func(*zk.Conn) Locker, claims ...LockClaims) {
	t.Helper()
	Run(t, ReentrantWorkload(t.Name(), only(t, claims), open))
}

// onlySide is a lock that can be held in one way.
func onlySide[L Locker](p *Player, h *handle[L]) side {
	type numbered interface{ Token() int64 }
	s := side{
		Player: p,
		lock:   func(ctx context.Context) error { return h.now().Lock(ctx) },
		unlock: func(ctx context.Context) error { return h.now().Unlock(ctx) },
	}
	if _, ok := any(h.now()).(loser); ok {
		s.lost = func() <-chan struct{} { return any(h.now()).(loser).Lost() }
	}
	if _, ok := any(h.now()).(numbered); ok {
		s.token = func() int64 { return any(h.now()).(numbered).Token() }
	}
	if _, ok := any(h.now()).(tryLocker); ok {
		s.try = func(ctx context.Context) (bool, error) { return any(h.now()).(tryLocker).TryLock(ctx) }
	}
	return s
}

// playReentrant plays a round: a level, in it up to two that end before it, one
// of which may be inside of the other.
func playReentrant(l side, round int) {
	if !l.persist(round) {
		return
	}
	switch l.Choose(4, round+3000) {
	case 0:
		l.hold(round)
	case 1:
		l.deep(round)
	default:
		l.outlast(round)
		l.again(round)
	}
	l.release(round)
}

// outlast holds for longer than a session lives in one of two rounds, so that
// there may be nothing left that could be locked again.
func (s side) outlast(round int) {
	stop := s.heed()
	d := time.Millisecond
	if s.Choose(2, round+6000) == 0 {
		d = longHold
	}
	s.Pause(d)
	stop()
}

// deep locks again and holds at the inner level, with another one in it.
func (s side) deep(round int) {
	defer s.heed()()
	if s.acquire(s.Context()) != nil {
		s.Pause(time.Millisecond)
		return
	}
	s.again(round + 5000)
	s.hold(round)
	s.release(round + 3000)
}

// reentrantLock is the re-entrant lock to use.
func reentrantLock() Workload {
	return ReentrantWorkload("recipes.ReentrantLock", LockClaims{
		About: "the re-entrant lock of package recipes", Fair: true, MaxHerd: 1,
	}, func(c *zk.Conn) Locker {
		return recipes.NewReentrantLock(InTurn(c), reentrantPath, recipes.SessionTimeout(sessionTimeout))
	})
}

// reentrantPath is the directory that the workloads of re-entrant locks use.
const reentrantPath = "/reentrant"
