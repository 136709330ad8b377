package gallery

import (
	"context"
	"errors"
	"slices"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

var plantedMultiLocks = []Exhibit{
	{Title: "locks in the order given", Property: liveness, Wrong: multiLockOf(severalLocks{},
		func(given []string) []string { return given })},
	{Title: "keeps what it has when it fails", Property: liveness, Wrong: multiLockOf(
		severalLocks{keeps: true}, sorted)},
	{Title: "takes the first lock for all", Property: safety, Wrong: multiLockOf(severalLocks{},
		func(given []string) []string { return given[:1] })},
}

// severalLocks locks one lock after the other.
type severalLocks struct {
	locks []*recipes.Lock
	keeps bool // a failure gives nothing back
}

// multiLockOf is a workload of several locks, locked in the order of paths. In sorted order it is
// right.
func multiLockOf(bad severalLocks, paths func(given []string) []string) scenario.Workload {
	return object.MultiLock(func(env object.Env) object.Locker {
		s := bad
		for _, path := range paths(env.Paths) {
			s.locks = append(s.locks, recipes.NewLock(env.Conn, path))
		}
		return &s
	})
}

func sorted(given []string) []string { return slices.Sorted(slices.Values(given)) }

func (s *severalLocks) Lock(ctx context.Context) error {
	for i, l := range s.locks {
		if s.keeps && l.Token() != 0 && i > 0 {
			return recipes.ErrHeld
		}
		err := l.Lock(ctx)
		if err != nil && !s.keeps {
			err = errors.Join(err, s.Unlock(ctx))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *severalLocks) Unlock(ctx context.Context) (err error) {
	for _, l := range s.locks {
		err = errors.Join(err, l.Unlock(ctx))
	}
	return err
}
