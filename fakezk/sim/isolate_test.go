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

// TestAnIsolatedFollowerAnswersOldReads, and its clients' writes wait, until it reaches the others
// again.
func TestAnIsolatedFollowerAnswersOldReads(t *testing.T) {
	p := ensemble(t, "isolate 3s client=b at=500ms", createPath, pollNode)
	between(t, "the node", p.change(t, trace.NodeCreated, "/x"), second, 1500*time.Millisecond)
	between(t, "its sight", p.when(t, "exists: true"), 3500*time.Millisecond, 3700*time.Millisecond)

	p = ensemble(t, "isolate 3s client=b op=create request=1", func(s *stage) { s.Conn() },
		func(s *stage) { s.create("/y", 0) })
	between(t, "the create", p.change(t, trace.NodeCreated, "/y"), 3*second, 3500*time.Millisecond)
	p.wantLines(t, "b", "create /y: <nil>")
}

// short has sessions that end before an isolated server gives up.
var short = World{SessionTimeout: 4 * second}

// TestASessionEndsWhileItsServerIsIsolated: the client goes on reading, its own node too, until the
// server gives up.
func TestASessionEndsWhileItsServerIsIsolated(t *testing.T) {
	p := ensembleIn(t, short, "isolate 30s client=b at=1s", func(s *stage) { s.Conn() },
		func(s *stage) {
			s.create("/e", zk.FlagEphemeral)
			for s.Now() < 20*second {
				if exists, _, err := s.Conn().Exists("/e"); err == nil && !exists {
					s.writeLine("my node is gone")
					return
				}
				_ = s.Sleep(s.ctx, 100*time.Millisecond)
			}
		})
	between(t, "the end of the session", p.change(t, trace.NodeDeleted, "/e"), 4*second, 7*second)
	between(t, "the client's notice", p.notice(t, "b", trace.Disconnected, 1), 11*second,
		11500*time.Millisecond)
	between(t, "the news", p.when(t, "my node is gone"), 11*second, 13*second)
}

// TestIsolationsThatOverlapAreOne: together they last for longer than a server waits for the
// others.
func TestIsolationsThatOverlapAreOne(t *testing.T) {
	marks.Expect(t, "isolated for longer")
	p := ensemble(t, `
		isolate 8s server=2 at=1s
		isolate 8s server=2 at=6s`, func(s *stage) { s.Conn() }, func(s *stage) {
		s.Conn()
		_ = s.Sleep(s.ctx, 20*second)
	})
	between(t, "the client's notice", p.notice(t, "b", trace.Disconnected, 1), 11*second,
		11500*time.Millisecond)
	check.Equal(t, strings.Count(p.Trace.String(), "server 2 reaches the others again"), 1,
		"times that server 2 is back with the others")
}

// TestAServerPutOffDoesNotLead: without a majority a server is elected to lead when it is back. If
// it is to be back later, another one leads, as soon as two reach each other.
func TestAServerPutOffDoesNotLead(t *testing.T) {
	marks.Expect(t, "server put off again")
	for _, kind := range []string{"isolate", "restart"} {
		for seed := range uint64(8) { // by which another server is elected
			p := performIn(t, World{Seed: seed, Servers: 3}, kind+` 20s server=2 at=1s
				`+kind+` 20s server=3 at=2s
				isolate 20s server=2 at=15s`, func(s *stage) {
				_ = s.Sleep(s.ctx, 22*second)
				s.create("/x", 0)
			}, func(s *stage) { s.Conn() })
			between(t, "the node", p.change(t, trace.NodeCreated, "/x"), 22*second, 26*second)
		}
	}
}

// TestAnIsolatedLeaderLosesItsWrites, and the lead. No session ends, and reads go on. It gives up a
// tick after the others.
func TestAnIsolatedLeaderLosesItsWrites(t *testing.T) {
	reads := func(s *stage) {
		s.create("/e-"+s.Name(), zk.FlagEphemeral)
		for s.Now() < 15*second {
			if _, _, err := s.Conn().Exists("/x"); err == nil {
				s.writeLine("reads at %s", s.Now())
			}
			_ = s.Sleep(s.ctx, second)
		}
	}
	p := ensembleIn(t, short, "isolate 30s client=a at=2s", reads, reads)
	for client, lost := range map[string]time.Duration{"a": 14 * second, "b": 12 * second} {
		if got := p.notices(client); !slices.Equal(got[max(0, len(got)-2):], reconnects[1:]) {
			t.Errorf("%s was told %v", client, got)
		}
		between(t, "the loss", p.notice(t, client, trace.Disconnected, 1), lost,
			lost+500*time.Millisecond)
	}
	for _, c := range p.Changes {
		if c.Kind == trace.NodeDeleted && c.Time < 14*second {
			t.Errorf("a session ends at %s", c.Time)
		}
	}
	check.Equal(t, p.changes(trace.NodeDeleted, "/e-a"), 0, "ends of the session of a")
	check.Contains(t, p.Trace.String(), "is elected and leads from 12.5", "no other leader")
	p = ensembleIn(t, short, "isolate 30s client=a at=500ms", func(s *stage) {
		s.Conn()
		_ = s.Sleep(s.ctx, second)
		s.create("/lost", 0)
	}, func(s *stage) { s.Conn() })
	check.Equal(t, p.changes(trace.NodeCreated, "/lost"), 0,
		"applications of the isolated leader's write")
}

// TestWithoutAMajorityTheLeaderIsAlone: two followers of three are isolated.
func TestWithoutAMajorityTheLeaderIsAlone(t *testing.T) {
	p := ensemble(t, `
		isolate 4s server=2 at=500ms
		isolate 5s server=3 at=600ms`, createPath, pollNode)
	between(t, "the create", p.change(t, trace.NodeCreated, "/x"), 4500*time.Millisecond,
		4600*time.Millisecond)
	between(t, "its sight", p.when(t, "exists: true"), 4500*time.Millisecond, 4700*time.Millisecond)
}
