package hunt

import (
	"testing"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
)

// TestOrdersThatAreLeftOutAreNotForgotten: a hunt asks before it says that nothing is
// left to try.
func TestOrdersThatAreLeftOutAreNotForgotten(t *testing.T) {
	o := newOrders(strategyInput{}).(*orders)
	p := searcher{strategy: o}
	for range maxBranches + 1 {
		o.add(branch{})
		o.open = o.open[1:] // tried
	}
	if p.hasSkipped() || len(o.open) != 1 {
		t.Fatalf("%d wait, some are left out: %v", len(o.open), p.hasSkipped())
	}
	for range maxBranches {
		o.add(branch{})
	}
	if !p.hasSkipped() || len(o.open) != maxBranches {
		t.Errorf("%d wait, some are left out: %v", len(o.open), p.hasSkipped())
	}
}

func TestOrdersThatDifferLateAreLeftOut(t *testing.T) {
	for _, depth := range []int{orderDepth, orderDepth + 1} {
		o := newOrders(strategyInput{}).(*orders)
		o.tried = []branch{{}}
		var decisions []trace.Decision
		for i := range depth {
			decisions = append(decisions, trace.Decision{Candidates: []trace.Delivery{
				{
					Client: "a", Up: true, Number: i, Opaque: true,
				}, {Client: "b", Up: true, Number: i, Opaque: true},
			}})
		}
		o.learn(&scenario.Outcome{Result: &trace.Result{Decisions: decisions}}, true, 0)
		if want := depth > orderDepth; o.leftOut() != want || len(o.open) != 1+orderDepth {
			t.Errorf("of %d decisions: %d branches, some are left out: %v", depth, len(o.open),
				o.leftOut())
		}
	}
}
