package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// long has sessions that outlive a server that stands still.
var long = World{SessionTimeout: 40 * second}

// syncs asks for a node every 200 ms, each time after a sync.
func syncs(s *stage) {
	for s.Now() < 20*second {
		_, err := s.Conn().Sync("/x")
		if exists, _, readErr := s.Conn().Exists("/x"); err == nil && readErr == nil {
			s.writeLine("exists: %v at %s", exists, s.Now())
		}
		_ = s.Sleep(s.ctx, 200*time.Millisecond)
	}
}

// deposed lets a ask the leader, server 1, after syncs. At 11.6 s, when the others have elected
// another leader, b begins a session and writes. It takes a seed by which b writes by the new
// leader, so that the write is answered before a time.
func deposed(t *testing.T, plan string, answered time.Duration) *play {
	t.Helper()
	for seed := range uint64(100) {
		w := long
		w.Seed, w.Servers = seed, 3
		p := performIn(t, w, plan, syncs, func(s *stage) {
			_ = s.Sleep(s.ctx, 11600*time.Millisecond)
			s.create("/x", 0)
		})
		created := slices.IndexFunc(p.lines, func(l scriptLine) bool { return l.client == "b" })
		if created >= 0 && p.lines[created].at < answered &&
			p.notice(t, "a", trace.Disconnected, 1) > answered {
			return p
		}
	}
	t.Fatal("no seed lets a stay with the old leader, and b write by the new one")
	return nil
}

// TestADeposedLeaderAnswersOldSyncs until it notices that others have elected another leader: one
// tick after it goes on, or after they have given it up.
func TestADeposedLeaderAnswersOldSyncs(t *testing.T) {
	for plan, noticed := range map[string]time.Duration{
		"pause-server 15s server=1 at=1s": 18 * second,
		"isolate 30s server=1 at=1s":      13 * second,
		"isolate 10s server=1 at=1s":      13 * second,
	} {
		p := deposed(t, plan, noticed-500*time.Millisecond)
		wrote, old := p.when(t, "create /x: <nil>"), 0
		for _, line := range p.lines {
			if line.client == "a" && line.at > wrote && line.at < noticed {
				old++
				check.Equal(t, line.what[:len("exists: false")], "exists: false", "%s", plan)
			}
		}
		if old == 0 {
			t.Errorf("%s: no old answer", plan)
		}
		between(t, plan+": the notice", p.notice(t, "a", trace.Disconnected, 1), noticed,
			noticed+100*time.Millisecond)
		between(t, plan+": the new answer", p.when(t, "exists: true"), noticed,
			noticed+2*second)
		check.Equal(t, slices.Contains(p.notices("a"), trace.SessionExpired), false,
			"%s: a has lost its session", plan)
	}
}

// TestADeposedLeaderCommitsNothing: a write of its client is lost with the connection.
func TestADeposedLeaderCommitsNothing(t *testing.T) {
	p := ensembleIn(t, long, "pause-server 15s server=1 at=1s", func(s *stage) {
		s.Conn()
		_ = s.Sleep(s.ctx, 16500*time.Millisecond)
		_, err := s.Conn().Create("/lost", nil, 0, worldACL)
		s.writeLine("create: %v", err)
	}, func(s *stage) { s.Conn() })
	check.Equal(t, p.changes(trace.NodeCreated, "/lost"), 0, "creations")
	between(t, "the error", p.when(t, "create: zk: connection closed"), 18*second, 18100*time.Millisecond)
}

// TestAServerStandsStill, a follower or the leader, for less than the others wait: its clients
// wait, and all goes on.
func TestAServerStandsStill(t *testing.T) {
	for server, other := range map[string]time.Duration{"1": 4 * second, "2": second} {
		p := ensembleIn(t, long, "pause-server 3s at=1s server="+server, func(s *stage) {
			s.Conn()
			_ = s.Sleep(s.ctx, 1100*time.Millisecond)
			s.create("/x", 0)
		}, func(s *stage) {
			s.Conn()
			_ = s.Sleep(s.ctx, 1100*time.Millisecond)
			_, _, err := s.Conn().Exists("/")
			s.writeLine("read: %v at %s", err, s.Now())
			s.create("/y", 0)
		})
		between(t, "the create at the leader", p.change(t, trace.NodeCreated, "/x"), other,
			other+200*time.Millisecond)
		between(t, "the read at the follower", p.when(t, "read: <nil>"), 5*second-other,
			5200*time.Millisecond-other)
		between(t, "the create at the follower", p.change(t, trace.NodeCreated, "/y"), 4*second,
			4200*time.Millisecond)
		for _, client := range []string{"a", "b"} {
			check.Equal(t, slices.Contains(p.notices(client), trace.Disconnected), false,
				"%s is disconnected", client)
		}
	}
}

