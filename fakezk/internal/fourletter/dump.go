package fourletter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
)

// dump answers the word dump: sessions, ephemerals and connections.
//
// Source: DumpCommand, SessionTrackerImpl.dumpSessions, ExpiryQueue.dump,
// DataTree.dumpEphemerals, NIOServerCnxn.toString.
func dump(s *Server) text {
	sessions, lines, zone := s.Engine.Sessions(), s.lines(), s.Now.Location()
	owners, tick := s.ephemeralOwners(sessions), s.TickTime
	return func() string {
		var b strings.Builder
		b.WriteString("SessionTracker dump:\nSession ")
		dumpQueue(&b, sessionQueue(sessions), zone)
		b.WriteString("ephemeral nodes dump:\n")
		dumpEphemerals(&b, owners)
		b.WriteString("Connections dump:\nConnections ")
		dumpQueue(&b, connQueue(lines, sessions, tick), zone)
		return b.String()
	}
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

func connQueue(lines []line, sessions []engine.SessionView, tick time.Duration) expiryQueue {
	byConn := map[engine.ConnID]engine.SessionView{}
	for _, ses := range sessions {
		byConn[ses.Conn] = ses
	}
	q := expiryQueue{}
	for _, l := range lines {
		heard := l.Opened
		if l.LastResponse.After(heard) {
			heard = l.LastResponse
		}
		// crst resets the time of the last response.
		if ses := byConn[l.ID]; l.Session != 0 && ses.ID == l.Session {
			if at := ses.ExpiresAt.Add(-ses.Timeout - tick); at.After(heard) {
				heard = at
			}
		}
		due := roundUp(heard.Add(l.Timeout), sessionless)
		q.add(due, fmt.Sprintf("ip: %s sessionId: 0x%x", l.addr, uint64(l.Session)))
	}
	return q
}

// roundUp returns the first multiple of a unit after t, never t itself.
//
// Source: ExpiryQueue.roundToNextInterval.
func roundUp(t time.Time, unit time.Duration) time.Time {
	ms := unit.Milliseconds()
	return time.UnixMilli((t.UnixMilli()/ms + 1) * ms)
}

// dumpQueue writes a queue, with times in the format of Java's Date.toString.
func dumpQueue(b *strings.Builder, q expiryQueue, zone *time.Location) {
	total := 0
	var times []int64
	for at, set := range q {
		total += len(set)
		times = append(times, at)
	}
	slices.Sort(times)
	fmt.Fprintf(b, "Sets (%d)/(%d):\n", len(q), total)
	for _, at := range times {
		date := time.UnixMilli(at).In(zone).Format("Mon Jan 02 15:04:05 MST 2006")
		fmt.Fprintf(b, "%d expire at %s:\n", len(q[at]), date)
		for _, line := range q[at] {
			fmt.Fprintf(b, "\t%s\n", line)
		}
	}
}

// ephemeralOwners lists the ephemeral nodes of the sessions that own one or have owned one.
func (s *Server) ephemeralOwners(sessions []engine.SessionView) map[int64][]string {
	owners := map[int64][]string{}
	for _, ses := range sessions {
		paths := s.Engine.StoreOf(s.Number).Ephemerals(ses.ID)
		if len(paths) > 0 || s.Traffic.EphemeralOwners[ses.ID] {
			owners[ses.ID] = paths
		}
		s.step(1 + len(paths))
	}
	return owners
}

func dumpEphemerals(b *strings.Builder, owners map[int64][]string) {
	fmt.Fprintf(b, "Sessions with Ephemerals (%d):\n", len(owners))
	for _, id := range concurrentOrder(slices.Sorted(maps.Keys(owners)), longHash) {
		fmt.Fprintf(b, "0x%x:\n", uint64(id))
		for _, path := range owners[id] {
			fmt.Fprintf(b, "\t%s\n", path)
		}
	}
}
