package fourletter

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
)

// dump answers the word dump: sessions, ephemerals and connections.
//
// Source: DumpCommand, SessionTrackerImpl.dumpSessions, ExpiryQueue.dump,
// DataTree.dumpEphemerals, NIOServerCnxn.toString.
func dump(s Server) string {
	var b strings.Builder
	sessions := s.Engine.Sessions()
	b.WriteString("SessionTracker dump:\nSession ")
	s.dumpQueue(&b, sessionQueue(sessions))
	b.WriteString("ephemeral nodes dump:\n")
	s.dumpEphemerals(&b, sessions)
	b.WriteString("Connections dump:\nConnections ")
	s.dumpQueue(&b, s.connQueue(sessions))
	return b.String()
}

// expiryQueue maps times of expiry in Unix milliseconds to lines of text.
type expiryQueue map[int64][]string

func (q expiryQueue) add(at time.Time, line string) {
	q[at.UnixMilli()] = append(q[at.UnixMilli()], line)
}

func sessionQueue(sessions []engine.SessionView) expiryQueue {
	q := expiryQueue{}
	for _, ses := range sessions {
		q.add(ses.ExpiresAt, fmt.Sprintf("0x%x", uint64(ses.ID)))
	}
	return q
}

func (s *Server) connQueue(sessions []engine.SessionView) expiryQueue {
	q := expiryQueue{}
	for _, l := range s.lines() {
		due := roundUp(s.lastHeard(l, sessions).Add(l.Timeout), sessionless)
		q.add(due, fmt.Sprintf("ip: %s sessionId: 0x%x", l.addr, uint64(l.Session)))
	}
	return q
}

// lastHeard returns the time of a connection's last request: that of its last response
// or, as crst resets that, the session's expiry minus its timeout.
func (s *Server) lastHeard(l line, sessions []engine.SessionView) time.Time {
	heard := l.Opened
	if l.LastResponse.After(heard) {
		heard = l.LastResponse
	}
	for _, ses := range sessions {
		if ses.ID != l.Session || ses.Conn != l.ID {
			continue
		}
		if at := ses.ExpiresAt.Add(-ses.Timeout - s.TickTime); at.After(heard) {
			heard = at
		}
	}
	return heard
}

// roundUp returns the first multiple of a unit after t, never t itself.
//
// Source: ExpiryQueue.roundToNextInterval.
func roundUp(t time.Time, unit time.Duration) time.Time {
	ms := unit.Milliseconds()
	return time.UnixMilli((t.UnixMilli()/ms + 1) * ms)
}

// dumpQueue writes a queue, with times in the format of Java's Date.toString.
func (s *Server) dumpQueue(b *strings.Builder, q expiryQueue) {
	total := 0
	var times []int64
	for at, set := range q {
		total += len(set)
		times = append(times, at)
	}
	slices.Sort(times)
	fmt.Fprintf(b, "Sets (%d)/(%d):\n", len(q), total)
	for _, at := range times {
		date := time.UnixMilli(at).In(s.Now.Location()).Format("Mon Jan 02 15:04:05 MST 2006")
		fmt.Fprintf(b, "%d expire at %s:\n", len(q[at]), date)
		for _, line := range q[at] {
			fmt.Fprintf(b, "\t%s\n", line)
		}
	}
}

func (s *Server) dumpEphemerals(b *strings.Builder, sessions []engine.SessionView) {
	var owners []int64
	for _, ses := range sessions {
		if len(s.Engine.StoreOf(s.Number).Ephemerals(ses.ID)) > 0 ||
			s.Traffic.EphemeralOwners[ses.ID] {
			owners = append(owners, ses.ID)
		}
	}
	fmt.Fprintf(b, "Sessions with Ephemerals (%d):\n", len(owners))
	for _, id := range concurrentOrder(owners, longHash) {
		fmt.Fprintf(b, "0x%x:\n", uint64(id))
		for _, path := range s.Engine.StoreOf(s.Number).Ephemerals(id) {
			fmt.Fprintf(b, "\t%s\n", path)
		}
	}
}
