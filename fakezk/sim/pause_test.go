package sim

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

var pauseNotices = []trace.NoticeKind{trace.Connected, trace.Paused, trace.Resumed}

// TestAPauseKeepsOneCallerFromItsReply for longer than a session lives without pings; the request
// is applied, a watch fires, and another goroutine goes on.
func TestAPauseKeepsOneCallerFromItsReply(t *testing.T) {
	p := perform(t, "pause 30s client=a op=exists request=1",
		func(s *stage) {
			s.create("/e", zk.FlagEphemeral)
			s.Goroutines(2, func(g *Goroutine) {
				if g.Number() == 1 {
					_ = g.Sleep(s.ctx, 3*second)
					s.create("/other", 0)
					return
				}
				exists, _, ch, err := s.Conn().ExistsW("/x")
				s.writeLine("goes on: %t %v", exists, err)
				s.writeLine("event %s", (<-ch).Type)
			})
		}, createPath)
	p.wantLines(t, "a", createdE, "create /other: <nil>", "goes on: false <nil>",
		"event EventNodeCreated")
	between(t, "the other goroutine", p.when(t, "/other"), 3*second, 3*second+soon)
	between(t, "the paused one", p.when(t, "goes on"), 30*second, 30*second+soon)
	wantNotices(t, p, "a", pauseNotices)
	between(t, "the change that it was not told of", p.change(t, trace.NodeCreated, "/x"), second,
		second+soon)
	check.Equal(t, p.changes(trace.SessionEnded, ""), 0, "ends of sessions")
}

// TestAPausedCallerIsToldOfALossLater, as of a reply.
func TestAPausedCallerIsToldOfALossLater(t *testing.T) {
	p := perform(t, "pause 3s op=create path=/x request=1\ndrop-reply op=create path=/x request=1",
		twice)
	p.wantLines(t, "a", createdE, lostReply, already)
	between(t, "the loss", p.when(t, lostReply), 3*second, 3*second+soon)
	wantNotices(t, p, "a", []trace.NoticeKind{trace.Connected, trace.Paused, trace.Disconnected,
		trace.Connected, trace.Resumed})
}

// TestTheLongestOfSeveralPausesCounts, in whatever order they are armed.
func TestTheLongestOfSeveralPausesCounts(t *testing.T) {
	for _, plan := range []string{"pause 1s request=2\npause 3s request=2",
		"pause 3s request=2\npause 1s request=2"} {
		p := perform(t, plan, twice)
		p.wantLines(t, "a", createdE, created, already)
		between(t, "the reply", p.when(t, created), 3*second, 3*second+soon)
		wantNotices(t, p, "a", pauseNotices)
	}
}

// TestAPauseIsNoLongerThanAReplyTakes: the time counts from the request.
func TestAPauseIsNoLongerThanAReplyTakes(t *testing.T) {
	p := perform(t, "pause 1s op=create path=/x request=1\nstall 3s op=create path=/x request=1",
		twice)
	p.wantLines(t, "a", createdE, created, already)
	between(t, "the reply", p.when(t, created), 3*second, 3*second+soon)
}

// TestAPauseEndsBeforeTheWorldIsAtRest, although the script has ended long before.
func TestAPauseEndsBeforeTheWorldIsAtRest(t *testing.T) {
	p := perform(t, "pause 1h path=/x request=1", func(s *stage) {
		s.create("/e", zk.FlagEphemeral)
		go func() { s.create("/x", 0); s.create("/y", 0) }()
		_ = s.Sleep(s.ctx, second)
	})
	between(t, "what follows the pause", p.change(t, trace.NodeCreated, "/y"), time.Hour,
		time.Hour+soon)
}

