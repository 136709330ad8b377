package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/internal/check"
)

// ensemble lets clients a and b play on three servers under a plan, with a seed by which a is
// connected to the leader and b to a follower.
func ensemble(t *testing.T, plan string, a, b func(*stage)) *play {
	t.Helper()
	return ensembleIn(t, World{}, plan, a, b)
}

func ensembleIn(t *testing.T, w World, plan string, a, b func(*stage)) *play {
	t.Helper()
	for seed := range uint64(100) {
		w.Seed, w.Servers = seed, 3
		p := performIn(t, w, plan, a, b)
		first, _, _ := strings.Cut(p.Trace.String(), "connects to server 1 (connection 1)")
		second, _, _ := strings.Cut(p.Trace.String(), "connects to server 2 (connection 1)")
		if lastActor(first) == "a" && lastActor(second) == "b" {
			return p
		}
	}
	t.Fatal("no seed connects a to server 1 and b to server 2")
	return nil
}

// lastActor is the client of the line that a part of a trace ends with.
func lastActor(text string) string {
	words := strings.Fields(text[strings.LastIndexByte(text, '\n')+1:])
	if len(words) != 3 {
		return ""
	}
	return words[2]
}

// pollNode asks for a node every 100 ms.
func pollNode(s *stage) {
	for s.Now() < 8*time.Second {
		if exists, _, err := s.Conn().Exists("/x"); err == nil {
			s.writeLine("exists: %v", exists)
		}
		_ = s.Sleep(s.ctx, 100*time.Millisecond)
	}
}

// TestALaggingServerAnswersOldReads until the fault is over, and writes as soon as it is.
func TestALaggingServerAnswersOldReads(t *testing.T) {
	marks.Expect(t, "write at a lagging server")
	p := ensemble(t, "lag 2s client=b at=500ms", createPath, pollNode)
	made := p.change(t, trace.NodeCreated, "/x")
	between(t, "the node", p.when(t, "exists: true"), 2500*time.Millisecond, 3300*time.Millisecond)
	if made > 1500*time.Millisecond {
		t.Errorf("the node was made at %s", made)
	}
	p = ensemble(t, "lag 2s client=b at=500ms", createPath, func(s *stage) {
		s.Conn()
		_ = s.Sleep(s.ctx, second)
		s.create("/y", 0)
	})
	between(t, "the reply", p.when(t, "create /y: <nil>"), 2500*time.Millisecond, 3*time.Second)
	between(t, "the create", p.change(t, trace.NodeCreated, "/y"), second, 1500*time.Millisecond)
}

// TestALaggingLeaderMeansItsFollowers.
func TestALaggingLeaderMeansItsFollowers(t *testing.T) {
	p := ensemble(t, "lag 2s client=a op=create request=1", createPath, pollNode)
	between(t, "the node", p.when(t, "exists: true"), 3*time.Second, 4*time.Second)
}

// TestFailovers lose the request or its reply; everybody is disconnected, and another server leads.
func TestFailovers(t *testing.T) {
	for kind, created := range map[string]int{"failover-lose": 0, "failover-keep": 1} {
		p := ensemble(t, kind+" 3s client=b op=create request=1",
			func(s *stage) { s.Conn(); _ = s.Sleep(s.ctx, 5*time.Second); s.create("/late", 0) },
			func(s *stage) { s.create("/n", 0) })
		check.Equal(t, p.changes(trace.NodeCreated, "/n"), created,
			"%s: creations", kind)
		for _, client := range []string{"a", "b"} {
			if got := p.notices(client); !slices.Equal(got[max(0, len(got)-2):], reconnects[1:]) {
				t.Errorf("%s: %s was told %v", kind, client, got)
			}
		}
		for _, c := range p.Changes {
			if c.Path == "/late" && c.Zxid>>32 != 1 {
				t.Errorf("%s: zxid %#x after the election", kind, c.Zxid)
			}
		}
		check.Contains(t, p.Trace.String(), "is elected and leads from",
			"%s: no election %s", kind, p.Trace)
	}
}

