package hunt

import (
	"slices"
	"testing"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// TestWalkersVisitEachOrderOnce, of things that differ only in what scripts say behind them. One
// that begins too early does not know that.
func TestWalkersVisitEachOrderOnce(t *testing.T) {
	t.Parallel()
	for _, walkers := range []int{1, 2, 8} {
		runs, seen := ordersOf(walkers, false)
		check.Equal(t, len(seen), 24, "orders, with %d walkers", walkers)
		check.Equal(t, runs, 24, "runs, with %d walkers", walkers)
	}
	if _, seen := ordersOf(8, true); len(seen) == 24 {
		t.Errorf("nobody notices that a walker is hasty")
	}
}

// ordersOf lets walkers go through the orders of four things, and try everything everywhere.
func ordersOf(walkers int, hasty bool) (runs int, seen map[string]bool) {
	w := &walk{commute: func(a, b trace.Thing) bool { return true }, hasty: hasty}
	w.walkers, seen = []*walker{{walk: w}}, map[string]bool{}
	play := func(by *walker) {
		var left []trace.Thing
		for _, client := range []string{"a", "b", "c", "d"} {
			left = append(left, trace.Thing{Delivery: trace.Delivery{Client: client}})
		}
		order, said := "", []trace.Said(nil)
		by.begin()
		for {
			n := by.choose(trace.Turn{Things: left, Said: said})
			if n < 0 || len(left) == 0 {
				break
			}
			order, said = order+left[n].Client, []trace.Said{{Text: "lock returns"}, {Text: "calls unlock"}}
			left = slices.Delete(slices.Clone(left), n, n+1)
		}
		by.end()
		for _, s := range by.steps {
			by.more = append(by.more, more{choice: s.choice})
		}
		if len(left) == 0 {
			seen[order] = true
		}
		runs++
	}
	for len(w.walkers) > 0 {
		w.share(walkers)
		round := slices.Clone(w.walkers)
		for _, by := range slices.Backward(round) { // they may play in any order
			play(by)
		}
		for _, by := range round {
			w.take(by)
		}
	}
	return runs, seen
}

// TestWhatSleepsMayComeAtOnce, if another thing was all that held it up. Then the run is redundant,
// unless the two do not commute.
func TestWhatSleepsMayComeAtOnce(t *testing.T) {
	t.Parallel()
	message := trace.Thing{Kind: trace.AtClient, Delivery: trace.Delivery{Client: "a", Number: 2}}
	fault := trace.Thing{Kind: trace.Strikes, Delivery: trace.Delivery{Client: "a", Number: 1}}
	for _, commute := range []bool{true, false} {
		w := &walk{commute: func(a, b trace.Thing) bool { return commute }}
		things := []trace.Thing{message, fault}
		c := &choice{things: things, said: make([]said, 2), try: []int{0, 1}, tried: []int{0, 1}}
		by := &walker{walk: w, steps: []step{{c, 1}}}
		by.begin()
		check.Equal(t, by.choose(trace.Turn{Things: things}), 1, "the fault comes first")
		check.Equal(t, by.choose(trace.Turn{Things: things[:1], AtOnce: true}), 0, "the message")
		others := []trace.Thing{{Kind: trace.AtServer}, {Kind: trace.DialEnds}}
		check.Equal(t, by.choose(trace.Turn{Things: others}) < 0, commute, "the run is redundant")
	}
}