// TestAFollowerLeftBehindJoins when it goes on: its connections end.
func TestAFollowerLeftBehindJoins(t *testing.T) {
	p := ensembleIn(t, long, "pause-server 12s server=2 at=1s", createPath, func(s *stage) {
		s.Conn()
		_ = s.Sleep(s.ctx, 2*second)
		s.create("/y", 0)
	})
	between(t, "the notice", p.notice(t, "b", trace.Disconnected, 1), 13*second, 13100*time.Millisecond)
	check.Equal(t, strings.Contains(p.Trace.String(), "is elected"), false, "an election")
}

// TestALeaderThatStandsStillEndsSessions whose time has run out, as soon as it goes on: it has
// heard of nobody.
func TestALeaderThatStandsStillEndsSessions(t *testing.T) {
	p := ensembleIn(t, short, "pause-server 8s server=1 at=1s", func(s *stage) { s.Conn() },
		func(s *stage) {
			s.create("/e", zk.FlagEphemeral)
			_ = s.Sleep(s.ctx, 20*second)
		})
	between(t, "the end", p.change(t, trace.NodeDeleted, "/e"), 9*second, 9100*time.Millisecond)
}

// TestADeposedLeaderStandsStill before it has noticed: it notices when it goes on.
func TestADeposedLeaderStandsStill(t *testing.T) {
	marks.Expect(t, "notices later")
	p := ensembleIn(t, long, `
		isolate 10s server=1 at=1s
		pause-server 7s server=1 at=12s`, func(s *stage) {
		s.Conn()
		_ = s.Sleep(s.ctx, 20*second)
	}, createPath)
	between(t, "the notice", p.notice(t, "a", trace.Disconnected, 1), 19*second,
		19100*time.Millisecond)
}

// TestADeposedLeaderEndsSessionsForItself: a client that comes back to it hears that its session
// has expired, and the others know the session still.
func TestADeposedLeaderEndsSessionsForItself(t *testing.T) {
	marks.Expect(t, "session ended apart")
	for seed := range uint64(100) {
		p := performIn(t, World{Seed: seed, Servers: 3, SessionTimeout: 12 * second},
			"pause-server 16s server=1 at=1s", func(s *stage) {
				s.create("/e", zk.FlagEphemeral)
				_ = s.Sleep(s.ctx, 30*second)
			}, func(s *stage) { s.Conn() })
		for _, n := range p.Notices {
			if n.Client == "a" && n.Kind == trace.SessionExpired && n.Time < 19*second {
				between(t, "the end of its node", p.change(t, trace.NodeDeleted, "/e"), 23*second,
					26*second)
				return
			}
		}
	}
	t.Error("no seed lets a come back to the old leader")
}

// TestAllServersThatCanLeadAreApart: one was deposed, one stands still, and the leader of the rest
// goes down. The two elect a leader when both are back.
func TestAllServersThatCanLeadAreApart(t *testing.T) {
	marks.Expect(t, "all are apart")
	for seed := range uint64(8) { // by which another server is elected
		w := long
		w.Seed, w.Servers = seed, 3
		p := performIn(t, w, `
			pause-server 15s server=1 at=1s
			pause-server 4s server=3 at=12s
			failover-lose 60s at=13s`, func(s *stage) {
			_ = s.Sleep(s.ctx, 18*second)
			s.create("/x", 0)
		}, func(s *stage) { s.Conn() })
		between(t, "the node", p.change(t, trace.NodeCreated, "/x"), 18*second, 30*second)
	}
}