// TestTwoConnectionsHaveTheirOwnCallers, with the same numbers of requests.
func TestTwoConnectionsHaveTheirOwnCallers(t *testing.T) {
	p := perform(t, "pause 3s conn=2 request=1", func(s *stage) {
		s.create("/x", 0)
		other, _ := s.Connect()
		_, _, err := other.Exists("/x")
		s.writeLine("exists: %v", err)
	})
	between(t, "the paused caller", p.when(t, "exists"), 3*second, 3*second+soon)
}

// ownDial is a connection that the client's own code has dialed.
func (s *stage) ownDial() *zk.Conn {
	conn, _, err := zk.Connect([]string{Address}, 10*second, zk.WithLogger(quiet{}),
		zk.WithDialer(func(_, address string, timeout time.Duration) (net.Conn, error) {
			return s.dialDirect(s.ctx, address, time.Now().Add(timeout))
		}))
	if err != nil {
		s.writeLine("connect: %v", err)
	}
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// TestAPauseOnAConnectionOfTheCodesOwn keeps the reply, and all that follows but pings, for longer
// than a session lives without them; the request is applied.
func TestAPauseOnAConnectionOfTheCodesOwn(t *testing.T) {
	p := perform(t, "pause 30s client=a op=exists request=1\npause 3s client=a op=create request=1",
		func(s *stage) {
			conn := s.ownDial()
			defer conn.Close()
			_, err := conn.Create("/e", nil, zk.FlagEphemeral, worldACL)
			s.writeLine("create: %v", err)
			exists, _, ch, err := conn.ExistsW("/x")
			s.writeLine("goes on: %t %v", exists, err)
			s.writeLine("event %s", (<-ch).Type)
			there, _, err := conn.Exists("/e")
			s.writeLine("/e is there: %t %v", there, err)
		}, func(s *stage) {
			_ = s.Sleep(s.ctx, 4*second)
			createPath(s)
		})
	p.wantLines(t, "a", "create: <nil>", "goes on: false <nil>", "event EventNodeCreated",
		"/e is there: true <nil>")
	between(t, "the first one", p.when(t, "create"), 3*second, 3*second+soon)
	between(t, "the paused one", p.when(t, "goes on"), 33*second, 33*second+soon)
	check.Equal(t, p.changes(trace.SessionEnded, "/e"), 0, "ends of sessions")
}

// TestThePausedCodeHearsOfTheEndBehindItsReply, although its session ends before.
func TestThePausedCodeHearsOfTheEndBehindItsReply(t *testing.T) {
	p := perform(t, "pause 3s client=a op=exists request=1\nexpire client=a at=1s",
		func(s *stage) {
			conn := s.ownDial()
			defer conn.Close()
			there, _, err := conn.Exists("/x")
			s.writeLine("exists: %t %v", there, err)
			_, err = conn.Create("/e", nil, 0, worldACL)
			s.writeLine("create: %v", err)
		})
	p.wantLines(t, "a", "exists: false <nil>", "create: zk: connection closed")
	between(t, "the paused one", p.when(t, "exists"), 3*second, 3*second+soon)
}

// TestTheEndOfASessionNamesIt to the code that has dialed two connections.
func TestTheEndOfASessionNamesIt(t *testing.T) {
	var ended, other int64
	p := perform(t, "expire client=a op=exists request=1", func(s *stage) {
		one, two := s.ownDial(), s.ownDial()
		defer one.Close()
		defer two.Close()
		_, _ = two.Create("/x", nil, 0, worldACL)
		other = two.SessionID()
		_, _, _ = one.Get("/x")
		ended = one.SessionID()
		_, _, _ = one.Exists("/x")
		_ = s.Sleep(s.ctx, 5*second)
	})
	for _, n := range p.Result.Notices {
		want := int64(0)
		if n.Kind == trace.SessionExpired {
			want = ended
		}
		check.Equal(t, n.Session, want, "%s", n.Kind)
	}
	check.Equal(t, ended != other && slices.Contains(p.notices("a"), trace.SessionExpired), true,
		"sessions %d and %d, notices %v", ended, other, p.notices("a"))
}
