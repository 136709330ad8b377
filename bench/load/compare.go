package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/internal/realzk"
)

// compareCommand measures requests of several servers side by side.
type compareCommand struct {
	Rounds    int           `default:"5" help:"Rounds that count, for each cell and server."`
	RoundTime time.Duration `default:"1s" help:"Length of a round."`
	Quick     bool          `help:"A smoke run of seconds: two rounds of 50 ms."`
	Ops       []string      `default:"get,exists,set,create,children,multi,mix" help:"Operations."`
	Conns     []int         `default:"1,16,128" help:"Connections, of eight goroutines each."`
	Servers   []string      `default:"ours,real" help:"Servers to measure."`
	Profile   string        `placeholder:"FILE" help:"Write a processor profile of ours (pprof)."`
}

// warmUpConns is the number of connections with which servers are warmed up.
const warmUpConns = 16

// Run measures and prints.
func (c *compareCommand) Run(a *app) error {
	if c.Quick {
		c.Rounds, c.RoundTime = 2, 50*time.Millisecond
	}
	ops, err := c.check()
	if err != nil {
		return err
	}
	servers, missing, err := startServers(a, c.Servers, c.profileArgs())
	if err != nil {
		return err
	}
	began := time.Now()
	cells, err := c.measure(a, servers, ops)
	if err := firstOf(err, stopAll(servers)); err != nil {
		return err
	}
	r, err := c.report(servers, cells, missing, time.Since(began))
	if err != nil {
		return err
	}
	return r.print(a.out)
}

func (c *compareCommand) check() ([]operation, error) {
	if c.Rounds < 1 || c.RoundTime <= 0 {
		return nil, fmt.Errorf("%d rounds of %s; both must be positive", c.Rounds, c.RoundTime)
	}
	if c.Profile != "" && !slices.Contains(c.Servers, serverOurs) {
		return nil, fmt.Errorf("--profile is of %s, which is not measured", serverOurs)
	}
	for _, n := range c.Conns {
		if n < 1 {
			return nil, fmt.Errorf("%d connections; expected at least 1", n)
		}
	}
	return findOperations(c.Ops)
}

func (c *compareCommand) profileArgs() map[string][]string {
	if c.Profile == "" {
		return nil
	}
	return map[string][]string{serverOurs: {"--cpuprofile", c.Profile}}
}

// startServers starts servers by name. A real ZooKeeper that is not installed is
// left out; missing says why.
func startServers(
	a *app, names []string, args map[string][]string,
) (servers []*server, missing string, err error) {
	for _, name := range names {
		s, err := startServer(a, name, args[name]...)
		if errors.Is(err, realzk.ErrMissing) {
			missing = fmt.Sprintf("%s is left out: %v", name, err)
			continue
		}
		if err != nil {
			return nil, "", firstOf(err, stopAll(servers))
		}
		servers = append(servers, s)
	}
	return servers, missing, nil
}

// measure warms the servers up and measures all cells.
func (c *compareCommand) measure(a *app, servers []*server, ops []operation) ([]cell, error) {
	if err := c.warmUp(a, servers, ops); err != nil {
		return nil, err
	}
	var cells []cell
	for i, conns := range c.Conns {
		of, err := c.measureConns(a, servers, ops, fmt.Sprintf("/load-%d", i), conns)
		if err != nil {
			return nil, err
		}
		cells = append(cells, of...)
	}
	return cells, nil
}

func (c *compareCommand) warmUp(a *app, servers []*server, ops []operation) error {
	return withGroups(a, servers, "/warm-up", warmUpConns, func(groups []*workerGroup) error {
		for _, op := range ops {
			for _, group := range groups {
				if _, err := group.round(a.ctx, op, c.RoundTime); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// measureConns measures all operations at one number of connections.
func (c *compareCommand) measureConns(
	a *app, servers []*server, ops []operation, root string, conns int,
) ([]cell, error) {
	var cells []cell
	err := withGroups(a, servers, root, conns, func(groups []*workerGroup) error {
		for _, op := range ops {
			rounds, err := c.takeTurns(a, groups, op)
			if err != nil {
				return err
			}
			cells = append(cells, newCell(op.name, conns, rounds))
		}
		return nil
	})
	return cells, err
}

// withGroups connects to all servers while f runs.
func withGroups(
	a *app, servers []*server, root string, conns int, f func([]*workerGroup) error,
) error {
	var groups []*workerGroup
	defer func() {
		for _, c := range groups {
			closeAll(c.conns)
		}
	}()
	for _, s := range servers {
		c, err := newGroup(a.ctx, s, root, conns)
		if err != nil {
			return err
		}
		groups = append(groups, c)
	}
	return f(groups)
}

// takeTurns lets the servers take turns, each round in another order. The first round is not
// counted.
func (c *compareCommand) takeTurns(
	a *app, groups []*workerGroup, op operation,
) (map[string][]sample, error) {
	rounds := map[string][]sample{}
	for round := range 1 + c.Rounds {
		for turn := range groups {
			group := groups[(round+turn)%len(groups)]
			s, err := group.round(a.ctx, op, c.RoundTime)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				rounds[group.server.name] = append(rounds[group.server.name], s)
			}
		}
	}
	return rounds, nil
}
