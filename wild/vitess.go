package main

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"vitess.io/vitess/go/vt/log"
	"vitess.io/vitess/go/vt/topo"
	"vitess.io/vitess/go/vt/topo/zk2topo"
)

// vitessLock is the lock of the topology of Vitess: of keyspaces and shards.
func vitessLock() scenario.Workload {
	return object.Lock(func(env object.Env) object.Locker {
		return &vitessLocker{server: vitessServer(env), name: env.Name}
	}, object.LockClaims{About: "zk2topo of Vitess", Path: "/keyspace/locks"}).Named("vitess")
}

func vitessServer(env object.Env) *zk2topo.Server {
	log.SwapLogger(slog.New(slog.DiscardHandler))
	server := zk2topo.NewServer(env.Address, "/")
	context.AfterFunc(env.Context, server.Close)
	return server
}

type vitessLocker struct {
	server *zk2topo.Server
	name   string
	held   topo.LockDescriptor
}

func (l *vitessLocker) Lock(ctx context.Context) error {
	held, err := l.server.Lock(ctx, "keyspace", l.name)
	if err == nil {
		l.held = held
	}
	return err
}

func (l *vitessLocker) Unlock(ctx context.Context) error { return l.held.Unlock(ctx) }

// vitessElection is the election of Vitess. As its users do, a candidate stops the participation to
// give up or to resign, and takes another one to come back.
func vitessElection() scenario.Workload {
	return object.Election(func(env object.Env) object.Elector {
		return &vitessCandidate{server: vitessServer(env), name: env.Name}
	}, object.LockClaims{About: "the election of Vitess", Path: "/elections/main"}).Named("vitess")
}

type vitessCandidate struct {
	server *zk2topo.Server
	name   string
	part   topo.LeaderParticipation // nil: no candidate
	term   context.Context
}

func (c *vitessCandidate) Lead(ctx context.Context) (err error) {
	if c.part == nil {
		if c.part, err = c.server.NewLeaderParticipation("main", c.name); err != nil {
			return err
		}
	}
	defer context.AfterFunc(ctx, c.part.Stop)()
	if c.term, err = c.part.WaitForLeadership(); ctx.Err() != nil {
		c.part, err = nil, cmp.Or(err, ctx.Err()) // it is stopped, perhaps as it began to lead
	}
	return err
}

func (c *vitessCandidate) Lost() <-chan struct{} { return c.term.Done() }

func (c *vitessCandidate) Resign(context.Context) error {
	if c.part != nil {
		c.part.Stop()
		c.part = nil
	}
	return nil
}

func (c *vitessCandidate) Close(ctx context.Context) error { return c.Resign(ctx) }
