package fakezk

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
)

// TestAnIsolatedServerGivesUp after five ticks: its clients move. Sessions of its clients have
// ended by then, as the leader has not heard of them.
func TestAnIsolatedServerGivesUp(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		short, _ := e.ConnectAs(t, Client{Name: "short", Server: 2, Timeout: 4 * time.Second})
		_, err := short.Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		check.OK(t, err)
		any, _ := e.ConnectAs(t, Client{Name: "any"})
		e.inject("isolate 1m server=2 at=1ns")
		time.Sleep(9 * time.Second)
		e.reads(2, "/e", "")
		exists, _, err := short.Exists("/e")
		check.OK(t, err)
		check.Equal(t, exists, true, "the node at server 2")
		e.CheckGone(t, "/e")
		check.Equal(t, e.Serves(2), true, "server 2 serves")
		time.Sleep(2 * time.Second)
		check.Equal(t, e.Serves(2), false, "server 2 serves")
		check.Equal(t, e.Leader(), 3, "leader")
		_, _, err = any.Get("/")
		check.OK(t, err)
		time.Sleep(time.Minute)
		check.Equal(t, e.Serves(2), true, "server 2 serves")
		e.set(2, "/b", "x")
	})
}

// TestIsolationsThatOverlapAreOne: together they last for longer than a server waits for the
// others. It is back when the last of them is over, also of those that begin after it has given up.
func TestIsolationsThatOverlapAreOne(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		for _, line := range []string{"isolate 8s server=2 at=1s", "isolate 8s server=2 at=6s",
			"isolate 8s server=2 at=12s"} {
			e.inject(line)
		}
		time.Sleep(10500 * time.Millisecond)
		check.Equal(t, e.Serves(2), true, "server 2 serves before it gives up")
		time.Sleep(time.Second)
		check.Equal(t, e.Serves(2), false, "server 2 serves after it gave up")
		time.Sleep(8 * time.Second)
		check.Equal(t, e.Serves(2), false, "server 2 serves in the last isolation")
		time.Sleep(time.Second)
		check.Equal(t, e.Serves(2), true, "server 2 serves with the others")
		e.set(2, "/a", "x")
	})
}

// TestIsolationsThatTouchAreOne, too.
func TestIsolationsThatTouchAreOne(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("isolate 8s server=2 at=1s")
		e.inject("isolate 8s server=2 at=9s")
		time.Sleep(10500 * time.Millisecond)
		check.Equal(t, e.Serves(2), true, "server 2 serves before it gives up")
		time.Sleep(time.Second)
		check.Equal(t, e.Serves(2), false, "server 2 serves after it gave up")
	})
}

// TestAServerPutOffDoesNotLead: without a majority a server is elected to lead when it is back. If
// it is to be back later, another one leads, as soon as two reach each other.
func TestAServerPutOffDoesNotLead(t *testing.T) {
	for _, plan := range putOff {
		inEnsemble(t, func(e *ensembleTest, t *testing.T) {
			for _, line := range plan {
				e.inject(line)
			}
			time.Sleep(21900 * time.Millisecond)
			check.Equal(t, e.Leader(), 0, "leader without a majority")
			time.Sleep(600 * time.Millisecond)
			if leader := e.Leader(); leader != 1 && leader != 3 {
				t.Errorf("server %d leads; expected 1 or 3, which are up", leader)
			}
			check.Equal(t, e.Serves(2), false, "server 2 serves")
			e.set(1, "/a", "x")
			time.Sleep(14 * time.Second)
			check.Equal(t, e.Serves(2), true, "server 2 serves with the others")
		})
	}
}

// putOff are plans in which server 1 is alone, until server 3 is back at 22 s. Server 2 is to be
// back at 21 s, until an isolation puts that off until 35 s.
var putOff = [][]string{
	{"isolate 20s server=2 at=1s", "isolate 20s server=3 at=2s", "isolate 20s server=2 at=15s"},
	{"restart 20s server=2 at=1s", "restart 20s server=3 at=2s", "isolate 20s server=2 at=15s"},
}

// TestAnIsolatedLeaderLosesItsWrites and the lead.
func TestAnIsolatedLeaderLosesItsWrites(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.set(1, "/a", "x")
		time.Sleep(time.Second)
		e.inject("isolate 1m server=3 at=1ns")
		time.Sleep(5 * time.Second)
		e.reads(3, "/a", "x")
		e.reads(1, "/a", "x")
		_, err := e.conns[3].Create("/b", nil, 0, zk.WorldACL(zk.PermAll))
		check.Is(t, err, zk.ErrConnectionClosed)
		check.Equal(t, e.Leader(), 2, "leader")
		time.Sleep(time.Second)
		e.set(1, "/a", "y")
		e.reads(2, "/a", "y")
		e.CheckGone(t, "/b")
		check.Equal(t, len(e.Sessions()), 3, "sessions")
	})
}

// TestClearFaultsBringsServersTogether, and lets go what waits for the leader.
func TestClearFaultsBringsServersTogether(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("isolate 1m server=3 at=1ns")
		time.AfterFunc(3*time.Second, e.ClearFaults)
		time.Sleep(time.Second)
		began := time.Now()
		e.set(1, "/a", "x")
		check.Equal(t, time.Since(began), 2*time.Second, "time for the write")
		e.reads(2, "/a", "x")
	})
}

// TestRestartEndsAnIsolation.
func TestRestartEndsAnIsolation(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		e.inject("isolate 1h server=2 at=1ns")
		time.Sleep(time.Minute)
		check.Equal(t, e.Serves(2), false, "server 2 serves")
		e.Restart(2)
		time.Sleep(5 * time.Second)
		e.set(2, "/a", "x")
		e.reads(2, "/a", "x")
	})
}

// TestClearFaultsLetsTheLeaderHear what the fault has held: a session lives on by a write of which
// the leader hears with its next ping.
func TestClearFaultsLetsTheLeaderHear(t *testing.T) {
	inEnsemble(t, func(e *ensembleTest, t *testing.T) {
		short, _ := e.ConnectAs(t, Client{Name: "short", Server: 2, Timeout: 4 * time.Second})
		e.inject("isolate 1m server=2 at=1ns")
		time.Sleep(time.Second)
		e.mu.Lock()
		session := short.SessionID()
		ends := time.Until(e.engine.Sessions()[3].ExpiresAt)
		e.mu.Unlock()
		ends -= e.opts.TickTime / 2
		time.AfterFunc(ends-20*time.Millisecond, e.ClearFaults)
		time.Sleep(ends - 50*time.Millisecond)
		_, err := short.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		check.OK(t, err)
		time.Sleep(time.Second)
		check.Equal(t, short.SessionID(), session, "session")
		e.reads(1, "/a", "")
	})
}
