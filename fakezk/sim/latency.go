package sim

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/state"
)

// mostLatency is the greatest latency of a message.
const mostLatency = 6400 * time.Microsecond

// latency is how long a message takes: a pure hash of the seed and the message's coordinates,
// spread evenly over the orders of magnitude from 0.2 ms to 6.4 ms. It is never drawn in order of
// arrival. Under a Schedule of another kind everything takes the same time: scripts start together.
func (s *simulation) latency(client, conn, direction, number int) time.Duration {
	if s.world.unordered || s.order != nil {
		return hop
	}
	h := mix(s.world.Seed, uint64(client), uint64(conn), uint64(direction), uint64(number))
	spread := float64(h>>11) / (1 << 53)
	return time.Duration(float64(mostLatency>>5) * math.Exp2(5*spread))
}

// mix hashes numbers (splitmix64 over each in turn).
func mix(words ...uint64) uint64 {
	x := uint64(0x9e3779b97f4a7c15)
	for _, w := range words {
		x = (x ^ w) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// shuffleChildren puts names into an order that depends on the seed and the
// last zxid of the tree: a real server's order is arbitrary, and a recipe that forgets to sort
// must fail. It starts from the order of creation and not from that of the
// server, a hash order, so that the GUIDs in names have no part in it.
//
// Where messages are ordered by Choices it depends on the seed and on how often the
// children have changed: with the zxid, which every change moves, no request would
// commute with one that lists children.
func (s *simulation) shuffleChildren(
	tree *state.Store, parent string, changes int32, names []string,
) {
	salt := uint64(tree.LastZxid())
	if s.world.Schedule.Kind == Choices {
		salt = uint64(changes)
	}
	created := make(map[string]int64, len(names))
	for _, name := range names {
		stat, _ := tree.Exists(strings.TrimSuffix(parent, "/") + "/" + name)
		created[name] = stat.Czxid
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(created[a], created[b]), cmp.Compare(a, b))
	})
	for i := len(names) - 1; i > 0; i-- {
		j := int(mix(s.world.Seed, salt, uint64(i)) % uint64(i+1))
		names[i], names[j] = names[j], names[i]
	}
}
