package queue

import (
	"cmp"
	"slices"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// pairing tells which removals of equal elements the successful takes do not need: each take needs
// a removal of its own by its client, between its call and its return.
type pairing struct {
	takes   []*lin.Op        // in the order of their returns
	removed []*judging.Znode // without those that were put back, in the order of their removals
}

func newPairing(calls []lin.Op, znodes []*judging.Znode, value string) *pairing {
	p := &pairing{}
	for i := range calls {
		if op := &calls[i]; isTake(op) && op.OK() && !op.Empty && op.Output == value {
			p.takes = append(p.takes, op)
		}
	}
	for _, z := range znodes {
		if z.Deleted != judging.Never && !z.WithSession {
			p.removed = append(p.removed, z)
		}
	}
	slices.SortStableFunc(p.takes, func(a, b *lin.Op) int {
		return cmp.Compare(a.Return, b.Return)
	})
	slices.SortStableFunc(p.removed, func(a, b *judging.Znode) int {
		return cmp.Compare(a.Deleted, b.Deleted)
	})
	return p
}

// spares reports whether as many takes have a removal of their own without one of the removals.
func (p *pairing) spares(z *judging.Znode) bool { return p.size(z) == p.size(nil) }

// putBack leaves out the removal of an element that was put back.
func (p *pairing) putBack(z *judging.Znode) {
	p.removed = slices.DeleteFunc(p.removed, func(o *judging.Znode) bool { return o == z })
}

// size is the greatest number of takes that can have a removal of their own, without one of the
// removals. The take that returns first has the fewest removals to choose from, and leaves the
// later ones to the others.
func (p *pairing) size(without *judging.Znode) int {
	used := map[*judging.Znode]bool{without: true}
	for _, take := range p.takes {
		if i := slices.IndexFunc(p.removed, func(z *judging.Znode) bool {
			return !used[z] && removes(take, z)
		}); i >= 0 {
			used[p.removed[i]] = true
		}
	}
	return len(used) - 1
}
