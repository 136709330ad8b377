// Package draws has what a World draws by its seed. A draw is a hash of the seed and of what it is
// for. It does not depend on the draws before it.
package draws

import (
	"math"
	"time"

	"github.com/zksim/zksim/internal/mix"
)

// Draws draws by a seed.
type Draws struct {
	Seed uint64
	// Alike lets everything that has a latency take a Hop.
	Alike bool
}

const (
	// MostLatency is the greatest latency of a message.
	MostLatency = 6400 * time.Microsecond
	// Hop is the latency where all are alike.
	Hop = time.Millisecond
)

// The labels of what has a latency, in the place of the direction of a message.
const (
	up = iota
	down
	dial
	replication
)

// The labels of other draws.
const (
	slowness = 4 + iota
	election
	clock
	server = 0x5e12e5
)

// latency is spread evenly over the orders of magnitude from 0.2 ms to 6.4 ms.
func (d Draws) latency(client, conn, label, number int) time.Duration {
	if d.Alike {
		return Hop
	}
	h := mix.Hash(d.Seed, uint64(client), uint64(conn), uint64(label), uint64(number))
	spread := float64(h>>11) / (1 << 53)
	return time.Duration(float64(MostLatency>>5) * math.Exp2(5*spread))
}

// Start is when the script of a client begins.
func (d Draws) Start(client int) time.Duration { return d.latency(client, 0, up, 0) }

// Message is the latency of a message to the server, or to the client, by its number from 1 on its
// connection.
func (d Draws) Message(client, conn int, toServer bool, number int) time.Duration {
	if toServer {
		return d.latency(client, conn, up, number)
	}
	return d.latency(client, conn, down, number)
}

// Dial is how long a dial of a client takes, by its number.
func (d Draws) Dial(client, number int) time.Duration { return d.latency(client, number, dial, 0) }

// Replication is how long a message about a transaction takes to a follower.
func (d Draws) Replication(follower int, zxid int64) time.Duration {
	return d.latency(follower, 0, replication, int(zxid))
}

// IsSlow says of one server in three that it applies transactions late.
func (d Draws) IsSlow(server int) bool { return mix.Hash(d.Seed, uint64(server), slowness)%3 == 0 }

// mostSkew is by how much the clock of a server is fast or slow at most.
const mostSkew = 2 * time.Second

// Skew is by how many milliseconds the clock of a server is fast.
func (d Draws) Skew(server int) int64 {
	const most = int64(mostSkew / time.Millisecond)
	return int64(mix.Hash(d.Seed, uint64(server), clock)%uint64(2*most+1)) - most
}

// Leader is one of so many servers, for the election after a transaction.
func (d Draws) Leader(zxid int64, servers int) int {
	return int(mix.Hash(d.Seed, uint64(zxid), election) % uint64(servers))
}

// FirstServer is one of so many servers, for the first dial of a client's call of Connect.
func (d Draws) FirstServer(client, connect, servers int) int {
	return int(mix.Hash(d.Seed, uint64(client), uint64(connect), server) % uint64(servers))
}

// Rank is the priority of the messages of a client in one direction, below 1<<56.
func (d Draws) Rank(client int, toServer bool) uint64 {
	direction := uint64(0)
	if toServer {
		direction = 1
	}
	return mix.Hash(d.Seed, uint64(client), direction) >> 8
}

// Shuffle puts names into an order that depends on the order in which they are, and on the salt.
func (d Draws) Shuffle(names []string, salt uint64) {
	for i := len(names) - 1; i > 0; i-- {
		j := int(mix.Hash(d.Seed, salt, uint64(i)) % uint64(i+1))
		names[i], names[j] = names[j], names[i]
	}
}
