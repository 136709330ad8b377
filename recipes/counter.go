package recipes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// Counter is a number that many clients share. A lost reply neither drops an addition nor repeats
// it. Methods may be called from several goroutines.
//
// It guarantees:
//
//   - An Add that returns nil has added exactly once. After an error that wraps ErrAmbiguous it has
//     added once or not at all; after any other error it has not added.
//   - Add and Get are linearizable: a call takes effect at one moment and returns the value of that
//     moment. Get sends a write that changes nothing before it reads; see SyncOnly.
//
// An addition is one transaction: a compare-and-set by the node's version, and the creation of a
// record. After a lost reply the client sends the same transaction again. If that is refused, the
// client looks for the record, which exists only if the first transaction was applied. A comparison
// of values would be wrong, as other clients may have restored the old value.
//
// When the connection is lost, calls wait for it; when the session ends, they go on in the new one,
// as nothing here is ephemeral. A done context ends a call; an Add that was sent and not answered
// is settled in the background (see the package comment).
//
// It is slow with many clients: of simultaneous Adds one succeeds and the others try again. Each
// Add takes a read, a transaction and a deletion. A process that dies in the middle of an Add can
// leave its record; records older than the longest outage can be deleted, as nothing waits for
// them. Do not delete the node while clients add to it: the version and the count would begin at 0
// again.
//
// Layout, all persistent:
//
//	<path>                data = the value in decimal; missing or empty is 0
//	<path>/add-<guid>     an Add under way
//	<path>/turn-<zxid>    the version has passed -1 here, once in 2^32 adds; to stay
//
// Sources: Curator's DistributedAtomicLong, which may return a wrong result after a lost reply;
// ZooKeeper guide, "Recipes and Solutions: Error Handling Notes".
type Counter struct{ lifecycle }

// NewCounter makes a handle for the counter at path, which the first Add creates. It sends nothing.
// The options that matter are ACL, Retry and Containers.
func NewCounter(conn Conn, path string, opts ...Option) *Counter {
	return &Counter{newLifecycle(conn, "counter", path, opts)}
}

// Add adds delta, which may be negative, and returns the value after that. It fails without a
// change if the value does not fit 64 bits, or if the node's data is no number.
func (c *Counter) Add(ctx context.Context, delta int64) (int64, error) {
	return task.Call(ctx, c.tasks, "add to", func(
		r *request.Sender, t *task.Task[int64],
	) (int64, error) {
		w, err := request.NewOnceOnlyChange(c.tasks.Path, "add-")
		if err != nil {
			return 0, err
		}
		sum, err := c.add(r, w, delta)
		return task.EndChange(c.tasks, r, t, w, sum, err)
	})
}

// add repeats the addition until no rival changes the value in between. With an error, sum is the
// value that the counter got if the addition was applied all the same.
func (c *Counter) add(
	r *request.Sender, w *request.OnceOnlyChange, delta int64,
) (sum int64, err error) {
	for {
		value, stat, err := c.read(r)
		if err != nil {
			return sum, err
		}
		if delta > 0 && value > math.MaxInt64-delta || delta < 0 && value < math.MinInt64-delta {
			return 0, fmt.Errorf("the value is %d; adding %d does not fit 64 bits", value, delta)
		}
		sum = value + delta
		err = w.Replace(r, c.tasks.Path, strconv.AppendInt(nil, sum, 10), stat)
		if !request.IsConflict(err) {
			return sum, err
		}
	}
}

// Get returns the value, as it is at some moment of the call.
func (c *Counter) Get(ctx context.Context) (int64, error) {
	return task.Ask(ctx, c.tasks, "get", func(r *request.Sender) (int64, error) {
		return request.FreshResult(r, c.tasks.Path, func() (int64, error) {
			value, _, err := c.read(r)
			return value, err
		})
	})
}

// read returns the value and the stat of its node. The stat is nil if the node is missing.
func (c *Counter) read(r *request.Sender) (int64, *zk.Stat, error) {
	data, stat, err := r.Get(c.tasks.Path)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return 0, nil, nil
	case err != nil:
		return 0, nil, err
	case len(data) == 0:
		return 0, stat, nil
	}
	value, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, nil, fmt.Errorf("the data is %.40q; expected a decimal number of 64 bits", data)
	}
	return value, stat, nil
}

// IDGenerator hands out numbers that no other generator of the same path hands out. It reserves a
// block of numbers at the server, and then hands them out without a request. Methods may be called
// from several goroutines.
//
// It guarantees:
//
//   - No number is handed out twice, by this or any other generator, even after losses and crashes.
//     Numbers begin with 1 and are positive.
//   - A call of Next returns a greater number than every call of the same generator that had
//     returned before. With blocks of 1 that holds between all generators.
//
// A call with a lost reply also reserves its block exactly once, as Counter does. When the
// connection is lost, Next goes on until its block is used up and then waits; when the session
// ends, it goes on in the new one, as nothing here is ephemeral. A done context ends a call. If
// that call was reserving a block, the block may be lost; no generator hands it out.
//
// It cannot guarantee numbers without gaps: the unused numbers of a block are lost when the
// generator is no longer used. Generators may use blocks of different sizes.
//
// Layout: as Counter; the value is the greatest number reserved so far. Do not delete the node: the
// numbers would begin at 1 again.
//
// Sources: the "naming service" of ZooKeeper's use cases, which takes the numbers of sequential
// nodes; these are at most 2^31, and begin anew with their parent.
type IDGenerator struct {
	lifecycle
	counter *Counter
	block   int64
	turn    chan struct{} // has one token; the goroutine that took it may use the fields below

	next, last int64 // the unused part of the block
}

// NewIDGenerator makes a generator with the counter at path. It reserves block numbers at a time; a
// block below 1 means 1. It sends nothing. The options that matter are ACL, Retry and Containers.
func NewIDGenerator(conn Conn, path string, block int64, opts ...Option) *IDGenerator {
	g := &IDGenerator{
		lifecycle: newLifecycle(conn, "id generator", path, opts), counter: NewCounter(
			conn, path, opts...,
		),
		block: max(block, 1), turn: make(chan struct{}, 1), next: 1,
	}
	g.turn <- struct{}{}
	return g
}

// Next returns a number that was never returned before. After an error no number is handed out, and
// OutcomeOf says whether numbers may have been lost.
func (g *IDGenerator) Next(ctx context.Context) (int64, error) {
	id, err := g.take(ctx)
	return id, g.tasks.Explain("take from", err)
}

func (g *IDGenerator) take(ctx context.Context) (int64, error) {
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case g.tasks.Closed():
		return 0, ErrClosed
	}
	select {
	case <-g.turn:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-g.tasks.Ctx.Done():
		return 0, ErrClosed
	}
	defer func() { g.turn <- struct{}{} }()
	if g.next > g.last {
		if err := g.reserve(ctx); err != nil {
			return 0, err
		}
	}
	g.next++
	return g.next - 1, nil
}

// reserve reserves the next block.
func (g *IDGenerator) reserve(ctx context.Context) error {
	last, err := g.counter.Add(ctx, g.block)
	switch {
	case err != nil:
		return err
	case last < g.block:
		return fmt.Errorf("the counter was %d; expected no number below 0", last-g.block)
	}
	g.next, g.last = last-g.block+1, last
	return nil
}

// Close ends calls under way with ErrClosed, as Close of a Counter does.
func (g *IDGenerator) Close(ctx context.Context) error {
	return errors.Join(g.tasks.Close(ctx), g.counter.Close(ctx))
}
