package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/bench/internal/figure"
	"github.com/zksim/zksim/bench/internal/proc"
)

// goroutinesPerConn is how many goroutines share a connection.
const goroutinesPerConn = 8

// A workerGroup has the connections to one server and their workers.
type workerGroup struct {
	server  *server
	conns   []*zk.Conn
	workers []*worker
	took    [][]time.Duration // by worker; each round uses the slices again
}

// newGroup connects to a server and prepares nodes under root, which no other group uses.
func newGroup(
	ctx context.Context, s *server, root string, connections int,
) (*workerGroup, error) {
	conns, err := connect(ctx, s.addr, connections)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	c := &workerGroup{server: s, conns: conns}
	for i := range connections * goroutinesPerConn {
		c.workers = append(c.workers, &worker{
			conn:     conns[i/goroutinesPerConn],
			node:     fmt.Sprintf("%s/node-%04d", root, i),
			second:   fmt.Sprintf("%s/second-%04d", root, i),
			fresh:    fmt.Sprintf("%s/fresh-%04d", root, i),
			children: root + "/kids",
			asked:    i, // so that not all of them write at the same time
		})
	}
	c.took = make([][]time.Duration, len(c.workers))
	if err := c.prepare(root); err != nil {
		closeAll(conns)
		return nil, fmt.Errorf("%s: prepare: %w", s.name, err)
	}
	return c, nil
}

func (c *workerGroup) prepare(root string) error {
	first := c.conns[0]
	for _, path := range []string{root, root + "/kids"} {
		if err := createIfMissing(first, path, nil); err != nil {
			return err
		}
	}
	for i := range childCount {
		if err := createIfMissing(first, root+"/kids/"+childName(i), nil); err != nil {
			return err
		}
	}
	return c.each(func(_ int, w *worker) error {
		for _, path := range []string{w.node, w.second, w.fresh} {
			if err := createIfMissing(w.conn, path, nodeData); err != nil {
				return err
			}
		}
		return nil
	})
}

// childName is the name of a child that the operation "children" lists.
func childName(i int) string { return fmt.Sprintf("child-%03d", i) }

// each runs f for every worker at the same time and returns one of its errors.
func (c *workerGroup) each(f func(i int, w *worker) error) error {
	var wg sync.WaitGroup
	failed := make(chan error, 1)
	for i, w := range c.workers {
		wg.Go(func() {
			if err := f(i, w); err != nil {
				select {
				case failed <- err:
				default: // one is enough
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// round lets all workers repeat one operation for about d, and measures. Requests under way at the
// end are awaited, and counted with their time.
func (c *workerGroup) round(ctx context.Context, op operation, d time.Duration) (sample, error) {
	runtime.GC() // so that no round collects the garbage of others
	serverBefore, clientBefore, err := c.cpuTimes()
	if err != nil {
		return sample{}, err
	}
	began := time.Now()
	if err := c.work(ctx, op, began.Add(d)); err != nil {
		return sample{}, fmt.Errorf("%s: %s: %w", c.server.name, op.name, err)
	}
	elapsed := time.Since(began)
	serverAfter, clientAfter, err := c.cpuTimes()
	if err != nil {
		return sample{}, err
	}
	all := slices.Concat(c.took...)
	slices.Sort(all)
	return sample{
		Requests: len(all), Elapsed: elapsed,
		P50: figure.Percentile(all, 50), P99: figure.Percentile(all, 99),
		ServerCPU: serverAfter - serverBefore, ClientCPU: clientAfter - clientBefore,
	}, nil
}

// work asks until the deadline, or until a request fails or ctx ends.
func (c *workerGroup) work(ctx context.Context, op operation, deadline time.Time) error {
	var failed atomic.Bool
	defer context.AfterFunc(ctx, func() { failed.Store(true) })()
	return c.each(func(i int, w *worker) error {
		took := c.took[i][:0]
		defer func() { c.took[i] = took }()
		for began := time.Now(); began.Before(deadline) && !failed.Load(); {
			if err := op.do(w); err != nil {
				failed.Store(true)
				return err
			}
			now := time.Now()
			took = append(took, now.Sub(began))
			began = now
		}
		return ctx.Err()
	})
}

// cpuTimes are the processor times of the server and of this process.
func (c *workerGroup) cpuTimes() (server, client time.Duration, err error) {
	server, err = proc.CPUTime(c.server.pid)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", c.server.name, err)
	}
	client, err = proc.CPUTime(os.Getpid())
	return server, client, err
}
