package sim

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
)

// A client pings three times per session timeout, and most of an idle run is pings. So a
// ping does not wake the World. The World makes up for it when it wakes the next time:
// catchUp sets the World's clock back to the time of each ping, and handles it as if the
// World had been awake. Nothing can tell the difference:
//
//   - A ping is put off only while the World sleeps, on a connection with nothing under way or on
//     hold. Then the engine restarts the session's timer and replies, and only the client hears of
//     it.
//   - The client ignores the reply, but for its read deadline. The World wakes before the
//     deadline passes, and tells the connection how late the reply is. No reply to a ping wakes a
//     client of Connect: the connection moves the deadline.
//   - The World wakes for all else that a client does, and for all of its own events, and
//     catches up first. Lines that clients have written by then leave room for the lines
//     of the pings.

// pingFrame is the frame of a ping.
var pingFrame = []byte{0, 0, 0, 8, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 11}

// pingReply is how the frame of a reply to a ping begins, with its length and number.
var pingReply = []byte{0, 0, 0, 16, 0xff, 0xff, 0xff, 0xfe}

// isPingReply reports whether bytes are the whole frame of a reply to a ping.
func isPingReply(frame []byte) bool {
	return len(frame) == 4+16 && bytes.HasPrefix(frame, pingReply)
}

// deferredPing is a ping that the World has not handled.
type deferredPing struct {
	link *link
	at   time.Duration
}

// deferPing puts a write off if it is a ping that nobody needs to know of yet. The lock is held.
// While the World sleeps, it does not change what is read here.
func (b *inbox) deferPing(l *link, p []byte) bool {
	if b.wakeBy == awake || l.unsent.listed || !bytes.Equal(p, pingFrame) || l.end.Secure() {
		return false
	}
	now := b.agenda.Elapsed()
	if b.replyDeadline(l) < b.wakeBy || !l.conn.Idle(now) || len(l.unsent.bytes) > 0 {
		return false
	}
	b.pings = append(b.pings, deferredPing{l, now})
	b.journal.ReserveLines()
	return true
}

// replyDeadline is until when the client of a link waits for a reply to a ping that was put off, 0
// if it does not wait.
func (b *inbox) replyDeadline(l *link) time.Duration {
	deadline := l.end.ReadDeadline()
	if deadline.IsZero() {
		return 0
	}
	return b.agenda.Since(deadline) - draws.Hop
}

// mayDeferPings reports whether the World may put off pings at all.
func (s *loop) mayDeferPings() bool {
	return !s.noDeferral && !s.inbox.closing.Load() && s.guard.HasRoom(roomForPings)
}

// roomForPings is more than the steps that the pings of one sleep take.
const roomForPings = 10_000

// nap is a sleep so short that pings are hardly put off in it.
const nap = 50 * time.Millisecond

// sleepEnd is the end of a sleep in which the pings of all clients can be put off.
func (s *loop) sleepEnd(now, until time.Duration) time.Duration {
	for _, l := range s.network.links {
		if patience := s.inbox.replyDeadline(l); patience > now {
			until = min(until, patience)
		}
	}
	return until
}

// catchUp handles the pings that were put off, and their effects up to now.
func (s *loop) catchUp() {
	pings := s.inbox.takePings()
	if len(pings) == 0 {
		return
	}
	slices.SortStableFunc(pings, func(a, b deferredPing) int {
		return cmp.Or(cmp.Compare(a.at, b.at), compareLinks(a.link, b.link))
	})
	now := s.agenda.Elapsed()
	s.journal.BeginReserved()
	for {
		at, tick := s.next()
		pinged := len(pings) > 0 && pings[0].at <= at
		if pinged {
			at = pings[0].at
		}
		if at >= now {
			break
		}
		s.agenda.SetBack(at)
		s.step()
		if pinged {
			pings = sendPings(pings)
		} else {
			s.apply(tick)
		}
	}
	s.agenda.SetRight()
	s.journal.EndReserved()
	for _, p := range pings { // those of this instant
		s.inbox.write(p.link, pingFrame)
	}
}

// sendPings puts those that were written first on their way, and returns the others.
func sendPings(pings []deferredPing) []deferredPing {
	at := pings[0].at
	for len(pings) > 0 && pings[0].at == at {
		if l := pings[0].link; l.conn.State() != carry.Over {
			l.send(true, newMessage(pingFrame[4:], nil))
		}
		pings = pings[1:]
	}
	return pings
}
