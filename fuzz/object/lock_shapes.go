package object

import (
	"context"

	"github.com/zksim/zksim/fuzz/scenario"
)

// BlockingLocker is a lock without contexts, such as zk.Lock.
type BlockingLocker interface {
	Lock() error
	Unlock() error
}

// BlockingLock is [Lock] for a lock without contexts. A call does not begin if its context is done,
// and cannot be cancelled after it has begun.
func BlockingLock(open func(Env) BlockingLocker, given ...LockClaims) scenario.Workload {
	w := Lock(func(env Env) Locker { return blocking{open(env)} }, given...)
	w.Deaf = true
	return w
}

type blocking struct{ BlockingLocker }

func (l blocking) Lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.BlockingLocker.Lock()
}

func (l blocking) Unlock(context.Context) error { return l.BlockingLocker.Unlock() }

// StoppableLocker is a lock of the shape that libraries of HashiCorp and libkv have. A Lock that is
// stopped returns neither a channel nor an error. The channel of a hold is closed when the lock is
// lost.
type StoppableLocker interface {
	Lock(stop <-chan struct{}) (lost <-chan struct{}, err error)
	Unlock() error
}

// StoppableLock is [Lock] for locks that are used once: the function that open returns makes one
// for each turn. After an error of Lock the client calls Lock of the same lock again. It calls
// Unlock once.
func StoppableLock(open func(Env) func() StoppableLocker, given ...LockClaims) scenario.Workload {
	return Lock(func(env Env) Locker { return &stoppable{next: open(env)} }, given...)
}

type stoppable struct {
	next func() StoppableLocker
	lock StoppableLocker // of the present turn
	lost <-chan struct{}
}

func (s *stoppable) Lock(ctx context.Context) (err error) {
	if s.lock == nil {
		s.lock = s.next()
	}
	stop := make(chan struct{})
	defer context.AfterFunc(ctx, func() { close(stop) })()
	if s.lost, err = s.lock.Lock(stop); err == nil && s.lost == nil {
		return context.Cause(ctx)
	}
	return err
}

func (s *stoppable) Unlock(context.Context) error {
	if s.lock == nil {
		return nil
	}
	defer func() { s.lock = nil }()
	return s.lock.Unlock()
}

func (s *stoppable) Lost() <-chan struct{} { return s.lost }
