package builtin_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

// stint is one call of a Do. Its work lasts until leave, or until the context of the work is done.
type stint struct {
	ctx    context.Context // of the work
	token  int64
	give   context.CancelCauseFunc // ends the context of the call
	end    chan struct{}           // closed by leave
	result chan error              // of the call
	once   sync.Once
	err    error // the result
}

type work = func(ctx context.Context, token int64) error

// enter calls do. It returns when the work has begun, or when do has returned without work.
func enter(ctx context.Context, do func(context.Context, work) error) (*stint, error) {
	s := &stint{end: make(chan struct{}), result: make(chan error, 1)}
	call, give := context.WithCancelCause(context.WithoutCancel(ctx))
	s.give = give
	defer s.giveUpWith(ctx)()
	begun := make(chan struct{})
	go func() {
		s.result <- do(call, func(ctx context.Context, token int64) error {
			s.ctx, s.token = ctx, token
			close(begun)
			select {
			case <-s.end:
			case <-ctx.Done():
			}
			return nil
		})
	}()
	select {
	case <-begun:
		return s, nil
	case err := <-s.result:
		return nil, err
	}
}

// giveUpWith ends the context of the call when ctx is done, unless the returned function is called
// before that.
func (s *stint) giveUpWith(ctx context.Context) func() bool {
	return context.AfterFunc(ctx, func() { s.give(context.Cause(ctx)) })
}

// leave ends the work and returns the error of the release.
func (s *stint) leave(ctx context.Context) error {
	defer s.giveUpWith(ctx)()
	s.once.Do(func() {
		close(s.end)
		s.err = <-s.result
	})
	err := s.err
	if errors.Is(err, recipes.ErrAmbiguous) || errors.Is(err, recipes.ErrClosed) {
		return err
	}
	return nil // it was released or lost before
}

func (s *stint) Lost() <-chan struct{} { return s.ctx.Done() }
func (s *stint) Token() int64          { return s.token }

// Release makes it a lease.
func (s *stint) Release(ctx context.Context) error { return s.leave(ctx) }

// doLock is a lock made of Do. The stints of a re-entrant lock are nested.
type doLock struct {
	stints []*stint
	do     func(context.Context, work) error
	close  func(context.Context) error
}

func (l *doLock) latest() *stint { return l.stints[len(l.stints)-1] }

func (l *doLock) Lock(ctx context.Context) (err error) {
	s, err := enter(ctx, l.do)
	if err == nil {
		l.stints = append(l.stints, s)
	}
	return err
}

func (l *doLock) Unlock(ctx context.Context) error {
	s := l.latest()
	if len(l.stints) > 1 {
		l.stints = l.stints[:len(l.stints)-1]
	}
	return s.leave(ctx)
}

func (l *doLock) Lost() <-chan struct{} { return l.latest().ctx.Done() }
func (l *doLock) Token() int64          { return l.latest().token }

func (l *doLock) Close(ctx context.Context) error { return l.close(ctx) }

// doRWLock is a read-write lock made of Do and RDo.
type doRWLock struct {
	doLock
	reading doLock
}

func (l *doRWLock) RLock(ctx context.Context) error   { return l.reading.Lock(ctx) }
func (l *doRWLock) RUnlock(ctx context.Context) error { return l.reading.Unlock(ctx) }
func (l *doRWLock) RLost() <-chan struct{}            { return l.reading.Lost() }
func (l *doRWLock) RToken() int64                     { return l.reading.Token() }

// doSemaphore is a semaphore made of Do.
type doSemaphore struct{ *recipes.Semaphore }

func (s doSemaphore) Acquire(ctx context.Context) (object.Lease, error) {
	lease, err := enter(ctx, s.Do)
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// doElector is an elector made of Do.
type doElector struct{ doLock }

func (e *doElector) Lead(ctx context.Context) error   { return e.Lock(ctx) }
func (e *doElector) Resign(ctx context.Context) error { return e.Unlock(ctx) }

func (e *doElector) Close(ctx context.Context) error {
	if len(e.stints) == 0 {
		return nil
	}
	return e.Unlock(ctx)
}

// candidacy leads with a latch for one call of Do.
func candidacy(ctx context.Context, env object.Env, lead work) error {
	latch := recipes.NewLeaderLatch(env.Conn, env.Path, env.Name)
	if err := latch.Start(); err != nil {
		return err
	}
	err := latch.Do(ctx, lead)
	return errors.Join(err, latch.Close(ctx))
}

// TestDoSurvives: a hold made of a call of Do keeps the promises of its recipe under faults.
func TestDoSurvives(t *testing.T) {
	for _, w := range []scenario.Workload{
		object.Lock(func(env object.Env) object.Locker {
			l := recipes.NewLock(env.InTurn(), env.Path)
			return &doLock{do: l.Do, close: l.Close}
		}, object.LockClaims{Fair: true, MaxHerd: 1}),
		object.Semaphore(func(env object.Env) object.Acquirer {
			return doSemaphore{recipes.NewSemaphore(env.InTurn(), env.Path, 2)}
		}, object.SemaphoreClaims{Nodes: "/semaphore/leases", LockClaims: object.LockClaims{
			LeavesAtRest: []string{"/semaphore/leases", "/semaphore/lock"},
		}}),
		object.RWLock(func(env object.Env) object.RWLocker {
			l := recipes.NewRWLock(env.InTurn(), env.Path)
			return &doRWLock{doLock{do: l.Do, close: l.Close}, doLock{do: l.RDo}}
		}, object.LockClaims{Fair: true, MaxHerd: 1}),
		object.Election(func(env object.Env) object.Elector {
			return &doElector{doLock{do: func(ctx context.Context, lead work) error {
				return candidacy(ctx, env, lead)
			}}}
		}, object.LockClaims{Fair: true, MaxHerd: 1}),
	} {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			survives(t, w.Named("Do"))
		})
	}
}
