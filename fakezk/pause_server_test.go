package fakezk

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// TestADeposedLeaderAnswersOldSyncs, after it has stood still, or cut off from the others, until it
// notices that another server leads. Then its clients see what was written.
func TestADeposedLeaderAnswersOldSyncs(t *testing.T) {
	for plan, notices := range map[string]time.Duration{
		"pause-server 12s server=3 at=1s": 15 * time.Second,
		"isolate 12s server=3 at=1s":      13 * time.Second,
		"isolate 10s server=3 at=1s":      13 * time.Second,
	} {
		inEnsemble(t, func(e *ensembleTest, t *testing.T) {
			began := time.Now()
			e.conns[3], _ = e.ConnectAs(t, Client{Name: "old", Server: 3, Timeout: 40 * time.Second})
			session := e.conns[3].SessionID()
			e.set(1, "/a", "old")
			e.inject(plan)
			time.Sleep(time.Second)
			check.Equal(t, e.Leader(), 3, "%s: the leader", plan)
			time.Sleep(11 * time.Second)
			check.Equal(t, e.Leader(), 2, "%s: the new leader", plan)
			e.set(1, "/a", "new")
			time.Sleep(time.Until(began.Add(notices - 500*time.Millisecond)))
			_, err := e.conns[3].Sync("/a")
			check.OK(t, err)
			e.reads(3, "/a", "old")
			time.Sleep(time.Until(began.Add(notices + 3*time.Second)))
			e.set(3, "/b", "x")
			e.reads(3, "/a", "new")
			check.Equal(t, e.conns[3].SessionID(), session, "%s: session", plan)
		})
	}
}

// TestAServerStandsStill: its clients wait, and those of the others do not, if it does not lead.
func TestAServerStandsStill(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("pause-server 4s server=2 at=1s")
		time.Sleep(2 * time.Second)
		began := time.Now()
		e.set(1, "/a", "x")
		check.Equal(t, time.Since(began), 0, "time for a write")
		_, _, err := e.conns[2].Exists("/a")
		check.OK(t, err)
		check.Equal(t, time.Since(began), 3*time.Second, "time for a read at server 2")
		e.inject("pause-server 4s server=3 at=1ns")
		time.Sleep(time.Second)
		began = time.Now()
		e.reads(1, "/a", "x")
		check.Equal(t, time.Since(began), 0, "time for a read beside the leader")
		e.set(1, "/a", "y")
		check.Equal(t, time.Since(began).Round(time.Second), 3*time.Second,
			"time for a write by way of the leader")
	})
}

// TestClearFaultsLetsServersGoOn, and those join the others without which they have gone on.
func TestClearFaultsLetsServersGoOn(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("pause-server 1h server=3 at=1ns")
		time.Sleep(12 * time.Second)
		e.set(1, "/a", "x")
		e.ClearFaults()
		time.Sleep(3 * time.Second)
		e.reads(3, "/a", "x")
		e.set(3, "/a", "y")
		e.reads(2, "/a", "y")
	})
}

// TestRestartEndsTheTimeInWhichAServerStandsStill.
func TestRestartEndsTheTimeInWhichAServerStandsStill(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("pause-server 1h server=3 at=1ns")
		time.Sleep(12 * time.Second)
		e.set(1, "/a", "x")
		e.Restart(3)
		time.Sleep(3 * time.Second)
		e.reads(3, "/a", "x")
	})
}

// TestAllServersThatCanLeadAreApart: one was deposed, one stands still, and the leader of the rest
// stops. The two elect a leader when both are back.
func TestAllServersThatCanLeadAreApart(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("pause-server 15s server=3 at=1s")
		e.inject("pause-server 4s server=1 at=12s")
		time.Sleep(13 * time.Second)
		check.Equal(t, e.Leader(), 2, "the leader")
		e.Stop(2)
		time.Sleep(6 * time.Second)
		check.Equal(t, e.Leader(), 3, "the leader when both are back")
		time.Sleep(3 * time.Second)
		e.set(1, "/a", "x")
		e.reads(3, "/a", "x")
	})
}

// TestARequestComesBeforeTheAlarm, when a server is about to join the others that has stood still
// or believed to lead: it waits. Time passes here while the server is locked, so it is real.
func TestARequestComesBeforeTheAlarm(t *testing.T) {
	ends := func(in *injector, server int) time.Duration {
		return max(in.net.BelievesUntil(server), in.net.PausedUntil(server, in.now()))
	}
	for server, stops := range map[int]int{2: 3, 3: 0} { // server 3 leads
		s := Start(t, Options{Servers: 3, TickTime: 20 * time.Millisecond,
			MaxSessionTimeout: time.Minute})
		c, _ := s.ConnectAs(t, Client{Server: server, Timeout: 10 * time.Second})
		injectLine(t, s, fmt.Sprintf("pause-server 500ms server=%d at=1ns", server))
		time.Sleep(250 * time.Millisecond)
		if stops > 0 {
			s.Stop(stops)
		}
		s.mu.Lock()
		check.Equal(t, s.absences.servers.IsApart(server-1), true, "server %d is apart", server)
		l := s.links.of(c.SessionID())[0]
		time.Sleep(time.Until(s.faults.began.Add(ends(s.faults, server-1))))
		hangs := time.AfterFunc(10*time.Second, func() { panic("the server does not come back") })
		s.pipeline.receive(l, wire.AppendRequest(nil, 1, &proto.Delete{Path: "/x"}))
		s.mu.Unlock()
		hangs.Stop()
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
			if _, err := c.Create("/x", []byte("x"), 0, zk.WorldACL(zk.PermAll)); err == nil {
				break
			}
		}
		s.CheckGet(t, "/x", "x")
	}
}

// TestGarbageAtAServerThatStandsStill ends the connection when the server goes on.
func TestGarbageAtAServerThatStandsStill(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("pause-server 4s server=1 at=1ns")
		time.Sleep(time.Second)
		began := time.Now()
		r := rawDial(t, e.Server)
		r.send([]byte{0xff, 0xff, 0xff, 0xff})
		r.wantClosed()
		check.Equal(t, time.Since(began).Round(time.Second), 3*time.Second, "time to the end")
	})
}

// TestAServerApartRestarts by a fault: it is with the others when it is back.
func TestAServerApartRestarts(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("pause-server 15s server=3 at=1ns")
		time.Sleep(12 * time.Second)
		e.set(1, "/a", "x")
		e.inject("restart 2s server=3 at=1ns")
		time.Sleep(5 * time.Second)
		e.reads(3, "/a", "x")
		e.set(3, "/a", "y")
		e.reads(1, "/a", "y")
	})
}
