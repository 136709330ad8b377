package fuzz_test

import (
	"context"
	"testing"

	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// plainIDs reserves blocks of two numbers by a casCounter, with one defect more
// for each flag.
type plainIDs struct {
	counter    object.Counterer
	bad        blockDefects
	next, last int64
}

type blockDefects struct {
	counter counterDefects
	onPast  bool // goes on past the end of its block by one
	twice   bool // hands a number out again when the next block fails
	falling bool // hands out the greatest number of a block first
	local   bool // asks the server nothing
}

func (g *plainIDs) Next(ctx context.Context) (int64, error) {
	limit := g.last
	if g.bad.onPast && g.last > 0 {
		limit++
	}
	if g.next >= limit && !g.bad.local {
		last, err := g.counter.Add(ctx, 2)
		switch {
		case err == nil:
			g.next, g.last = last-2, last
		case !g.bad.twice || g.last == 0:
			return 0, err
		default:
			g.next--
		}
	}
	g.next++
	if g.bad.falling {
		return 2*g.last - 1 - g.next, nil
	}
	return g.next, nil
}

func mutantIDs(bad blockDefects, claims object.IDClaims) scenario.Workload {
	return object.IDGenerator(func(env object.Env) object.IDSource {
		return &plainIDs{counter: &casCounter{env.Conn, bad.counter}, bad: bad}
	}, claims).Named("mutant")
}

func TestMutantIDGeneratorsAreFound(t *testing.T) {
	t.Parallel()
	counted, uncounted := object.IDClaims{Path: "/counter"}, object.IDClaims{Uncounted: true}
	for _, m := range []struct {
		about    string
		bad      blockDefects
		claims   object.IDClaims
		property string
	}{
		{"reserves without a look", blockDefects{counter: counterDefects{anyVersion: true}}, uncounted, linearizability.Safety},
		{"takes a lost reservation for made", blockDefects{counter: counterDefects{optimist: true}}, counted, linearizability.Delivery},
		{"goes on past its block", blockDefects{onPast: true}, counted, linearizability.Delivery},
		{"hands one out again after a failure", blockDefects{twice: true}, uncounted, linearizability.Safety},
		{"counts down", blockDefects{falling: true}, uncounted, linearizability.Order},
		{"counts for itself", blockDefects{local: true}, uncounted, linearizability.Safety},
		{"has blocks, and claims to be ordered", blockDefects{}, object.IDClaims{Uncounted: true, Ordered: true}, linearizability.Order},
	} {
		t.Run(m.about, func(t *testing.T) { findsMutant(t, mutantIDs(m.bad, m.claims), m.property) })
	}
}

// TestSameIDGeneratorWithoutDefectSurvives is the control.
func TestSameIDGeneratorWithoutDefectSurvives(t *testing.T) {
	t.Parallel()
	survives(t, mutantIDs(blockDefects{}, object.IDClaims{Path: "/counter"}))
}
