package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-zookeeper/zk"
)

// inTurn waits for the turn and gathers leases. It releases the turn before it hands the leases
// over: the release may take long, and a lease may be lost meanwhile.
func (s *Semaphore) inTurn(
	ctx context.Context, r *requests, t *task[[]*Lease], n int,
) ([]*Lease, error) {
	if err := s.ensureSize(ctx, r); err != nil {
		return nil, err
	}
	turn, err := s.queue.acquire(ctx, r, true)
	if err != nil {
		return nil, err
	}
	held, err := s.gather(ctx, r, turn, n)
	if err := firstOf(err, r.tidy(turn.release)); err != nil {
		return nil, giveBack(r, err, releaseOf(held))
	}
	return s.keep(ctx, r, t, held)
}

// gather gets leases one after the other, for as long as it has the turn. Without the turn, in the
// next session for instance, it would hold some leases and wait for more beside the caller that has
// the turn then: a deadlock. With an error it returns the leases gathered so far.
func (s *Semaphore) gather(
	ctx context.Context, r *requests, turn *hold, n int,
) (held []*hold, err error) {
	for len(held) < n {
		one, err := s.attempt(ctx, r, turn)
		if err != nil {
			return held, err
		}
		held = append(held, one)
	}
	return held, nil
}

// releaseOf gives all holds back, also if the server refuses one of the removals.
func releaseOf(held []*hold) func(r *requests) error {
	return func(r *requests) error {
		var errs []error
		for _, one := range held {
			errs = append(errs, one.release(r))
		}
		return errors.Join(errs...)
	}
}

// ensureSize makes sure that the semaphore exists and has the number of leases that this handle
// expects.
func (s *Semaphore) ensureSize(ctx context.Context, r *requests) error {
	want := strconv.Itoa(s.leases)
	data, stat, err := r.get(ctx, s.path)
	if errors.Is(err, zk.ErrNoNode) {
		data, _, err = r.createOnce(ctx, s.path, []byte(want))
		stat = &zk.Stat{}
	}
	if err == nil && len(data) == 0 { // made without a number
		err = r.repeat(ctx, func() error {
			_, err := r.conn.Set(s.path, []byte(want), stat.Version)
			return err
		})
		if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
			err = errRestart // read again: a rival or an earlier request has set it
		}
		data = []byte(want)
	}
	if err == nil && string(data) != want {
		err = fmt.Errorf("%w: %s has %q, expected %s", ErrLeases, s.path, data, want)
	}
	return err
}

// attempt makes one node and finds out whether it holds a lease. With a turn it waits until the
// node holds a lease or the turn is lost. If it gets no lease, it removes the node.
func (s *Semaphore) attempt(ctx context.Context, r *requests, turn *hold) (*hold, error) {
	return queueUp(ctx, r, s.dir(), leaseMarker, s.opts.data, func(own *protected) (*hold, error) {
		return s.waitForLease(ctx, r, own, turn)
	})
}

// waitForLease finds out whether the own node is among the oldest. With a turn it waits for that.
func (s *Semaphore) waitForLease(
	ctx context.Context, r *requests, own *protected, turn *hold,
) (*hold, error) {
	leases := &nodeWatch{path: s.dir()}
	free := false
	err := leases.until(ctx, r, own.epoch, func() (w *watch, done bool, err error) {
		if turn != nil && turn.gone() {
			return nil, false, errRestart
		}
		// The first read sets no watch: if the lease is free, the watch would wake a client that no
		// longer waits.
		names, err := r.children(ctx, s.dir())
		if free, err = s.isFree(own, names, err); err != nil || free || turn == nil {
			return nil, true, err
		}
		names, w, err = leases.children(ctx, r)
		free, err = s.isFree(own, names, err)
		return w, free, err
	})
	if err != nil || !free {
		return nil, err
	}
	return confirm(ctx, r, own.path, own.remove)
}

// isFree reports whether the own node is among the oldest of the list, one for each lease. A list
// with the own node contains every older live node.
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

// keep hands the leases to the caller. It gives them back if one was lost already or the caller has
// left.
func (s *Semaphore) keep(
	ctx context.Context, r *requests, t *task[[]*Lease], held []*hold,
) ([]*Lease, error) {
	var leases []*Lease
	for _, one := range held {
		if one.gone() {
			return nil, giveBack(r, errRestart, releaseOf(held))
		}
		leases = append(leases, &Lease{s: s, hold: one})
	}
	s.mu.Lock()
	kept := !s.closed() && t.settle(leases)
	if kept {
		s.held = append(s.held, leases...)
		for _, one := range held {
			s.watchOver(one)
		}
	}
	s.mu.Unlock()
	if kept {
		return leases, nil
	}
	return nil, errors.Join(s.cause(ctx), r.tidy(releaseOf(held)))
}
