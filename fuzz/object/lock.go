package object

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/lock"
	"github.com/zksim/zksim/linearizability/ops"
)

// Locker is a lock under test. Lock returns nil when the caller owns the lock. Two methods are
// optional and tested, too: Lost() <-chan struct{} is the signal to a holder that it does not own
// the lock any more, at most a second after its client has learned of the end of the session;
// Token() int64 is the fencing token of the present hold, the czxid of the holder's znode. A lock
// that has a token for one hold must have one for every hold. A lock with several sessions may
// return the session of the present hold; see Connect of [Env].
type Locker interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

// TryLocker is a [Locker] with a call that does not wait: TryLock returns false if the lock has
// another owner. In some rounds clients call it before they wait.
type TryLocker interface {
	TryLock(ctx context.Context) (bool, error)
}

// LockClaims are the promises of a lock.
type LockClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the directory of the lock's znodes, or the znode itself; "" means /lock.
	Path string
	// Fair says that waiters get the lock in the order in which their znodes were created.
	Fair bool
	// MaxHerd is the greatest number of watch notifications that one release may cause; 0 means
	// any. It is judged only in runs in which no wait was given up by an error, a done context or
	// the end of a session: the client cannot remove the watch of such a wait.
	MaxHerd int
	// Lease says that the lock is a lease: Lost tells the holder of a loss before its session can
	// end for lack of answers. It is not judged in runs with a fault that ends a session before: of
	// that, Lost tells within the time of a session.
	Lease bool
	// TTL is the time to live of the znodes by which the lock is held, if they are TTL nodes: the
	// holder makes one with CreateTTL and keeps the lock by writes to it, whatever becomes of its
	// session. The server may delete it when no write has come for that time: it looks once a
	// minute. 0 means that the lock is held by ephemerals.
	TTL time.Duration
	// ClosesSession says that Unlock closes the connection of the hold and deletes nothing: if the
	// request to close the session is lost, the znode lives until the session times out.
	ClosesSession bool
	StaleReads    bool // of Leader of an election; see Claims in the package comment
	// LeavesAtRest are patterns (path.Match) of znodes that may stay behind.
	LeavesAtRest []string
	// Handles says which objects the goroutines of a client use. If it is 0, each has a Lock of its
	// own; with the other kinds they share one, if it is made for that by [Env.InTurn].
	Handles Handles
}

// Handles says which objects the goroutines of a client use: what open returns is a handle.
type Handles int

const (
	SharedHandle Handles = iota + 1 // the goroutines of a client share one
	OneHandle                       // a client has one, and one goroutine
)

// Lock makes a workload of a lock. Each client calls open once, or once for each of its goroutines,
// and takes the lock round after round. After an error it tries again.
func Lock(open func(Env) Locker, given ...LockClaims) scenario.Workload {
	claims := optional(given)
	claims.Path = cmp.Or(claims.Path, "/lock")
	play := scenario.Apart[Locker]
	if claims.Handles == SharedHandle {
		play = scenario.Shared[Locker]
	}
	return claims.judged(scenario.Workload{
		Name:    "lock",
		About:   claims.About,
		Play:    play(opener(open, claims.Path), playLock),
		Handles: true,
		Length:  claims.length,
	}, ops.Lock, func(l lock.Claims) linearizability.Claims {
		return l
	})
}

// judged is a workload with the judge of a kind of lock. kind turns the claims of a lock into the
// claims of that kind.
func (c LockClaims) judged(
	w scenario.Workload, writes string, kind func(lock.Claims) linearizability.Claims,
) scenario.Workload {
	switch c.Handles {
	case SharedHandle:
		w.Handles, w.Shared = true, true
	case OneHandle:
		w.Handles, w.Shared = false, false
	}
	w = judgedAt(w, c.Path, writes, func(e scenario.Evidence) linearizability.Claims {
		return kind(c.options(e))
	})
	judge := w.Judge
	w.Judge = func(e scenario.Evidence) (linearizability.Report, error) {
		if node := ttlNode(e.History, c.Path); node != "" && c.TTL == 0 {
			return linearizability.Report{}, fmt.Errorf("%s is made with a TTL, and the %s has no "+
				"ephemerals: if it is held by TTL nodes, set TTL of its claims", node, w.Name)
		}
		return judge(e)
	}
	return w
}

// ttlNode is a znode within a path that was made with a TTL and never had a child, if no ephemeral
// was made there.
func ttlNode(h linearizability.History, within string) (node string) {
	for _, ev := range h.Server {
		switch {
		case ev.Kind != linearizability.NodeCreated ||
			ev.Path != within && !strings.HasPrefix(ev.Path, within+"/"):
		case ev.Owner != 0:
			return ""
		case node != "" && strings.HasPrefix(ev.Path, node+"/"):
			node = ""
		case ev.TTL:
			node = ev.Path
		}
	}
	return node
}

