package sim

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
)

// shuffledChildren puts names into an order that depends on the seed and the
// last zxid of the tree: a real server's order is arbitrary, and a recipe that forgets to sort
// must fail. It starts from the order of creation and not from that of the
// server, a hash order, so that the GUIDs in names have no part in it.
//
// For Choices and Turns it depends on the seed and on how often the children have
// changed: with the zxid, which every change moves, no request would commute with one that lists
// children.
//
// For Turns it starts from the order of the names: with that of creation, two creates would not
// commute. The GUIDs of a client are the same in every order.
func shuffledChildren(
	d draws.Draws, kind ScheduleKind,
) func(tree *state.Store, parent string, changes int32, names []string) {
	return func(tree *state.Store, parent string, changes int32, names []string) {
		salt := uint64(tree.LastZxid())
		if kind == Choices || kind == Turns {
			salt = uint64(changes)
		}
		created := make(map[string]int64, len(names))
		if kind != Turns {
			for _, name := range names {
				stat, _ := tree.Exists(strings.TrimSuffix(parent, "/") + "/" + name)
				created[name] = stat.Czxid
			}
		}
		slices.SortFunc(names, func(a, b string) int {
			return cmp.Or(cmp.Compare(created[a], created[b]), cmp.Compare(a, b))
		})
		d.Shuffle(names, salt)
	}
}
