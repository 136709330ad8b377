package gallery

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

var plantedIDs = []Exhibit{
	{Title: "reserves without a look", Property: safety,
		Wrong: idsOf(ids{counter: &counter{anyVersion: true}}, uncounted)},
	{Title: "takes a lost reservation for made", Property: delivery,
		Wrong: idsOf(ids{counter: &counter{assumesSuccess: true}}, counted)},
	{Title: "goes on past its block", Property: delivery,
		Wrong: idsOf(ids{exceedsBlock: true}, counted)},
	{Title: "hands one out again after a failure", Property: safety,
		Wrong: idsOf(ids{twice: true}, uncounted)},
	{Title: "counts down", Property: order, Wrong: idsOf(ids{descending: true}, uncounted)},
	{Title: "counts for itself", Property: safety, Wrong: idsOf(ids{local: true}, uncounted)},
	{Title: "has blocks, and claims to be ordered", Property: order,
		Wrong: idsOf(ids{}, object.IDClaims{Uncounted: true, Ordered: true})},
}

// The claims of the generators.
var (
	counted   = object.IDClaims{Path: counterPath}
	uncounted = object.IDClaims{Uncounted: true}
)

// ids reserves blocks of two numbers by a counter. It is right without the flags.
type ids struct {
	*counter
	next, last int64

	exceedsBlock bool // goes on past the end of its block by one
	twice        bool // hands a number out again when the next block fails
	descending   bool // hands out the greatest number of a block first
	local        bool // sends no request
}

func idsOf(bad ids, claims object.IDClaims) scenario.Workload {
	if bad.counter == nil {
		bad.counter = &counter{}
	}
	return object.IDGenerator(func(env object.Env) object.IDSource {
		g := bad
		g.counter = bad.counter.on(env.Conn)
		return &g
	}, claims)
}

func (g *ids) Next(ctx context.Context) (int64, error) {
	limit := g.last
	if g.exceedsBlock && g.last > 0 {
		limit++
	}
	if g.next >= limit && !g.local {
		last, err := g.Add(ctx, 2)
		switch {
		case err == nil:
			g.next, g.last = last-2, last
		case !g.twice || g.last == 0:
			return 0, err
		default:
			g.next--
		}
	}
	g.next++
	if g.descending {
		return 2*g.last - 1 - g.next, nil
	}
	return g.next, nil
}
