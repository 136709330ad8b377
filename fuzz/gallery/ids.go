package gallery

import (
	"context"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
)

var plantedIDs = []Exhibit{
	planted("reserves without a look", safety,
		idsOf(ids{counter: &counter{anyVersion: true}}, uncounted)),
	planted("takes a lost reservation for made", delivery,
		idsOf(ids{counter: &counter{assumesSuccess: true}}, counted)),
	planted("goes on past its block", delivery, idsOf(ids{exceedsBlock: true}, counted)),
	planted("hands one out again after a failure", safety, idsOf(ids{twice: true}, uncounted)),
	planted("counts down", order, idsOf(ids{descending: true}, uncounted)),
	planted("counts for itself", safety, idsOf(ids{local: true}, uncounted)),
	planted("has blocks, and claims to be ordered", order,
		idsOf(ids{}, object.IDClaims{Uncounted: true, Ordered: true})),
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
