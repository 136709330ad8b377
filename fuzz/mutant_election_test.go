package fuzz_test

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/recipes"
)

// lockElector elects by a lock.
type lockElector struct{ object.Locker }

func (l lockElector) Lead(ctx context.Context) error   { return l.Lock(ctx) }
func (l lockElector) Resign(ctx context.Context) error { return l.Unlock(ctx) }
func (l lockElector) Close(ctx context.Context) error  { return l.Unlock(ctx) }

// latch is an elector made of one LeaderLatch for each turn, and wrong in one way.
type latch struct {
	conn *zk.Conn
	name string
	*recipes.LeaderLatch
	term *recipes.Term

	answer recipes.Candidate
	stale  bool // tells the first leader it has heard of, for ever
	deaf   bool // has a signal of loss that never comes
	lazy   bool // forgets its candidacy instead of closing it
}

func (l *latch) Lead(ctx context.Context) error {
	if l.LeaderLatch == nil {
		l.LeaderLatch = recipes.NewLeaderLatch(l.conn, "/election", l.name)
		if err := l.Start(); err != nil {
			return err
		}
	}
	term, err := l.Await(ctx)
	if err == nil {
		l.term = term
	}
	return err
}

func (l *latch) Resign(ctx context.Context) error {
	if l.lazy {
		l.LeaderLatch = nil
		return nil
	}
	return l.Close(ctx)
}

func (l *latch) Close(ctx context.Context) error {
	if err := l.LeaderLatch.Close(ctx); err != nil {
		return err
	}
	l.LeaderLatch = nil
	return nil
}

func (l *latch) Token() int64 { return l.term.Epoch() }

func (l *latch) Lost() <-chan struct{} {
	if l.deaf {
		return make(chan struct{})
	}
	return l.term.Lost()
}

func (l *latch) Leader(ctx context.Context) (string, int64, error) {
	if l.answer.Epoch == 0 || !l.stale {
		asker := recipes.NewLeaderLatch(l.conn, "/election", l.name)
		leader, _, err := asker.Leader(ctx)
		if err != nil {
			return "", 0, err
		}
		l.answer = leader
	}
	return l.answer.ID, l.answer.Epoch, nil
}

func mutantElection(bad lockDefects) scenario.Workload {
	return object.Election(func(env object.Env) object.Elector {
		return lockElector{&seqLock{conn: env.Conn, bad: bad}}
	}, object.LockClaims{Path: "/lock", MaxHerd: 1}).Named("mutant")
}

func mutantLatch(bad latch) scenario.Workload {
	return object.Election(func(env object.Env) object.Elector {
		l := bad
		l.conn, l.name = env.Conn, env.Name
		return &l
	}).Named("mutant")
}

// TestElectionMutantsAreFound: each is wrong in one way.
func TestElectionMutantsAreFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct {
		about    string
		workload scenario.Workload
		property string
	}{
		{"stands twice when a reply is lost", mutantElection(lockDefects{blindCreate: true}), linearizability.Liveness},
		{"all watch the leader", mutantElection(lockDefects{watchLowest: true}), linearizability.Herd},
		{"leads through a dead session's node", mutantElection(lockDefects{anySession: true}), linearizability.Safety},
		{"never looks who is first", mutantElection(lockDefects{noRead: true}), linearizability.Safety},
		{"tells an old leader", mutantLatch(latch{stale: true}), linearizability.Answers},
		{"never says that it is lost", mutantLatch(latch{deaf: true}), linearizability.Belief},
		{"forgets to resign", mutantLatch(latch{lazy: true}), linearizability.Liveness},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, m.workload, m.property) })
	}
}

// TestSameLatchWithoutDefectSurvives is the control.
func TestSameLatchWithoutDefectSurvives(t *testing.T) { survives(t, mutantLatch(latch{})) }