// TestASlowElection takes longer than the session of a, which lives on: the leader that is elected
// gives it its timeout. The request is lost, and all clients are disconnected until then.
func TestASlowElection(t *testing.T) {
	leaders := map[string]bool{}
	for seed := range uint64(20) {
		p := performIn(t, World{Seed: seed, Servers: 3, SessionTimeout: 4 * second},
			"elect 12s client=a op=setData request=1",
			func(s *stage) {
				s.create("/e", zk.FlagEphemeral)
				_, _ = s.Conn().Set("/e", []byte("lost"), -1)
				_ = s.Sleep(s.ctx, 20*time.Second)
				_, _ = s.Conn().Set("/e", []byte("kept"), -1)
			},
			func(s *stage) { s.Conn(); _ = s.Sleep(s.ctx, 20*time.Second) })
		check.Equal(t, p.changes(trace.NodeCreated, "/e"), 1, "seed %d: creations", seed)
		check.Equal(t, p.changes(trace.DataChanged, "/e"), 1, "seed %d: writes", seed)
		check.Equal(t, p.changes(trace.NodeDeleted, "/e"), 0, "seed %d: ends of the session", seed)
		check.List(t, p.notices("a"), reconnects, "seed %d: a was told", seed)
		_, after, _ := strings.Cut(p.Trace.String(), "elect 12s")
		line, _, _ := strings.Cut(after[strings.Index(after, "is elected")-2:], " from")
		leaders[line] = true
	}
	check.Equal(t, len(leaders), 3, "leaders: %v", leaders)
}

// TestFaultsThatOtherFaultsMake: what docs/hunting.md says of a client that moves, a rolling
// restart and a partition.
func TestFaultsThatOtherFaultsMake(t *testing.T) {
	rests := func(s *stage) { s.Conn(); _ = s.Sleep(s.ctx, 40*time.Second) }
	p := ensemble(t, "cut client=a at=3s", rests, rests)
	lines := strings.Split(p.Trace.String(), "a        connects to server ")
	check.Equal(t, lines[len(lines)-1][0] != '1', true, "the client has moved")

	p = performIn(t, World{Servers: 3}, `
		restart 2s server=1 at=3s
		restart 2s server=2 at=9s
		restart 2s server=3 at=15s`, rests, rests)
	for server := 1; server <= 3; server++ {
		check.Contains(t, p.Trace.String(), fmt.Sprintf("server %d goes down for 2s", server))
	}
	check.Equal(t, len(p.Sessions), 2, "sessions after a rolling restart")

	p = performIn(t, World{Servers: 5}, `
		isolate 20s server=1 at=3s
		isolate 20s server=2 at=3s`, rests)
	text := p.Trace.String()
	elected := strings.Index(text, "is elected")
	check.Equal(t, strings.ContainsAny(text[elected-2:elected], "345"), true, "the larger side elects")
	check.Contains(t, text, "server 1 notices that it leads no more")
}

// TestAClientCountsOnceForAChange, though its old server notifies it, too, which has not heard that
// the connection is lost.
func TestAClientCountsOnceForAChange(t *testing.T) {
	for seed := range uint64(50) {
		p := performIn(t, World{Seed: seed, Servers: 3}, "stall 14s client=a at=1500ms",
			func(s *stage) {
				s.create("/x", 0)
				_, _, change, _ := s.Conn().ExistsW("/x")
				<-change
			},
			func(s *stage) {
				s.Conn()
				_ = s.Sleep(s.ctx, 11*time.Second)
				_ = s.Conn().Delete("/x", -1)
			})
		if len(p.Events) < 2 {
			continue
		}
		for _, c := range p.Changes {
			if c.Kind == trace.NodeDeleted && c.Notified != 1 {
				t.Errorf("the deletion notified %d; want a alone", c.Notified)
			}
		}
		return
	}
	t.Error("no seed has two servers tell a of the deletion")
}

