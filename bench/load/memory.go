package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/bench/internal/proc"
)

// memoryCommand measures resident memory.
//
// Each server is started twice, once for znodes and once for connections. Its memory is read a
// second (--calm) after the last request, and again after a collection of all garbage
// (runtime/debug.FreeOSMemory in ours, jcmd PID GC.run in a JVM). The first figure is the one that
// a user sees; it depends on the room that the collector leaves itself. The second is close to the
// memory in use. Neither counts the buffers of sockets, which are the kernel's, nor the data that a
// real ZooKeeper has on disk.
type memoryCommand struct {
	Nodes       int           `default:"1000000" help:"Znodes of 100 bytes, a multiple of 1000."`
	Connections int           `default:"10000" help:"Idle connections with a session to hold."`
	Calm        time.Duration `default:"1s" help:"Idle time before the memory is read."`
	Servers     []string      `default:"ours,real" help:"Servers to measure."`
	outputFlags
}

// A footprint is the resident memory of a process, in bytes.
type footprint struct {
	Standing  int64 `json:"as_it_stands"`
	Collected int64 `json:"after_collection"` // 0 where nothing collects
}

// A memoryResult is the memory of one server.
type memoryResult struct {
	Server      string    `json:"server"`
	Empty       footprint `json:"empty"`
	Full        footprint `json:"with_nodes"`
	Nodes       int       `json:"nodes"`
	Unconnected footprint `json:"empty_before_connections"`
	Connected   footprint `json:"with_connections"`
	Connections int       `json:"connections"`
}

// Run measures one server after the other and prints.
func (c *memoryCommand) Run(a *app) error {
	if c.Nodes < 0 || c.Nodes%nodeParents != 0 || c.Connections < 0 {
		return fmt.Errorf("%w: %d nodes, %d connections; "+
			"expected a multiple of %d and a number that is not negative",
			errInput, c.Nodes, c.Connections, nodeParents)
	}
	var results []memoryResult
	var measured []*server
	r := report{Title: "Resident memory"}
	for _, name := range c.Servers {
		result := memoryResult{Server: name, Nodes: c.Nodes, Connections: c.Connections}
		s, missing, err := c.measure(a, &result)
		if err != nil {
			return err
		}
		if missing != "" {
			r.Notes = append(r.Notes, missing)
			continue
		}
		results, measured = append(results, result), append(measured, s)
	}
	r.Notes = append(r.Notes,
		"After a slash: after a collection of all garbage. "+machine(measured))
	r.Header = []string{
		"", "empty MiB", figure.Thousands(float64(c.Nodes)) + " znodes MiB", "bytes per znode",
		figure.Thousands(float64(c.Connections)) + " connections MiB", "KiB per connection",
	}
	r.Data = results
	for _, result := range results {
		r.Rows = append(r.Rows, result.row())
	}
	return c.print(a.out, r)
}

func (c *memoryCommand) measure(a *app, r *memoryResult) (s *server, missing string, err error) {
	phases := []func(*app, *server, *memoryResult) error{c.measureNodes, c.measureConnections}
	for _, phase := range phases {
		var servers []*server
		servers, missing, err = startServers(a, []string{r.Server}, nil)
		if err != nil || missing != "" {
			return nil, missing, err
		}
		s = servers[0]
		if err := firstOf(phase(a, s, r), s.stop()); err != nil {
			return nil, "", fmt.Errorf("memory of %s: %w", r.Server, err)
		}
	}
	return s, "", nil
}

func (c *memoryCommand) measureNodes(a *app, s *server, r *memoryResult) (err error) {
	if r.Empty, err = measureFootprint(a.ctx, s, c.Calm); err != nil {
		return err
	}
	if err := createNodes(a.ctx, s, r.Nodes); err != nil {
		return err
	}
	r.Full, err = measureFootprint(a.ctx, s, c.Calm)
	return err
}

// measureFootprint leaves the server alone, reads, has it collect, and reads again.
func measureFootprint(ctx context.Context, s *server, calm time.Duration) (f footprint, err error) {
	if err := pause(ctx, calm); err != nil {
		return f, err
	}
	if f.Standing, err = proc.ResidentBytes(s.pid); err != nil || s.collect == nil {
		return f, err
	}
	if err := s.collect(ctx); err != nil {
		return f, fmt.Errorf("collect garbage: %w", err)
	}
	if err := pause(ctx, calm); err != nil {
		return f, err
	}
	f.Collected, err = proc.ResidentBytes(s.pid)
	return f, err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// nodeParents is the number of parents of the created znodes, multiSize the largest
// number of znodes that one multi creates.
const (
	nodeParents = 1000
	multiSize   = 100
)

// createNodes creates n znodes of dataBytes, in multis, by one connection with
// goroutinesPerConn multis under way.
func createNodes(ctx context.Context, s *server, n int) error {
	conns, err := connect(ctx, s.addr, 1)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	c := &workerGroup{server: s, conns: conns, workers: make([]*worker, goroutinesPerConn)}
	return c.each(func(i int, _ *worker) error {
		for parent := i; parent < nodeParents; parent += goroutinesPerConn {
			if err := ctx.Err(); err != nil {
				return err
			}
			path := fmt.Sprintf("/parent-%03d", parent)
			if err := createFamily(conns[0], path, n/nodeParents); err != nil {
				return err
			}
		}
		return nil
	})
}

// createFamily creates a parent with n children.
func createFamily(c *zk.Conn, parent string, n int) error {
	if err := createIfMissing(c, parent, nil); err != nil {
		return err
	}
	for from := 0; from < n; from += multiSize {
		var ops []any
		for i := from; i < min(from+multiSize, n); i++ {
			path := fmt.Sprintf("%s/node-%06d", parent, i)
			ops = append(ops, &zk.CreateRequest{Path: path, Data: nodeData, Acl: openACL})
		}
		if _, err := c.Multi(ops...); err != nil {
			return fmt.Errorf("create %d nodes below %s: %w", len(ops), parent, err)
		}
	}
	return nil
}

func (r memoryResult) row() []string {
	both := func(of footprint, show func(int64) string) string {
		if of.Collected == 0 {
			return show(of.Standing)
		}
		return show(of.Standing) + " / " + show(of.Collected)
	}
	perNode := growth(r.Empty, r.Full, r.Nodes)
	perConnection := growth(r.Unconnected, r.Connected, r.Connections)
	return []string{
		r.Server, both(r.Empty, figure.Mebibytes), both(r.Full, figure.Mebibytes),
		both(perNode, func(n int64) string { return fmt.Sprint(n) }),
		both(r.Connected, figure.Mebibytes),
		both(perConnection, func(n int64) string { return figure.Significant(float64(n) / 1024) }),
	}
}

// growth is the difference between two footprints, divided by n.
func growth(before, after footprint, n int) footprint {
	things := int64(max(n, 1))
	return footprint{
		Standing:  (after.Standing - before.Standing) / things,
		Collected: (after.Collected - before.Collected) / things,
	}
}
