package fuzz_test

import (
	"context"
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// mutantReentrantLocks are deliberately wrong re-entrant locks: counters around a
// lock that is right.
var mutantReentrantLocks = []struct {
	about    string
	bad      countDefects
	property string
}{
	{"the counter outlives the session", countDefects{deaf: true}, linearizability.Safety},
	{"the first unlock gives the lock up", countDefects{shallow: true}, linearizability.Safety},
	{"the last unlock but one gives the lock up", countDefects{short: true}, linearizability.Safety},
	{"a level more is left than was entered", countDefects{long: true}, linearizability.Liveness},
}

func TestMutantReentrantLocksAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range mutantReentrantLocks {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantReentrantLock(m.bad), m.property) })
	}
}

func mutantReentrantLock(bad countDefects) scenario.Workload {
	return object.Reentrant(func(env object.Env) object.Locker {
		return &countedLock{lock: recipes.NewLock(env.Conn, "/reentrant"), bad: bad}
	}).Named("mutant")
}

// TestSameReentrantLockWithoutDefectSurvives is the control.
func TestSameReentrantLockWithoutDefectSurvives(t *testing.T) {
	t.Parallel()
	s := scenario.Scenario{Workload: mutantReentrantLock(countDefects{}), Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1}
	sweep, err := hunt.RunSweep(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(sweep.Violations) > 0 {
		t.Fatal(sweep.Violations[0].First.Story())
	}
}

type countDefects struct {
	deaf    bool // goes deeper though the lock is lost
	shallow bool // counts nothing
	short   bool // gives up one level early
	long    bool // gives up one level late
}

// countedLock counts levels.
type countedLock struct {
	lock  *recipes.Lock
	bad   countDefects
	depth int
}

func (l *countedLock) Lost() <-chan struct{} { return l.lock.Lost() }
func (l *countedLock) Token() int64          { return l.lock.Token() }

func (l *countedLock) Lock(ctx context.Context) error {
	if l.depth > 0 {
		if !l.bad.deaf && isClosed(l.lock.Lost()) {
			return recipes.ErrLost
		}
		l.depth++
		return nil
	}
	if err := l.lock.Lock(ctx); err != nil {
		return err
	}
	l.depth = 1
	return nil
}

func (l *countedLock) Unlock(ctx context.Context) error {
	l.depth = max(0, l.depth-1)
	left := l.depth
	switch {
	case l.bad.shallow:
		left = 0
	case l.bad.short && left > 0:
		left--
	case l.bad.long:
		left++
	}
	if left > 0 {
		return nil
	}
	return l.lock.Unlock(ctx)
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