// options are the claims in the form that the judge takes.
func (c LockClaims) options(e scenario.Evidence) lock.Claims {
	opts := lock.Claims{
		Path: c.Path, Fair: c.Fair, MaxHerd: c.MaxHerd, TTL: c.TTL > 0,
		AllowedAtRest: c.LeavesAtRest, StaleReads: c.StaleReads,
		ClosesSession: c.ClosesSession,
		Signals:       e.Signals, SignalWithin: c.signalWithin(),
		Lease: c.Lease && !slices.ContainsFunc(e.Plan, func(f fault.Fault) bool {
			return f.Kind == fault.Expire || f.Kind == fault.LateReap
		}),
		Handles: slices.ContainsFunc(e.History.Ops, func(op linearizability.Op) bool {
			return op.Kind == ops.Lock && strings.HasPrefix(op.Input, handle)
		}),
	}
	if e.GaveUp() {
		opts.MaxHerd = 0
	}
	return opts
}

// handle begins the input of a call of a client's second or later lock; the number follows.
const handle = "handle"

// lockOf is the input of the calls of a lock.
func lockOf(p *scenario.Player) string {
	if n := p.Goroutine(); n > 0 {
		return fmt.Sprint(handle, " ", n+1)
	}
	return ""
}

// holdingTime is how long the turns of a script may take if each client has to wait for all others.
func holdingTime(s scenario.Script) time.Duration {
	turns := s.Clients * s.Rounds * max(1, s.Goroutines)
	return time.Duration(turns) * (scenario.LongHold + time.Second)
}

// length is holdingTime, with lifetimes.
func (c LockClaims) length(s scenario.Script) time.Duration {
	return holdingTime(s) + c.lifetimes(s)
}

// lifetimes is the time until the server has deleted a node of each client whose TTL is over.
func (c LockClaims) lifetimes(s scenario.Script) time.Duration {
	if c.TTL == 0 {
		return 0
	}
	const looks = time.Minute
	return time.Duration(s.Clients) * (c.TTL + looks)
}

// retryPause is how long a client waits after an error before it goes on.
const retryPause = 100 * time.Millisecond

// signalWithin is how soon after its client has learned of the end of its session a holder must get
// the signal of loss, if the lock has one. A lease need not hear of that: its time runs out before
// a session ends.
func (c LockClaims) signalWithin() time.Duration {
	if c.Lease {
		return scenario.SessionTimeout
	}
	return time.Second
}

// lossSignaler is an object with a signal of loss.
type lossSignaler interface{ Lost() <-chan struct{} }

type lockPlayer struct {
	client *scenario.Player
	lock   func() Locker // the present one
}

// playLock is the script of a client of a lock.
func playLock(p *scenario.Player, s scenario.Script, h *scenario.Handle[Locker]) {
	lp := lockPlayer{p, h.Now}
	for round := range p.Rounds(s.Rounds) {
		p.Rest(round)
		if !lp.turn(round) {
			return
		}
	}
}

// turn takes the lock, holds it and releases it. After an error it tries again until it succeeds or
// the World ends. When its context is done, one client in three leaves for good, so that no further
// call can remove the leftovers of the lock. turn reports whether the client stays.
func (p lockPlayer) turn(round int) (stays bool) {
	leaves := false
	own := lockOf(p.client)
	var lock Locker // of the last attempt; p.lock may return another by now
	ended := p.client.Persist(func(attempt int) error {
		lock = p.lock()
		label := scenario.At("lock", round)
		if t, ok := lock.(TryLocker); ok && attempt == 0 {
			token := func() int64 { return tokenOf(lock) }
			if tried, err := p.client.TryFirst(label, ops.Lock, own, t.TryLock, token); tried {
				return err
			}
		}
		err := p.client.Do(ops.Lock, own, func(
			ctx context.Context,
		) (r linearizability.Result, err error) {
			ctx, cancel := p.client.Hasty(ctx, attempt, label, 6, 10*time.Millisecond,
				100*time.Millisecond)
			defer cancel()
			if err = lock.Lock(ctx); err == nil {
				r.Token = tokenOf(lock)
			}
			leaves = err != nil && err == ctx.Err() && p.client.Choose(label+" leaves", 3) == 0
			return r, err
		})
		if leaves {
			return nil
		}
		return err
	})
	if !ended || leaves {
		return false
	}
	var lost <-chan struct{}
	if l, ok := lock.(lossSignaler); ok {
		lost = l.Lost()
	}
	p.client.Hold(scenario.At("hold", round), lost)
	useTokenLate(p.client, round, own, func() int64 { return tokenOf(lock) })
	p.client.GiveBack(scenario.At("unlock", round), func(ctx context.Context) error {
		return p.client.Call(ops.Unlock, own, func(context.Context) error {
			return lock.Unlock(ctx)
		})
	})
	return true
}

// useTokenLate reads the token late in a hold, in half of the rounds, as for a write to a resource
// that checks tokens. The input is that of the grant.
func useTokenLate(p *scenario.Player, round int, input string, token func() int64) {
	if p.Choose(scenario.At("use", round), 2) > 0 {
		return
	}
	if late := token(); late != 0 {
		p.BeginWithin(ops.Use, input).OK(linearizability.Result{Token: late})
	}
}

// tokenOf is the token of a lock that was granted.
func tokenOf(lock Locker) int64 {
	if t, ok := lock.(interface{ Token() int64 }); ok {
		return t.Token()
	}
	return 0
}
