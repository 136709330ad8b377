package carry

import (
	"fmt"
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

// An Ensemble is the part of several servers that a Network has to know.
type Ensemble struct {
	Servers int
	// Leader is nil for real servers, of which nobody knows who leads.
	Leader func() int
	// Tick is the unit of time of the servers.
	Tick time.Duration
	// Stopped reports whether a server is down for another reason than a fault; nil means that none
	// is.
	Stopped func(server int) bool
}

// Servers says which servers of an ensemble are up, reach the others, stand still or are behind,
// and without which the others go on.
type Servers struct {
	ensemble Ensemble
	backAt   map[int]time.Duration // when a server that is down is back
	lagging  map[int]time.Duration // until when a server applies no change
	cutOff   map[int]span          // of those that do not reach the others
	paused   map[int]span          // of those that stand still
	apart    map[int]bool          // the others have elected a leader without it, unnoticed
	believes map[int]time.Duration // of those apart that have led: when they notice
}

// NewServers is a Servers without an ensemble.
func NewServers() *Servers {
	return &Servers{backAt: map[int]time.Duration{}, lagging: map[int]time.Duration{},
		cutOff: map[int]span{}, paused: map[int]span{}, apart: map[int]bool{},
		believes: map[int]time.Duration{}}
}

// Serve makes the ensemble known to which the connections go. Without one there is a single server.
func (n *Servers) Serve(e Ensemble) { n.ensemble = e }

// isStopped reports whether a server is down for another reason than a fault.
func (n *Servers) isStopped(server int) bool {
	return n.ensemble.Stopped != nil && n.ensemble.Stopped(server)
}

// A span is a time in which a server does not reach the others, or stands still. Faults that
// overlap or touch make one, unless the server has rejoined the others between them.
type span struct{ since, until time.Duration }

// limit is the end of the time for which the others, or the server itself, wait in a span.
func (n *Servers) limit(s span) time.Duration { return s.since + syncLimit*n.ensemble.Tick }

// reached is the time in a span at which the limit is reached; 0 if it has passed, or if the span
// ends before.
func (n *Servers) reached(s span, now time.Duration) time.Duration {
	if at := n.limit(s); now < at && at <= s.until {
		return at
	}
	return 0
}

// prolong begins the span of a server, or prolongs the one that is not over. The result reports
// which.
func prolong(spans map[int]span, server int, now, until time.Duration) (touches bool) {
	s := span{now, until}
	before, ok := spans[server]
	if touches = ok && now <= before.until; touches {
		s = span{before.since, max(before.until, until)}
	}
	spans[server] = s
	return touches
}

// cutOffFor begins or prolongs the isolation of a server. A server that is down stays so until it
// reaches the others.
func (n *Servers) cutOffFor(server int, now, until time.Duration) {
	if prolong(n.cutOff, server, now, until) {
		marks.Hit("isolations that touch")
	}
	if n.IsDown(server, now) {
		marks.Hit("isolated while down")
		n.backAt[server] = max(n.backAt[server], n.cutOff[server].until)
	}
}

// IsCutOff reports whether a server does not reach the others.
func (n *Servers) IsCutOff(server int, now time.Duration) bool {
	return now < n.cutOff[server].until
}

// GivesUpAt is when a server gives up that is cut off: when it has been so for syncLimit; 0 if that
// time is over, or if the server reaches the others before.
func (n *Servers) GivesUpAt(server int, now time.Duration) time.Duration {
	return n.reached(n.cutOff[server], now)
}

// lagFor lets a server apply no change until a time, or all followers if it leads, and lists those
// that lag.
func (n *Servers) lagFor(server int, until time.Duration) (lagging []int) {
	leader := n.ensemble.Leader()
	for i := range n.ensemble.Servers {
		if i != leader && (i == server || server == leader) {
			n.lagging[i] = max(n.lagging[i], until)
			lagging = append(lagging, i)
		}
	}
	return lagging
}

// LagsUntil is until when a server applies no change because of a fault; 0 if there was none.
func (n *Servers) LagsUntil(server int) time.Duration { return n.lagging[server] }

// AwayUntil is when a server is back with the others that is down or cut off, stands still or only
// believes to lead; 0 if it is with them.
func (n *Servers) AwayUntil(server int, now time.Duration) time.Duration {
	return max(n.MissedUntil(server, now), n.PausedUntil(server, now))
}

// MissedUntil is AwayUntil as the others know it: that a server stands still they notice when it
// has done so for syncLimit.
func (n *Servers) MissedUntil(server int, now time.Duration) time.Duration {
	until := max(n.backAt[server], n.cutOff[server].until, n.BelievesUntil(server))
	if n.IsLeftBehind(server, now) {
		until = max(until, n.paused[server].until)
	}
	if until > now {
		return until
	}
	return 0
}

// Rejoin lets a server reach the others at once, or forgets that it did not.
func (n *Servers) Rejoin(server int) { delete(n.cutOff, server) }

// AloneUntil is the next time at which a server may reach a leader with a majority, while a fault
// keeps servers from each other; 0 if it reaches one.
func (n *Servers) AloneUntil(server int, now time.Duration) (next time.Duration) {
	if !n.keepsApart() {
		return 0
	}
	if until := n.BelievesUntil(server); until > 0 {
		return max(until, now+1)
	}
	e, together, apart := n.ensemble, 0, false
	for i := range e.Servers {
		switch until := n.AwayUntil(i, now); {
		case n.isStopped(i):
		case until == 0:
			together++
		case next == 0 || until < next:
			next = until
		}
		apart = apart || n.IsSilent(i, now)
	}
	alone := n.IsSilent(server, now) || n.IsSilent(e.Leader(), now) || together <= e.Servers/2
	if !apart || !alone {
		return 0
	}
	return next
}

// keepsApart reports whether a fault may keep servers from each other.
func (n *Servers) keepsApart() bool { return len(n.cutOff)+len(n.paused)+len(n.believes) > 0 }

// IsSilent reports whether a server that is up neither hears of the others nor they of it.
func (n *Servers) IsSilent(server int, now time.Duration) bool {
	return n.IsCutOff(server, now) || n.PausedUntil(server, now) > 0
}

// waitsFor is the time until which a message of the client waits, for its server or for a leader
// with a majority; 0 if it passes.
func (n *Network) waitsFor(c *Conn, lane *Lane, m *Message, now time.Duration) time.Duration {
	if n.healed || lane != &c.Up || !n.keepsApart() {
		return 0
	}
	if until := n.standsUntil(c.Server, now); until > 0 {
		return until
	}
	switch m.needs() {
	case nobody:
		return 0
	case theLeader:
		if c.Server == n.ensemble.Leader() || n.believes[c.Server] > 0 {
			return 0
		}
	}
	return n.AloneUntil(c.Server, now)
}

// need is whom a server has to ask before it answers a message.
type need int

const (
	nobody need = iota
	theLeader
	theMajority
)

// needs is the need of a message. A leader asks nobody for a sync, nor whether a session lives that
// a client comes back with.
//
// Source: Leader.processSync; LearnerHandler, REVALIDATE.
func (m *Message) needs() need {
	if m.Dials || m.hello {
		return m.needsToGreet()
	}
	h, _, err := wire.DecodeHeader(m.Bytes)
	switch {
	case err != nil:
		return nobody
	case h.Op == proto.OpSync:
		return theLeader
	case h.Op.IsWrite() || h.Op == proto.OpCreateSession || h.Op == proto.OpCloseSession:
		return theMajority
	}
	return nobody
}

// needsToGreet is the need of the first message of a connection.
func (m *Message) needsToGreet() need {
	if m.Last { // a four-letter word
		return nobody
	}
	if req, err := wire.DecodeConnectRequest(m.Bytes); err == nil && req.SessionID != 0 {
		return theLeader
	}
	return theMajority
}
