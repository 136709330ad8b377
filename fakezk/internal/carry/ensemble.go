package carry

import (
	"fmt"
	"slices"
	"time"
)

// MaxServers is the greatest number of servers of an ensemble.
const MaxServers = 7

// Address is the address of a server, by its number from 0.
func Address(server int) string { return fmt.Sprintf("127.0.0.1:%d", 2181+server) }

// QuorumAt is when a majority of the servers is up. Each server of the list is back at its time;
// the others stay down, and are a minority.
func QuorumAt(servers int, back []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(back))[servers/2]
}
