package fakezk

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// TestARealLeaderThatStandsStill does what fault.PauseServer says: when it goes on it answers syncs
// and reads with old data, until it notices that others have elected another leader. A session
// whose timeout it has slept through it ends for itself, and the others know the session still.
func TestARealLeaderThatStandsStill(t *testing.T) {
	if !testrun.Full() {
		t.Skip("a real ensemble takes half a minute; -full plays it")
	}
	servers := realzk.StartEnsemble(t, 3, realzk.Options{})
	leader := leaderOf(t, servers)
	paused, other := servers[leader], servers[(leader+1)%3]
	at, beside := longConn(t, paused), longConn(t, other)
	_, err := at.Create("/v", []byte("old"), 0, zk.WorldACL(zk.PermAll))
	check.OK(t, err)
	session := at.SessionID()
	short := newWitness(other)
	check.OK(t, short.connect())
	known := short.session.SessionID

	check.OK(t, syscall.Kill(paused.PID(), syscall.SIGSTOP))
	began := time.Now()
	for err = zk.ErrNoServer; err != nil && time.Since(began) < 30*time.Second; {
		_, err = beside.Set("/v", []byte("new"), -1)
	}
	check.OK(t, err)
	t.Logf("the others have written after %s", time.Since(began))
	check.OK(t, short.ping())
	check.OK(t, syscall.Kill(paused.PID(), syscall.SIGCONT))
	back := newWitness(paused)
	back.session = short.session
	refused := back.dial(paused.Address())
	old, began := 0, time.Now()
	for time.Since(began) < 20*time.Second {
		_, err := at.Sync("/v")
		var data []byte
		if err == nil {
			data, _, err = at.Get("/v")
		}
		if err != nil || string(data) != "old" {
			break
		}
		old++
	}
	t.Logf("%d old answers after a sync, for %s", old, time.Since(began))
	check.Equal(t, fmt.Sprint(refused), "the session has expired", "a client that comes back is told")
	check.OK(t, short.ping())
	check.Equal(t, short.session.SessionID, known, "its session at the others")
	check.Equal(t, old > 0, true, "old answers")
	data, _, err := at.Get("/v")
	for err != nil && time.Since(began) < 30*time.Second {
		data, _, err = at.Get("/v")
	}
	check.Equal(t, string(data), "new", "the data then")
	check.Equal(t, at.SessionID(), session, "session")
}

func longConn(t *testing.T, s *realzk.Server) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{s.Address()}, time.Minute, zk.WithLogInfo(false))
	check.OK(t, err)
	t.Cleanup(conn.Close)
	_, _, err = conn.Exists("/")
	check.OK(t, err)
	return conn
}

func newWitness(s *realzk.Server) *witness {
	return &witness{addresses: []string{s.Address()}, rng: rand.New(rand.NewPCG(1, 1)),
		clock: &atomic.Int64{}, timeoutMs: 1000}
}

// ping asks for a node, which the session must outlive.
func (w *witness) ping() error {
	var err error
	for range 50 {
		if w.conn == nil {
			if err = w.connect(); err != nil {
				return err
			}
		}
		if _, _, err = w.call(&proto.GetData{Path: "/v"}); err == nil {
			return nil
		}
		w.lose()
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("ping: %w", err)
}
