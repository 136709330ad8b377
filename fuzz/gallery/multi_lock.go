package gallery

import (
	"context"
	"errors"
	"slices"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

var plantedMultiLocks = []Exhibit{
	{
		Title: "locks in the order given", Property: linearizability.Liveness,
		Wrong: multiLockOf(func(_ *several, given []string) []string { return given }),
	},
	{
		Title: "keeps what it has when it fails", Property: linearizability.Liveness,
		Wrong: multiLockOf(func(s *several, given []string) []string {
			s.keeps = true
			return slices.Sorted(slices.Values(given))
		}),
	},
	{
		Title: "takes the first lock for all", Property: linearizability.Safety,
		Wrong: multiLockOf(func(_ *several, given []string) []string { return given[:1] }),
	},
}

// several holds one lock after the other.
type several struct {
	locks []*recipes.Lock
	keeps bool // a failure gives nothing back
}

// multiLockOf is a workload of several locks; replace makes one step wrong, and returns
// the paths of the locks in the order in which they are locked. Nil is right.
func multiLockOf(replace func(s *several, given []string) []string) scenario.Workload {
	return object.MultiLock(func(env object.Env) object.Locker {
		s, paths := &several{}, slices.Sorted(slices.Values(env.Paths))
		if replace != nil {
			paths = replace(s, env.Paths)
		}
		for _, path := range paths {
			s.locks = append(s.locks, recipes.NewLock(env.Conn, path))
		}
		return s
	}).Named("")
}

func (s *several) Lock(ctx context.Context) error {
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

func (s *several) Unlock(ctx context.Context) error {
	var errs []error
	for _, l := range s.locks {
		errs = append(errs, l.Unlock(ctx))
	}
	return errors.Join(errs...)
}
