package custom

import (
	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
)

// Attribute finds the operation behind each of the server's changes. of[i] has the indices of the
// changes of operation i: more than one if it was applied more than once. strays are the changes
// without an operation. Histories and changes must be in step order, as [Object.Effects] gets them.
//
// A change belongs to a fitting operation of its client that was under way. If the client is not
// known, any client fits. Each operation that succeeded gets a change that was made during it, if
// that is possible for all of them. Of several operations the one that ends first is taken, since
// the others may have a later change. A second change of an operation is given to an earlier
// operation of the same client with an unknown outcome and no change yet, if there is one: a
// request may reach the server after the client gave up. An operation that has certainly failed
// gets a change only if no other operation fits.
func Attribute(
	h lin.History, changes []lin.ServerEvent, fits func(op lin.Op, change int) bool,
) (of [][]int, strays []int) {
	a := judging.Attribute(h, changes, fits)
	return a.Of, a.Strays
}
