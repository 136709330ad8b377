package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/internal/realzk"
)

// startCommand measures the time from nothing to the first znode: start a server, connect the
// go-zookeeper client, create a node. Server in-process is fakezk.New within this program, over
// memory. Stopping is not counted. A real ZooKeeper is polled every 100 ms at the latest, so its
// figure may be that much too long.
type startCommand struct {
	Runs    int      `default:"5" help:"How often each is started."`
	Servers []string `default:"in-process,ours,real" help:"What to start; in-process is over memory."`
}

const inProcess = "in-process"

// Run measures and prints.
func (c *startCommand) Run(a *app) error {
	if c.Runs < 1 {
		return fmt.Errorf("%d runs; expected at least 1", c.Runs)
	}
	machine, err := machine(nil)
	if err != nil {
		return err
	}
	r := report{
		Notes:  []string{fmt.Sprintf("Runs: %d. %s", c.Runs, machine)},
		Header: []string{"server", "median ms", "fastest ms", "slowest ms"},
	}
	for _, name := range c.Servers {
		took, err := c.measure(a, name)
		if errors.Is(err, realzk.ErrMissing) {
			r.Notes = append(r.Notes, fmt.Sprintf("%s is left out: %v", name, err))
			continue
		}
		if err != nil {
			return err
		}
		r.Rows = append(r.Rows, []string{name,
			figure.Milliseconds(figure.Median(took)),
			figure.Milliseconds(slices.Min(took)), figure.Milliseconds(slices.Max(took))})
	}
	return r.print(a.out)
}

func (c *startCommand) measure(a *app, name string) ([]time.Duration, error) {
	start := startProcess
	if name == inProcess {
		start = startInProcess
	}
	var took []time.Duration
	for range c.Runs {
		d, err := start(a, name)
		if err != nil {
			return nil, err
		}
		took = append(took, d)
	}
	return took, nil
}

// startProcess measures a server in a separate process, over TCP.
func startProcess(a *app, name string) (time.Duration, error) {
	began := time.Now()
	s, err := startServer(a, name)
	if err != nil {
		return 0, err
	}
	err = createFirst(a.ctx, net.DialTimeout, s.addr)
	took := time.Since(began)
	return took, firstOf(err, s.stop())
}

// startInProcess measures a server within this process, as a unit test has it.
func startInProcess(a *app, _ string) (time.Duration, error) {
	began := time.Now()
	s := fakezk.New(fakezk.Options{})
	err := createFirst(a.ctx, s.Dialer(), fakezk.Address)
	took := time.Since(began)
	return took, firstOf(err, s.Close())
}

func createFirst(ctx context.Context, dial zk.Dialer, addr string) error {
	c, err := connectOne(ctx, dial, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	return createIfMissing(c, "/first", nil)
}
