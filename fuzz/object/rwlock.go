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

// RWLocker is a read-write lock under test: many readers or one writer. A holder may lock again.
// The methods Lost and Token are those of a [Locker], for the write lock; RLost and RToken are
// those for the read lock. The token is the czxid of the znode of the hold. A writer that also
// reads may do so under the token of its write lock. TryLock and TryRLock are those of [TryLocker].
type RWLocker interface {
	Locker
	RLock(ctx context.Context) error
	RUnlock(ctx context.Context) error
}

// RWLock makes a workload of a read-write lock. Each client calls open once. Round after round it
// reads or writes, locks again, and changes from writing to reading. For MaxHerd, readers that get
// the lock together count as one.
func RWLock(open func(Env) RWLocker, given ...LockClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/rwlock")
	return claims.judged(scenario.Workload{
		Name:  "rwlock",
		About: claims.About,
		Play: inRounds(open, claims.Path, 1,
			func(p *scenario.Player, h *scenario.Handle[RWLocker]) (turn, end func(int)) {
				reads, writes := readMode(p, h), writeMode(p, h)
				return func(round int) { playRWLock(reads, writes, round) }, nil
			}),
		Length: claims.length,
	}, ops.Lock, func(l lock.Claims) linearizability.Claims {
		return lock.ReadWrite(l)
	})
}

// lockMode is one mode of a lock: the calls for it, and the recorded input.
type lockMode struct {
	client       *scenario.Player
	mode         string // input of the operations
	lock, unlock func(ctx context.Context) error
	try          func(ctx context.Context) (bool, error) // nil: none
	lost         func() <-chan struct{}                  // nil: no signal
	token        func() int64                            // nil: none
}

func writeMode(p *scenario.Player, h *scenario.Handle[RWLocker]) lockMode {
	s := singleMode(p, h)
	s.mode = ops.WriteMode
	return s
}

func readMode(p *scenario.Player, h *scenario.Handle[RWLocker]) lockMode {
	type rLoser interface{ RLost() <-chan struct{} }
	type rNumbered interface{ RToken() int64 }
	type rTryLocker interface {
		TryRLock(ctx context.Context) (bool, error)
	}
	s := lockMode{
		client: p, mode: ops.ReadMode,
		lock:   func(ctx context.Context) error { return h.Now().RLock(ctx) },
		unlock: func(ctx context.Context) error { return h.Now().RUnlock(ctx) },
	}
	if _, ok := any(h.Now()).(rLoser); ok {
		s.lost = func() <-chan struct{} { return any(h.Now()).(rLoser).RLost() }
	}
	if _, ok := any(h.Now()).(rNumbered); ok {
		s.token = func() int64 { return any(h.Now()).(rNumbered).RToken() }
	}
	if _, ok := any(h.Now()).(rTryLocker); ok {
		s.try = func(ctx context.Context) (bool, error) {
			return any(h.Now()).(rTryLocker).TryRLock(ctx)
		}
	}
	return s
}

// acquire locks once.
func (s lockMode) acquire(ctx context.Context) error {
	return s.client.Do(ops.Lock, s.mode, func(context.Context) (linearizability.Result, error) {
		if err := s.lock(ctx); err != nil {
			return linearizability.Result{}, err
		}
		return linearizability.Result{Token: s.held()}, nil
	})
}

// held is the token of the present hold.
func (s lockMode) held() int64 {
	if s.token == nil {
		return 0
	}
	return s.token()
}

// lockUntilHeld locks until that succeeds or the World ends. The first attempt has a short context
// in some rounds.
func (s lockMode) lockUntilHeld(label string) bool {
	return s.client.Persist(func(attempt int) error {
		if s.try != nil && attempt == 0 {
			if tried, err := s.client.TryFirst(label, ops.Lock, s.mode, s.try, s.held); tried {
				return err
			}
		}
		ctx, cancel := s.client.Hasty(s.client.Context(), attempt, label, 6, 10*time.Millisecond,
			100*time.Millisecond)
		defer cancel()
		return s.acquire(ctx)
	})
}

// release unlocks.
func (s lockMode) release(label string) {
	s.client.GiveBack(label, func(ctx context.Context) error {
		return s.client.Call(ops.Unlock, s.mode, func(context.Context) error {
			return s.unlock(ctx)
		})
	})
}

// watchLoss records a loss of the hold until stop is called.
func (s lockMode) watchLoss() (stop func()) {
	return s.client.Heed(0, s.signal())
}

// signal is closed when the present hold is lost; nil means that there is no signal.
func (s lockMode) signal() <-chan struct{} {
	if s.lost == nil {
		return nil
	}
	return s.lost()
}

// hold is Player.Hold with the signal of this side.
func (s lockMode) hold(label string) { s.client.Hold(label, s.signal()) }

// again locks once more and unlocks that level. A loss meanwhile is a loss of the outer level, too.
func (s lockMode) again(label string) {
	defer s.client.AtCall(s.watchLoss())
	if s.acquire(s.client.Context()) != nil {
		return
	}
	s.client.Pause(time.Duration(1+s.client.Choose(label+" pause", 10)) * time.Millisecond)
	s.release(label + " unlock")
}

// playRWLock plays a round: reading or writing, sometimes in two levels, sometimes reading after
// writing.
func playRWLock(reads, writes lockMode, round int) {
	kind := reads.client.Choose(scenario.At("kind", round), 8)
	main := reads
	if kind >= 4 {
		main = writes
	}
	if !main.lockUntilHeld(scenario.At("lock", round)) {
		return
	}
	if kind >= 6 {
		main = downgrade(reads, writes, round)
	}
	main.hold(scenario.At("hold", round))
	if kind == 3 || kind == 4 {
		main.again(scenario.At("again", round))
	}
	main.release(scenario.At("unlock", round))
}

// downgrade changes from writing to reading, and returns the side that is held then.
func downgrade(reads, writes lockMode, round int) lockMode {
	stop := writes.watchLoss()
	err := reads.acquire(reads.client.Context())
	stop()
	if err != nil {
		return writes
	}
	stop = reads.watchLoss()
	writes.release(scenario.At("downgrade", round))
	stop()
	return reads
}
