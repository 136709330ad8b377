package carry

import (
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// MaxServers is the greatest number of servers of an ensemble.
const MaxServers = 7

// Address is the address of a server, by its number from 0.
func Address(server int) string { return fmt.Sprintf("127.0.0.1:%d", 2181+server) }

// Addresses are those of the first servers of an ensemble, in their order.
func Addresses(servers int) (list []string) {
	for server := range servers {
		list = append(list, Address(server))
	}
	return list
}

// syncLimit is for how many ticks a server waits for the others before it gives up, as in the
// sample configuration of ZooKeeper.
const syncLimit = 5

// QuorumAt is when a majority of the servers is up. Each server of the list is back at its time;
// the others stay down, and are a minority.
func QuorumAt(servers int, back []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(back))[servers/2]
}

// An Ensemble is the part of several servers that a Network has to know.
type Ensemble struct {
	Servers int
	// Leader is nil if nobody knows who leads.
	Leader func() int
	// Tick is the unit of time of the servers.
	Tick time.Duration
	// Stopped reports whether a server is down for another reason than a fault; nil means that none
	// is.
	Stopped func(server int) bool
}

// Serve makes the ensemble known to which the connections go. Without one there is a single server.
func (n *Network) Serve(e Ensemble) { n.ensemble = e }

// An isolation is a time in which a server does not reach the others. Faults that overlap or touch
// make one, unless the server has rejoined the others between them.
type isolation struct{ since, until time.Duration }

// cutOffFor begins or prolongs the isolation of a server. A server that is down stays so until it
// reaches the others.
func (n *Network) cutOffFor(server int, now, until time.Duration) {
	i := isolation{now, until}
	if before, ok := n.cutOff[server]; ok && now <= before.until {
		marks.Hit("isolations that touch")
		i = isolation{before.since, max(before.until, until)}
	}
	if n.IsDown(server, now) {
		marks.Hit("isolated while down")
		n.backAt[server] = max(n.backAt[server], i.until)
	}
	n.cutOff[server] = i
}

// IsCutOff reports whether a server does not reach the others.
func (n *Network) IsCutOff(server int, now time.Duration) bool {
	return now < n.cutOff[server].until
}

// GivesUpAt is when a server gives up that is cut off: when it has been so for syncLimit; 0 if that
// time is over, or if the server reaches the others before.
func (n *Network) GivesUpAt(server int, now time.Duration) time.Duration {
	i := n.cutOff[server]
	if at := i.since + syncLimit*n.ensemble.Tick; now < at && at <= i.until {
		return at
	}
	return 0
}

// AwayUntil is when a server that is down or cut off is back with the others; 0 if it is neither.
func (n *Network) AwayUntil(server int, now time.Duration) time.Duration {
	if until := max(n.backAt[server], n.cutOff[server].until); until > now {
		return until
	}
	return 0
}

// Rejoin lets a server reach the others at once, or forgets that it did not.
func (n *Network) Rejoin(server int) { delete(n.cutOff, server) }

// AloneUntil is the next time at which a server may reach a leader with a majority, from which it
// is cut off; 0 if it reaches one.
func (n *Network) AloneUntil(server int, now time.Duration) (next time.Duration) {
	if len(n.cutOff) == 0 {
		return 0
	}
	e, together, cut := n.ensemble, 0, false
	for i := range e.Servers {
		switch until := n.AwayUntil(i, now); {
		case e.Stopped != nil && e.Stopped(i):
		case until == 0:
			together++
		case next == 0 || until < next:
			next = until
		}
		cut = cut || n.IsCutOff(i, now)
	}
	alone := n.IsCutOff(server, now) || n.IsCutOff(e.Leader(), now) || together <= e.Servers/2
	if !cut || !alone {
		return 0
	}
	return next
}

// waitsFor is the time until which a message of the client waits for the leader; 0 if it passes.
func (n *Network) waitsFor(c *Conn, lane *Lane, m *Message, now time.Duration) time.Duration {
	if len(n.cutOff) == 0 || n.healed || lane != &c.Up || !m.needsLeader() {
		return 0
	}
	return n.AloneUntil(c.Server, now)
}

// needsLeader reports whether a server cannot answer a message alone. Handshakes begin a session,
// or ask the leader whether it lives.
func (m *Message) needsLeader() bool {
	if m.Dials || m.hello {
		return !m.Last
	}
	h, _, err := wire.DecodeHeader(m.Bytes)
	return err == nil && (h.Op.IsWrite() || h.Op == proto.OpSync || h.Op == proto.OpCreateSession ||
		h.Op == proto.OpCloseSession)
}
