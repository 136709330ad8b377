package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/go-zookeeper/zk"
)

// ErrLeases is returned when the semaphore on the server has another number of
// leases than this handle was made with. It comes wrapped together with both.
var ErrLeases = errors.New("number of leases differs")

// Semaphore lets a number of owners in at once: each holds a lease. One handle
// can hold several. Methods may be called from several goroutines.
//
// What it promises:
//   - At the server no more leases are held than there are: the owners are the
//     sessions with the oldest live nodes. As with Lock the own node is read once
//     more before Acquire returns.
//   - Order: Acquire serves those who wait in the order in which they came.
//   - A release wakes one waiter: of those who wait, one watches the leases, and
//     the others each wait for the one before. A lease that becomes free in the
//     moment in which a waiter looks can wake it once more, later, for nothing.
//   - All handles agree on the number of leases: it stands at the server, and
//     Acquire returns ErrLeases when the own number is another one.
//   - No orphans, as Lock: a lease goes with Release, with an Acquire that fails,
//     or with the session, even if replies are lost.
//
// On disconnect a waiter goes on waiting, and a lease stays held, as its session
// may live on: pass SessionTimeout to be told when it may not. On expiry a waiter
// begins again in the new session; the Lost of each lease is closed as soon as
// the client learns of it. A done context ends the wait; it does not end a lease.
//
// What it cannot promise: that a holder which is paused or cut off past its
// session's end knows about it. A Token does not help here as it does with Lock:
// holders do not exclude each other.
//
// Layout: <path>, persistent, data = number of leases in decimal;
// <path>/leases/_c_<guid>-lease-<sequence>, ephemeral; <path>/lock, a Lock for
// those who wait. To change the number of leases set the data while nobody waits,
// and make new handles.
//
// Sources: Curator's InterProcessSemaphoreV2, CURATOR-335 and 462 (leases left
// behind).
type Semaphore struct {
	*lifecycle
	leases int
	queue  *turnstile // of those who wait

	mu   sync.Mutex
	held []*Lease // that were not released, oldest first
}

// leaseMarker stands before the sequence number of a lease's node.
const leaseMarker = "lease-"

// NewSemaphore makes a handle for the semaphore at path with so many leases,
// below 1 means 1. path is created when needed and must be used for this semaphore
// only. It sends nothing. The options that matter are ACL, Data, SessionTimeout,
// RecheckEvery and Retry.
func NewSemaphore(conn Conn, path string, leases int, opts ...Option) *Semaphore {
	s := &Semaphore{lifecycle: newLifecycle(conn, "semaphore", path, opts), leases: max(1, leases)}
	s.queue = &turnstile{dir: join(path, "lock"), kind: "lock-", markers: lockMarkers, opts: s.opts, ahead: predecessor}
	return s
}

func (s *Semaphore) dir() string { return join(s.path, "leases") }

// Acquire waits until a lease is held, ctx is done, or the server refuses. It
// outlives lost connections and ended sessions, as Lock of the type Lock does.
// After an error no lease is held, and what was made on the server is removed, in
// the background if need be.
func (s *Semaphore) Acquire(ctx context.Context) (*Lease, error) {
	lease, _, err := run(ctx, s.lifecycle, func(ctx context.Context, r *requests, t *task[*Lease]) (*Lease, error) {
		return withRestarts(ctx, func() (*Lease, error) { return s.inTurn(ctx, r, t) })
	})
	return lease, s.explain("acquire", err)
}

// TryAcquire is Acquire that does not wait for another owner: it returns nil when
// no lease is free. It does not stand in the queue, and may pass somebody who has
// just come. It does wait for the connection.
func (s *Semaphore) TryAcquire(ctx context.Context) (*Lease, error) {
	lease, _, err := run(ctx, s.lifecycle, func(ctx context.Context, r *requests, t *task[*Lease]) (*Lease, error) {
		return withRestarts(ctx, func() (*Lease, error) {
			if err := s.agree(ctx, r); err != nil {
				return nil, err
			}
			held, err := s.attempt(ctx, r, false)
			if held == nil {
				return nil, err
			}
			return s.keep(ctx, r, t, held)
		})
	})
	return lease, s.explain("try acquire", err)
}

