package main

import (
	"context"
	"errors"

	leaderelection "github.com/Comcast/go-leaderelection"
	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

// comcastElection is go-leaderelection of Comcast. After an error a candidate resigns and begins
// anew, as its manual says.
func comcastElection() scenario.Workload {
	return object.Election(func(env object.Env) object.Elector {
		return &comcastCandidate{conn: env.Conn, path: env.Path, name: env.Name}
	}, object.LockClaims{About: "Comcast/go-leaderelection"}).Named("comcast")
}

type comcastCandidate struct {
	conn       *zk.Conn
	path, name string
	election   *leaderelection.Election // nil: no candidate
	ended      chan struct{}
}

func (c *comcastCandidate) Lead(ctx context.Context) (err error) {
	_, err = c.conn.Create(c.path, nil, 0, zk.WorldACL(zk.PermAll))
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	c.election, err = leaderelection.NewElection(c.conn, c.path, c.name)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	c.ended = ended
	go func(e *leaderelection.Election) {
		defer close(ended)
		e.ElectLeader()
	}(c.election)
	for {
		select {
		case s := <-c.election.Status():
			if s.Err != nil {
				return errors.Join(s.Err, c.Resign(ctx))
			}
			if s.Role == leaderelection.Leader {
				return nil
			}
		case <-ctx.Done():
			return errors.Join(ctx.Err(), c.Resign(ctx))
		}
	}
}

func (c *comcastCandidate) Resign(context.Context) error {
	if c.election != nil {
		c.election.Resign()
		<-c.ended
		c.election = nil
	}
	return nil
}

func (c *comcastCandidate) Close(ctx context.Context) error { return c.Resign(ctx) }
