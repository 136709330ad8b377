package fuzz_test

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// mutantMultiLocks are deliberately wrong ways to hold several locks.
var mutantMultiLocks = []struct {
	about    string
	bad      severalDefects
	property string
}{
	{"locks in the order given", severalDefects{anyOrder: true}, linearizability.Liveness},
	{"keeps what it has when it fails", severalDefects{keeps: true}, linearizability.Liveness},
	{"takes the first lock for all", severalDefects{firstOnly: true}, linearizability.Safety},
}

func TestMutantMultiLocksAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range mutantMultiLocks {
		t.Run(m.about, func(t *testing.T) {
			findsMutant(t, object.MultiLock(func(env object.Env) object.Locker {
				return newSeveral(env.Conn, env.Paths, m.bad)
			}).Named("mutant"), m.property)
		})
	}
}

type severalDefects struct {
	anyOrder  bool // locks in the order given
	keeps     bool // a failure gives nothing back
	firstOnly bool // locks one lock, the first one given
}

// several holds one lock after the other.
type several struct {
	locks []*recipes.Lock
	bad   severalDefects
}

func newSeveral(c *zk.Conn, paths []string, bad severalDefects) *several {
	if !bad.anyOrder && !bad.firstOnly {
		paths = []string{"/multilock/a", "/multilock/b", "/multilock/c"}
	}
	s := &several{bad: bad}
	for _, path := range paths {
		s.locks = append(s.locks, recipes.NewLock(c, path))
	}
	if bad.firstOnly {
		s.locks = s.locks[:1]
	}
	return s
}

func (s *several) Lock(ctx context.Context) error {
	for i, l := range s.locks {
		if s.bad.keeps && l.Token() != 0 && i > 0 {
			return recipes.ErrHeld
		}
		if err := l.Lock(ctx); err != nil && !s.bad.keeps {
			return errors.Join(err, s.Unlock(ctx))
		} else if err != nil {
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
