package fakezk

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// closeA closes the client a and lets the server hear of it.
func (st *faultTest) closeA() {
	st.Helper()
	check.OK(st, st.a.Close())
	synctest.Wait()
}

// wantConnections says how many connections the server knows, and how many of its connections
// faults have misled.
func (st *faultTest) wantConnections(links, astray int) {
	st.Helper()
	if got := servedLinks(st.Server); got != links || misledConns(st.Server) != astray {
		st.Errorf("at %s: %d links and %d detours, want %d and %d", st.since(), got,
			misledConns(st.Server), links, astray)
	}
}

// sendWord sends a four-letter word on a new connection.
func (st *faultTest) sendWord(word string) *rawClient {
	st.Helper()
	r := rawDial(st, st.Server)
	r.send([]byte(word))
	return r
}

// A server does not hear that a client in a black hole has gone, until the
// session expires; then nothing is left of the connection.
func TestClientThatClosesInABlackHoleIsGoneWithItsSession(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("blackhole 1s client=S1 request=1")
		st.a.ask(rawCreate("/1", 0))
		st.closeA()
		st.wantConnections(2, 1)
		if got := readAll(st.T, st.sendWord("stat")); strings.Count(got, "/127.0.0.1:") != 3 {
			st.Errorf("stat lists the connections of a, b and itself as\n%s", got)
		}
		for at := 20 * time.Second; at <= 40*time.Second; at += 20 * time.Second {
			st.sleepUntil(at)
			st.b.mustCall(ping)
		}
		check.Equal(st, len(st.Sessions()), 1, "sessions")
		st.wantConnections(1, 0)
	})
	withFaults(t, func(st *faultTest) { // or until the session takes another connection
		st.inject("blackhole 1s client=S1 request=1")
		st.a.ask(rawCreate("/1", 0))
		st.closeA()
		st.sleepUntil(time.Second)
		st.wantSession(st.reattach())
		st.wantConnections(2, 0)
	})
	withFaults(t, func(st *faultTest) { // or until faults are cleared
		st.inject("blackhole 1s client=S1 request=1")
		st.a.ask(rawCreate("/1", 0))
		st.closeA()
		st.ClearFaults()
		st.wantConnections(1, 0)
	})
}

// That a client has closed may be on hold when the black hole comes.
func TestClientThatClosesInAStallBeforeABlackHoleIsGoneWithItsSession(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.StallConnections(time.Hour)
		st.closeA()
		st.inject("blackhole 1s at=1s")
		st.sleepUntil(time.Second)
		st.wantConnections(2, 2)
		st.sleepUntil(time.Minute)
		check.Equal(st, len(st.Sessions()), 0, "sessions")
		st.wantConnections(0, 1) // b may still close
	})
}

// Over TCP a client that has closed its direction may still read.
func TestHalfClosedClientGetsWhatIsOnHold(t *testing.T) {
	for _, line := range []string{"stall 1h op=create request=1",
		"stall-mid-frame 1h op=create request=1"} {
		t.Run(line, func(t *testing.T) {
			s, address := startTCP(t)
			r, _ := tcpSession(t, address)
			r.call(&proto.Exists{Path: "/x", Watch: true})
			injectLine(t, s, line)
			r.ask(rawCreate("/1", 0), rawCreate("/2", 0))
			r.closeWrite()
			await(t, "the end of what the client sends", func() bool { return endIsKnown(s) })
			mustDo(t, s.Put("/x", nil))
			s.ClearFaults()
			if strings.HasPrefix(line, "stall ") {
				wantEvent(t, r, "/x") // was on hold first
			}
			for xid := range int32(2) {
				r.wantReply(xid + 2)
			}
			r.wantClosed()
		})
	}
}

// endIsKnown says that the end of a connection is on hold, or is known and the client's part of it
// on hold.
func endIsKnown(s *Server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.faults.net.Conns() {
		for _, last := range []*carry.Message{c.Up.Last(), c.Down.Last()} {
			if last != nil && last.End == io.EOF {
				return true
			}
		}
	}
	return false
}

// In a black hole it hears nothing, not even the end.
func TestHalfClosedClientInABlackHoleHearsNothing(t *testing.T) {
	s, address := startTCP(t)
	r, session := tcpSession(t, address)
	injectLine(t, s, "blackhole 1h request=1")
	r.ask(rawCreate("/1", 0))
	r.closeWrite()
	await(t, "the client to be gone", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		conns := s.faults.net.Conns()
		return len(conns) == 1 && conns[0].State() == carry.BlackholedGone
	})
	check.Equal(t, strings.Count(bubble.Stacks(), "(*front).serveTCP"), 1,
		"the connection is closed")
	mustDo(t, s.ExpireSession(session.SessionID))
	if n := misledConns(s); n > 0 {
		t.Errorf("%d detours are left", n)
	}
	check.Equal(t, readAll(t, r), "")
}

func injectLine(t testing.TB, s *Server, line string) {
	t.Helper()
	f, err := fault.Parse(line)
	check.OK(t, err)
	check.OK(t, s.Inject(f))
}

// A four-letter word is held and lost like anything else.
func TestInjectedFaultsHitFourLetterWords(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		silent := rawDial(st, st.Server)
		silent.send([]byte("ru"))
		st.inject("stall 10s at=1ms")
		st.sleepUntil(time.Millisecond)
		silent.send([]byte("okruok"))
		silent.send([]byte("ruok"))
		st.want(silent, "")
		st.sleepUntil(10 * time.Second)
		st.want(silent, "")
		st.sleepUntil(10*time.Second + time.Millisecond)
		check.Equal(st, readAll(st.T, silent), "imok")
		st.wantConnections(2, 0)
	})
	withFaults(t, func(st *faultTest) {
		silent := rawDial(st, st.Server)
		st.inject("blackhole 10s at=1ms")
		st.sleepUntil(time.Millisecond)
		silent.send([]byte("ruok"))
		late, given := st.sendWord("stmk\x00\x00\x00\x00\x00\x00\x00\x05"), st.sendWord("ruok")
		st.want(late, "")
		check.OK(st, given.Close())
		st.sleepUntil(10 * time.Second)
		st.want(late, "")
		st.sleepUntil(10*time.Second + time.Millisecond)
		check.Equal(st, readAll(st.T, late), "5")
		st.sleepUntil(time.Hour)
		st.want(silent, "") // for ever
	})
	withFaults(t, func(st *faultTest) {
		silent := rawDial(st, st.Server)
		st.StallConnections(time.Second)
		silent.send([]byte("ruok"))
		st.inject("refuse 10s at=1ms")
		st.sleepUntil(time.Second)
		st.want(silent, "reset")
	})
	withFaults(t, func(st *faultTest) {
		silent := rawDial(st, st.Server)
		st.StallConnections(time.Hour)
		silent.send([]byte("ruok"))
		st.ClearFaults()
		check.Equal(st, readAll(st.T, silent), "imok")
	})
}

// servedLinks is how many connections the server knows.
func servedLinks(s *Server) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.links.byID {
		if l.served {
			n++
		}
	}
	return n
}
