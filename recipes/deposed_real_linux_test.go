package recipes_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
	. "github.com/zksim/zksim/recipes"
)

// TestReadsAtARealDeposedLeader: as TestReadsAtADeposedLeader, on a real ensemble whose leader is
// stopped and goes on. On a busy machine it may have noticed before it is asked: then another one
// is.
func TestReadsAtARealDeposedLeader(t *testing.T) {
	if !testrun.Full() {
		t.Skip("a real ensemble takes a quarter of a minute; -full plays it")
	}
	for range 4 {
		if readAtARealDeposedLeader(t) || t.Failed() {
			return
		}
	}
	t.Error("each time the old leader had noticed before it was asked")
}

// readAtARealDeposedLeader reports whether the leader did not know that it was deposed when it was
// asked.
func readAtARealDeposedLeader(t *testing.T) (wasDeposed bool) {
	t.Helper()
	servers := realzk.StartEnsemble(t, 3, realzk.Options{TickTime: time.Second})
	leader := realLeader(t, servers)
	old, beside := realClient(t, servers[leader]), realClient(t, servers[(leader+1)%3])
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	counter, value := NewCounter(beside, "/c"), NewSharedValue(beside, "/v")
	barrier, queue := NewBarrier(beside, "/b"), NewQueue(beside, "/q")
	check.OK(t, errOf(counter.Add(ctx, 1)))
	check.OK(t, errOf(NewCounter(old, "/c").Get(ctx)))

	pid := servers[leader].PID()
	check.OK(t, syscall.Kill(pid, syscall.SIGSTOP))
	check.OK(t, errOf(counter.Add(ctx, 1)))
	check.OK(t, errOf(value.Set(ctx, []byte("new"))))
	check.OK(t, barrier.Set(ctx))
	check.OK(t, queue.Offer(ctx, nil))
	check.OK(t, syscall.Kill(pid, syscall.SIGCONT))

	n, err := NewCounter(old, "/c", SyncOnly()).Get(ctx)
	check.OK(t, err)
	if n != 1 {
		return false
	}
	var reads sync.WaitGroup // all at once, as the old leader notices soon
	for what, read := range map[string]func() (string, error){
		"counter": func() (string, error) {
			n, err := NewCounter(old, "/c").Get(ctx)
			return fmt.Sprint(n), err
		},
		"value": func() (string, error) {
			state, err := NewSharedValue(old, "/v").Get(ctx)
			return string(state.Data), err
		},
		"barrier": func() (string, error) {
			set, err := NewBarrier(old, "/b").IsSet(ctx)
			return fmt.Sprint(set), err
		},
		"queue": func() (string, error) {
			_, ok, err := NewQueue(old, "/q").Poll(ctx)
			return fmt.Sprint(ok), err
		},
	} {
		reads.Go(func() {
			got, err := read()
			want := map[string]string{
				"counter": "2", "value": "new", "barrier": "true", "queue": "true"}[what]
			if got != want || err != nil {
				t.Errorf("the %s: got %s, %v; want %s", what, got, err, want)
			}
		})
	}
	reads.Wait()
	return true
}

func realClient(t *testing.T, s *realzk.Server) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{s.Address()}, 20*time.Second, zk.WithLogInfo(false))
	check.OK(t, err)
	t.Cleanup(conn.Close)
	return conn
}

// realLeader is the number of the leader from 0.
func realLeader(t *testing.T, servers []*realzk.Server) int {
	t.Helper()
	for i, s := range servers {
		text, err := s.Ask(t.Context(), "srvr")
		check.OK(t, err)
		if strings.Contains(text, "Mode: leader") {
			return i
		}
	}
	t.Fatal("no leader")
	return 0
}