// TestAClientThatMovesReadsNothingOld, though the server to which it moves lags: the handshake
// takes the lag, because the leader answers for the session behind all that it has sent before.
func TestAClientThatMovesReadsNothingOld(t *testing.T) {
	moved := 0
	for seed := range uint64(30) {
		p := performIn(t, World{Seed: seed, Servers: 3}, `
			lag 3s server=1 at=1500ms
			cut client=b at=2500ms`,
			func(s *stage) {
				s.Conn()
				_ = s.Sleep(s.ctx, 2*time.Second)
				s.create("/x", 0)
			},
			func(s *stage) {
				s.Conn()
				_ = s.Sleep(s.ctx, 2400*time.Millisecond)
				pollNode(s)
			})
		_, after, _ := strings.Cut(p.Trace.String(), "connects to server 1 (connection 2)")
		_, after, found := strings.Cut(after, "is told: connected")
		if found {
			moved++
			check.Equal(t, strings.Count(after, "exists: false"), 0,
				"seed %d: old answers after the move", seed)
		}
	}
	check.Equal(t, moved > 0, true, "a client moves to the server that lags")
}

// TestASessionEndsBeforeItsClientThinks, whose follower goes down right after an answer: the leader
// has not heard of the last requests.
func TestASessionEndsBeforeItsClientThinks(t *testing.T) {
	const lastAnswer, timeout = 6700 * time.Millisecond, 10 * time.Second // at least
	shown := false
	for seed := range uint64(20) {
		p := performIn(t, World{Seed: seed, Servers: 3}, `
			restart 20s server=2 at=6860ms
			crash client=b at=6859ms`,
			func(s *stage) { s.Conn(); _ = s.Sleep(s.ctx, 20*time.Second) },
			func(s *stage) {
				s.create("/e", zk.FlagEphemeral)
				for s.Now() < 8*time.Second {
					_, _, _ = s.Conn().Exists("/e")
					_ = s.Sleep(s.ctx, 100*time.Millisecond)
				}
			})
		if !strings.Contains(p.Trace.String(), "b        connects to server 2 (connection 1)") {
			continue
		}
		shown = shown || p.change(t, trace.NodeDeleted, "/e") < lastAnswer+timeout
	}
	check.Equal(t, shown, true, "a session ends early")
}

// TestALeaderIsBehindItsFollower in some run: the leader answers a read with less than a follower
// has acknowledged before.
func TestALeaderIsBehindItsFollower(t *testing.T) {
	for seed := range uint64(200) {
		p := performIn(t, World{Seed: seed, Servers: 3}, "",
			func(s *stage) { s.Conn(); _ = s.Sleep(s.ctx, time.Second); s.create("/x", 0) },
			func(s *stage) {
				s.Conn()
				_ = s.Sleep(s.ctx, 990*time.Millisecond)
				for s.Now() < 1100*time.Millisecond {
					exists, _, _ := s.Conn().Exists("/x")
					s.writeLine("exists: %v", exists)
				}
			})
		text := p.Trace.String()
		if !strings.Contains(text, "b        connects to server 1 ") ||
			strings.Contains(text, "a        connects to server 1 ") {
			continue // server 1 leads
		}
		_, after, _ := strings.Cut(text, "<- create: ok")
		if reply := strings.Index(after, "-> #"); reply >= 0 &&
			strings.Contains(lineOf(after[reply:]), "NoNode") {
			return
		}
	}
	t.Error("no seed shows it")
}

// lineOf is the first line of a text.
func lineOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// TestEnsembleFaultsNeedAnEnsemble: one server refuses them.
func TestEnsembleFaultsNeedAnEnsemble(t *testing.T) {
	w := World{Plan: []fault.Fault{{Kind: fault.Lag, For: 2 * second, Client: "a", Request: 1}},
		Clients: lockers(1, 1)}
	err := w.Validate()
	want := `fault 1: "lag 2s client=a request=1" needs an ensemble of several servers`
	check.Equal(t, fmt.Sprint(err), want)
}