// Close ends acquisitions under way, gives all leases back, and waits until
// nothing is left to clean up or ctx is done; in the latter case the clean-up goes
// on. Afterwards Acquire and TryAcquire return ErrClosed. It leaves the Conn open.
// It returns the first error by which the server has refused to remove a node that
// this handle has made.
func (s *Semaphore) Close(ctx context.Context) error {
	s.mu.Lock()
	s.kill(ErrClosed)
	held := slices.Clone(s.held)
	s.mu.Unlock()
	for _, l := range held {
		l.giveBack()
	}
	return s.lifecycle.Close(ctx)
}

// inTurn gets a lease when it is the own turn. The turn is given up before the
// lease is handed over: that may take long, and the lease may be lost meanwhile.
func (s *Semaphore) inTurn(ctx context.Context, r *requests, t *task[*Lease]) (*Lease, error) {
	if err := s.agree(ctx, r); err != nil {
		return nil, err
	}
	turn, err := s.queue.acquire(ctx, r, true)
	if err != nil {
		return nil, err
	}
	held, err := s.attempt(ctx, r, true)
	if err := firstOf(err, r.tidy(turn.release)); err != nil {
		if held != nil {
			err = giveBack(r, err, held.release)
		}
		return nil, err
	}
	return s.keep(ctx, r, t, held)
}

// agree makes sure that the semaphore exists and has as many leases as this
// handle expects.
func (s *Semaphore) agree(ctx context.Context, r *requests) error {
	want := strconv.Itoa(s.leases)
	data, stat, err := r.get(ctx, s.path)
	if errors.Is(err, zk.ErrNoNode) {
		data, _, err = r.createOnce(ctx, s.path, []byte(want))
		stat = &zk.Stat{}
	}
	if err == nil && len(data) == 0 { // made by somebody who had no number
		err = r.repeat(ctx, func() error {
			_, err := r.conn.Set(s.path, []byte(want), stat.Version)
			return err
		})
		if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
			err = errRestart // look again: somebody has, or a request whose reply was lost
		}
		data = []byte(want)
	}
	if err == nil && string(data) != want {
		err = fmt.Errorf("%w: %s has %q, expected %s", ErrLeases, s.path, data, want)
	}
	return err
}

// attempt makes one node and waits until it stands for a lease. Without a lease
// the node is removed again.
func (s *Semaphore) attempt(ctx context.Context, r *requests, wait bool) (*hold, error) {
	own, err := newProtected(s.dir(), leaseMarker)
	if err != nil {
		return nil, err
	}
	err = own.create(ctx, r, s.opts.data)
	if err == nil {
		var held *hold
		held, err = s.stand(ctx, r, own, wait)
		if held != nil {
			return held, nil
		}
	}
	return nil, giveBack(r, err, own.remove)
}

// stand waits until the own node is among the oldest.
func (s *Semaphore) stand(ctx context.Context, r *requests, own *protected, wait bool) (*hold, error) {
	leases := &vigil{path: s.dir()}
	free := false
	err := leases.until(ctx, r, func() (done bool, err error) {
		// The first look sets no watch, which would wake us when nobody waits.
		names, err := r.children(ctx, s.dir())
		if free, err = s.isFree(own, names, err); err != nil || free || !wait {
			return true, err
		}
		names, err = leases.children(ctx, r)
		free, err = s.isFree(own, names, err)
		return free, err
	})
	if err != nil || !free {
		return nil, err
	}
	return confirm(ctx, r, own.path, own.remove)
}

// isFree reports whether the own node is among the oldest of those listed, of
// which there are as many as leases. A list that holds the own node holds every
// older one that lives.
func (s *Semaphore) isFree(own *protected, names []string, err error) (bool, error) {
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return false, errRestart
	case err != nil:
		return false, err
	case own.epoch.check() != nil:
		return false, errRestart
	}
	queue := sortNumbered(names, leaseMarker)
	at := slices.IndexFunc(queue, func(n numbered) bool { return n.name == own.name() })
	if at < 0 {
		return false, errRestart
	}
	return at < s.leases, nil
}

// keep hands the lease to the caller, or gives it back if it was lost already or
// nobody wants it any more.
func (s *Semaphore) keep(ctx context.Context, r *requests, t *task[*Lease], held *hold) (*Lease, error) {
	select {
	case <-held.watch:
		return nil, giveBack(r, errRestart, held.release)
	default:
	}
	lease := &Lease{s: s, hold: held}
	s.mu.Lock()
	kept := !s.closed() && t.settle(lease)
	if kept {
		s.held = append(s.held, lease)
		s.watchOver(held)
	}
	s.mu.Unlock()
	if kept {
		return lease, nil
	}
	return nil, errors.Join(s.cause(ctx), r.tidy(held.release))
}
