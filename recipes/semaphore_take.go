package recipes

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/hold"
	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// inTurn waits for the turn and gathers leases. It releases the turn before it hands the leases
// over: the release may take long, and a lease may be lost meanwhile.
func (s *Semaphore) inTurn(r *request.Sender, t *task.Task[[]*Lease], n int) ([]*Lease, error) {
	if err := s.ensureSize(r); err != nil {
		return nil, err
	}
	turn, err := s.queue.Acquire(r, true)
	if err != nil {
		return nil, err
	}
	held, err := s.gather(r, turn, n)
	if err := request.FirstOf(err, r.Tidy(turn.Release)); err != nil {
		return nil, request.GiveBack(r, err, releaseOf(held))
	}
	return s.keep(r, t, held)
}

// gather gets leases one after the other, for as long as it has the turn. Without the turn, in the
// next session for instance, it would hold some leases and wait for more beside the caller that has
// the turn then: a deadlock. With an error it returns the leases gathered so far.
func (s *Semaphore) gather(
	r *request.Sender, turn *hold.Hold, n int,
) (held []*hold.Hold, err error) {
	for len(held) < n {
		one, err := s.attempt(r, turn)
		if err != nil {
			return held, err
		}
		held = append(held, one)
	}
	return held, nil
}

// releaseOf gives all holds back, also if the server refuses one of the removals.
func releaseOf(held []*hold.Hold) func(r *request.Sender) error {
	return func(r *request.Sender) error {
		var errs []error
		for _, one := range held {
			errs = append(errs, one.Release(r))
		}
		return errors.Join(errs...)
	}
}

// ensureSize makes sure that the semaphore exists and has the number of leases that this handle
// expects.
func (s *Semaphore) ensureSize(r *request.Sender) error {
	want := strconv.Itoa(s.leases)
	data, stat, err := r.Get(s.tasks.Path)
	if errors.Is(err, zk.ErrNoNode) {
		data, _, err = r.CreateOnce(s.tasks.Path, []byte(want))
		stat = &zk.Stat{}
	}
	if err == nil && len(data) == 0 { // made without a number
		err = r.Repeat(func() error {
			_, err := r.Conn.Set(s.tasks.Path, []byte(want), stat.Version)
			return err
		})
		if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
			err = request.ErrRestart // read again: a rival or an earlier request has set it
		}
		data = []byte(want)
	}
	if err == nil && string(data) != want {
		err = fmt.Errorf("%w: %s has %q, expected %s", ErrLeases, s.tasks.Path, data, want)
	}
	return err
}

// attempt makes one node and finds out whether it holds a lease. With a turn it waits until the
// node holds a lease or the turn is lost. If it gets no lease, it removes the node.
func (s *Semaphore) attempt(r *request.Sender, turn *hold.Hold) (*hold.Hold, error) {
	return hold.QueueUp(r, s.dir(), leaseMarker, s.tasks.Opts.Data, func(
		own *request.Protected,
	) (*hold.Hold, error) {
		return s.waitForLease(r, own, turn)
	})
}

// waitForLease finds out whether the own node is among the oldest. With a turn it waits for that.
func (s *Semaphore) waitForLease(
	r *request.Sender, own *request.Protected, turn *hold.Hold,
) (*hold.Hold, error) {
	leases := &request.NodeWatch{Path: s.dir()}
	free := false
	err := leases.Until(r, own.Epoch, func() (w *request.Watch, done bool, err error) {
		if turn != nil && turn.Gone() {
			return nil, false, request.ErrRestart
		}
		// The first read sets no watch: if the lease is free, the watch would wake a client that no
		// longer waits.
		names, err := r.Children(s.dir())
		if free, err = s.isFree(own, names, err); err != nil || free || turn == nil {
			return nil, true, err
		}
		names, w, err = leases.Children(r)
		free, err = s.isFree(own, names, err)
		return w, free, err
	})
	if err != nil || !free {
		return nil, err
	}
	return hold.Confirm(r, own.Path, own.Remove)
}

// isFree reports whether the own node is among the oldest of the list, one for each lease. A list
// with the own node contains every older live node.
func (s *Semaphore) isFree(own *request.Protected, names []string, err error) (bool, error) {
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return false, request.ErrRestart
	case err != nil:
		return false, err
	case own.Epoch.Check() != nil:
		return false, request.ErrRestart
	}
	queue := request.SortNumbered(names, leaseMarker)
	at := slices.IndexFunc(queue, func(n request.Numbered) bool { return n.Name == own.Name() })
	if at < 0 {
		return false, request.ErrRestart
	}
	return at < s.leases, nil
}

// keep hands the leases to the caller. It gives them back if one was lost already or the caller has
// left.
func (s *Semaphore) keep(
	r *request.Sender, t *task.Task[[]*Lease], held []*hold.Hold,
) ([]*Lease, error) {
	var leases []*Lease
	for _, one := range held {
		if one.Gone() {
			return nil, request.GiveBack(r, request.ErrRestart, releaseOf(held))
		}
		leases = append(leases, &Lease{s: s, hold: one})
	}
	if task.Keep(s.tasks, &s.mu, t, leases, func() {
		s.held = append(s.held, leases...)
		for _, one := range held {
			one.WatchOver(s.tasks)
		}
	}) {
		return leases, nil
	}
	return nil, errors.Join(s.tasks.Cause(r.Ctx), r.Tidy(releaseOf(held)))
}
