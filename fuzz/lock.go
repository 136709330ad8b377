package fuzz

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
)

// Locker is a lock under test. Lock returns nil when the caller owns it. If it
// has a method Lost() <-chan struct{}, that is what tells a holder that it owns
// the lock no longer; if it has Token() int64, that is the fencing token of the
// present hold, the czxid of the holder's znode.
type Locker interface {
	Lock(ctx context.Context) error
	Unlock(ctx context.Context) error
}

// LockClaims say what a lock claims to be.
type LockClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the directory of its znodes, or the znode itself; "" means /lock. A
	// lock of which no ephemeral znode was ever made there is an input error.
	Path string
	// Fair says that it is granted in the order in which the waiters' znodes were
	// created.
	Fair bool
	// MaxHerd is the greatest number of watch notifications one release may
	// cause; 0 means any. It is judged only in histories in which no wait was
	// given up (by an error, a done context or the end of a session), as the
	// client cannot take back the watch of one that was.
	MaxHerd int
	// LeavesAtRest are patterns (path.Match) of znodes that may stay behind.
	LeavesAtRest []string
}

// LockWorkload makes a workload of a lock. Each client calls open once, with a
// connection of its own, and takes the lock round after round; after an error
// it tries again.
func LockWorkload(impl string, claims LockClaims, open func(*zk.Conn) Locker) Workload {
	if claims.Path == "" {
		claims.Path = lockPath
	}
	return Workload{
		Name:  "lock",
		Impl:  impl,
		About: claims.About,
		play: func(p *player, s Script) {
			conn := p.client.Conn()
			lp := lockPlayer{player: p, conn: conn, lock: open(conn)}
			_, p.signals = lp.lock.(loser)
			for round := range s.Rounds {
				lp.turn(round)
			}
		},
		length: func(s Script) time.Duration {
			return time.Duration(s.Clients*s.Rounds) * (longHold + time.Second)
		},
		judge: claims.judge,
	}
}

func (c LockClaims) judge(e evidence) (linearizability.Report, error) {
	opts := linearizability.LockOptions{
		Path: c.Path, Fair: c.Fair, MaxHerd: c.MaxHerd, AllowedAtRest: c.LeavesAtRest,
		Signals: e.signals, SignalWithin: signalWithin,
	}
	if len(gaveUp(e.history)) > 0 {
		opts.MaxHerd = 0
	}
	report := linearizability.JudgeLock(e.history, e.rest, opts)
	if report.Status() != linearizability.Violated && granted(e.history) && !c.seesNodes(e.history) {
		return report, fmt.Errorf("%w: the lock was granted, but no ephemeral znode was ever created at or under %s; set LockClaims.Path", errClaims, c.Path)
	}
	return report, nil
}

func granted(h linearizability.History) bool {
	return slices.ContainsFunc(h.Ops, func(op linearizability.Op) bool {
		return op.Kind == linearizability.KindLock && op.Outcome == linearizability.OpOK
	})
}

// seesNodes reports whether the lock made an ephemeral znode where it claims to.
func (c LockClaims) seesNodes(h linearizability.History) bool {
	dir := strings.TrimSuffix(c.Path, "/") + "/"
	return slices.ContainsFunc(h.Server, func(ev linearizability.ServerEvent) bool {
		return ev.Kind == linearizability.NodeCreated && ev.Owner != 0 && (ev.Path == c.Path || strings.HasPrefix(ev.Path, dir))
	})
}

// signalWithin is how soon after its session's end was told a holder must be
// told by the lock, if the lock has a signal for that.
const signalWithin = time.Second

// loser is a lock with a signal for losses.
type loser interface{ Lost() <-chan struct{} }

// longHold is how long a lock is held now and then, besides the usual: past the
// end of a session that has lost its connection.
const longHold = 2 * sessionTimeout

type lockPlayer struct {
	*player
	conn *zk.Conn
	lock Locker
}

// turn takes the lock, holds it, and gives it back; after an error it tries
// again until it succeeds or the World ends.
func (p lockPlayer) turn(round int) {
	for attempt := 0; p.alive(); attempt++ {
		c := p.begin(linearizability.KindLock, "")
		err := p.attempt(round, attempt)
		if err == nil {
			c.ok(linearizability.Result{Token: p.token(), Session: p.conn.SessionID()})
			break
		}
		c.unknown(linearizability.Result{Session: p.conn.SessionID()}, err)
		if !p.pause(retryPause) {
			return
		}
	}
	p.hold(round)
	p.unlock()
}

// attempt calls Lock, now and then with a short patience at first.
func (p lockPlayer) attempt(round, attempt int) error {
	if attempt > 0 || p.choose(6, round+2000) > 0 {
		return p.lock.Lock(p.ctx)
	}
	patience := 10*time.Millisecond + time.Duration(p.choose(100_000, round+3000))*time.Microsecond
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return p.lock.Lock(ctx)
}

// hold keeps the lock for a while, now and then past the end of a session that
// has lost its connection, and notes when the lock says that it is lost.
func (p lockPlayer) hold(round int) {
	stop := make(chan struct{})
	defer close(stop)
	if l, ok := p.lock.(loser); ok {
		go p.listen(l.Lost(), stop)
	}
	d := time.Duration(5+p.choose(40, round)) * time.Millisecond
	if p.choose(8, round+1000) == 0 {
		d += longHold
	}
	p.pause(d)
}

// listen notes the loss of the present hold.
func (p lockPlayer) listen(lost <-chan struct{}, stop <-chan struct{}) {
	select {
	case <-lost:
	case <-stop:
	}
	select {
	case <-stop: // whatever is said from here on is the unlock's own doing
	default:
		p.asides.Notice(p.client.Name(), linearizability.LockLost)
	}
}

// unlock gives the lock back, with a few attempts, as a careful caller does.
func (p lockPlayer) unlock() {
	for range 3 {
		c := p.begin(linearizability.KindUnlock, "")
		err := p.lock.Unlock(p.ctx)
		if err == nil {
			c.ok(linearizability.Result{Session: p.conn.SessionID()})
			return
		}
		c.unknown(linearizability.Result{Session: p.conn.SessionID()}, err)
		if !p.pause(retryPause) {
			return
		}
	}
}

func (p lockPlayer) token() int64 {
	if t, ok := p.lock.(interface{ Token() int64 }); ok {
		return t.Token()
	}
	return 0
}
