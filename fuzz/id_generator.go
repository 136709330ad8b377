package fuzz

import (
	"context"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/recipes"
)

// IDGenerator is a generator of numbers under test, each of which it hands out
// once.
type IDGenerator interface {
	Next(ctx context.Context) (int64, error)
}

// IDClaims say what a generator claims to be.
type IDClaims struct {
	// About is one line about the implementation.
	About string
	// Path is the znode of its counter, in decimal digits; "" means /ids.
	Path string
	// Uncounted: it has no counter at Path whose changes reserve the numbers.
	Uncounted bool
	// Ordered: a call that begins after another has returned gets a greater number,
	// whoever makes them; otherwise only calls of one client do.
	Ordered bool
	// LeavesAtRest are patterns (path.Match) of znodes below Path that may stay.
	LeavesAtRest []string
}

// TestIDGenerator is TestLock for a generator of numbers; use the znode
// /ids, or claim another path.
func TestIDGenerator(t TB, open func(*zk.Conn) IDGenerator, claims ...IDClaims) {
	t.Helper()
	Run(t, IDGeneratorWorkload(t.Name(), only(t, claims), open))
}

// IDGeneratorWorkload makes a workload of a generator of numbers. Each client
// calls open once, with a connection of its own, and then takes three numbers a
// round, now and then with little patience.
func IDGeneratorWorkload(impl string, claims IDClaims, open func(*zk.Conn) IDGenerator) Workload {
	if claims.Path == "" {
		claims.Path = idPath
	}
	return Workload{
		Name:  "id-generator",
		Impl:  impl,
		About: claims.About,
		Play: shared(open, func(p *Player, s Script, h *handle[IDGenerator]) {
			for turn := range 3 * s.Rounds {
				p.takeID(h.now(), turn)
			}
		}),
		Shared: true,
		Judge:  claims.judge,
	}
}

func (c IDClaims) judge(e Evidence) (linearizability.Report, error) {
	if c.Uncounted {
		return linearizability.Judge(e.History, e.Rest, linearizability.IDGenerator{Ordered: c.Ordered}), nil
	}
	if err := elsewhere(e, ops.Next, c.Path, "IDClaims.Path to the counter's znode, or IDClaims.Uncounted"); err != nil {
		return linearizability.Report{}, err
	}
	return linearizability.Judge(e.History, e.Rest, linearizability.IDGenerator{
		Path: c.Path, Ordered: c.Ordered, AllowedAtRest: c.LeavesAtRest,
	}), nil
}

// takeID takes one number. A failed call may have used some up, which nobody
// misses, so it is not repeated.
func (p *Player) takeID(ids IDGenerator, turn int) {
	ctx, cancel := p.Hasty(p.Context(), 4, turn+1000, time.Millisecond, 20*time.Millisecond)
	defer cancel()
	c := p.Begin(ops.Next, "")
	id, err := ids.Next(ctx)
	if err != nil {
		c.Unknown(linearizability.Result{}, err)
		p.Pause(retryPause)
		return
	}
	c.OK(linearizability.Result{Output: strconv.FormatInt(id, 10)})
}

// blockIDs is the generator to use.
func blockIDs() Workload {
	return IDGeneratorWorkload("recipes.IDGenerator", IDClaims{
		About: "the generator of package recipes, with blocks of two numbers",
	}, func(c *zk.Conn) IDGenerator { return recipes.NewIDGenerator(InTurn(c), idPath, 2) })
}

// idPath is the znode that the workloads of generators use.
const idPath = "/ids"
