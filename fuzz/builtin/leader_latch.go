package builtin

import (
	"context"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/recipes"
)

func leaderLatch() scenario.Workload {
	return object.Election(func(env object.Env) object.Elector {
		return &latchElector{conn: env.Conn, path: env.Path, name: env.Name}
	}, object.LockClaims{
		About: "the leader latch of package recipes", Fair: true, MaxHerd: 1,
	}).Named("recipes.LeaderLatch")
}

// latchElector is a LeaderLatch, a new one for each candidacy.
type latchElector struct {
	conn  *zk.Conn
	path  string
	name  string
	latch *recipes.LeaderLatch // nil: not a candidate
	term  *recipes.Term        // the latest
}

func (l *latchElector) Lead(ctx context.Context) error {
	if l.latch == nil {
		l.latch = recipes.NewLeaderLatch(l.conn, l.path, l.name)
		if err := l.latch.Start(); err != nil {
			return err
		}
	}
	term, err := l.latch.Await(ctx)
	if err == nil {
		l.term = term
	}
	return err
}

func (l *latchElector) Resign(ctx context.Context) error {
	if l.latch == nil {
		return nil
	}
	if err := l.latch.Close(ctx); err != nil {
		return err
	}
	l.latch = nil
	return nil
}

func (l *latchElector) Close(ctx context.Context) error { return l.Resign(ctx) }

func (l *latchElector) Lost() <-chan struct{} { return l.term.Lost() }

func (l *latchElector) Token() int64 { return l.term.Epoch() }

func (l *latchElector) Leader(ctx context.Context) (string, int64, error) {
	teller := recipes.NewLeaderLatch(l.conn, l.path, l.name)
	leader, _, err := teller.Leader(ctx)
	return leader.ID, leader.Epoch, err
}
