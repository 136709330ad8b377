package recipes

import (
	"context"
	"errors"
	"fmt"
)

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
