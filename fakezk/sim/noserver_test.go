package sim

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/zkclient"
	"github.com/zksim/zksim/internal/check"
)

// asks calls exists until a request is answered, and tells what each call came to.
func asks(s *stage) {
	for err := error(zk.ErrNoServer); err != nil; {
		_, _, err = s.Conn().Exists("/")
		s.writeLine("%v", err)
	}
}

func (p *play) linesOf(client string) (list []string) {
	for _, line := range p.lines {
		if line.client == client {
			list = append(list, line.what)
		}
	}
	return list
}

// TestQueuedRequestsFailOnceASecond while dials are refused or hang, and never if one of several
// servers is up.
func TestQueuedRequestsFailOnceASecond(t *testing.T) {
	const lost, none, ok = "zk: connection closed", "zk: could not connect to a server", "<nil>"
	for _, c := range []struct {
		plan string
		want []string
	}{
		{"refuse 3500ms request=1", []string{lost, none, none, none, none, ok}},
		{"restart 3500ms request=1", []string{lost, none, none, none, none, ok}},
		{"blackhole 9s request=1", []string{lost, none, none, ok}}, // dials take a second, too
		{"refuse 2500ms at=1ns", []string{none, none, none, ok}},
	} {
		p := perform(t, c.plan, asks)
		check.List(t, p.linesOf("a"), c.want, "%s: told", c.plan)
	}
	p := performIn(t, World{Seed: 7, Servers: 3}, "restart 3500ms request=1", asks)
	check.List(t, p.linesOf("a"), []string{lost, ok}, "of three servers one restarts: told")
}

// TestAllQueuedRequestsFail, also those that find the client's queue full, in the same order in
// each run; those that follow wait for the next dial.
func TestAllQueuedRequestsFail(t *testing.T) {
	marks.Expect(t, "requests without a server")
	run := func() string {
		var mu sync.Mutex
		var lines []string
		p := perform(t, "refuse 500ms at=1ns", func(s *stage) {
			var all sync.WaitGroup
			for i := range 40 {
				all.Go(func() {
					for err := error(zk.ErrNoServer); err != nil; {
						_, err = s.Conn().Multi(&zk.CreateRequest{
							Path: fmt.Sprint("/n", i), Acl: worldACL,
						})
						mu.Lock()
						lines = append(lines, fmt.Sprint(i, " ", err))
						mu.Unlock()
					}
				})
			}
			all.Wait()
		})
		if n := strings.Count(strings.Join(lines, "\n"), zk.ErrNoServer.Error()); n != 40 ||
			len(lines) != 80 {
			t.Errorf("%d of %d calls failed; want 40 of 80", n, len(lines))
		}
		return strings.Join(lines[:40], "\n") + p.Trace.String()
	}
	first := run()
	for range 5 {
		if again := run(); again != first {
			t.Fatalf("two runs differ:\n%s\n%s", first, again)
		}
	}
}

// TestNoServerIsAsARealClientHasIt: a client with its own host provider, whose dials are refused
// from the beginning, fails calls as often as one in a World. A call that follows a failed one at
// the same instant may fail with it outside of a World, so it does not count.
func TestNoServerIsAsARealClientHasIt(t *testing.T) {
	var real []string
	synctest.Test(t, func(t *testing.T) {
		conn, _, err := zk.Connect([]string{"127.0.0.1:1"}, 10*time.Second,
			zk.WithLogger(zkclient.Quiet{}), zk.WithDialer(
				func(string, string, time.Duration) (net.Conn, error) {
					time.Sleep(10 * time.Millisecond)
					return nil, syscall.ECONNREFUSED
				}))
		check.OK(t, err)
		for began := time.Now(); ; {
			asked := time.Now()
			_, _, err := conn.Exists("/")
			if time.Since(began) > 4*time.Second {
				break
			}
			if time.Now().After(asked) {
				real = append(real, fmt.Sprint(err))
			}
		}
		conn.Close()
	})
	p := perform(t, "refuse 4s at=1ns", asks)
	simulated := p.linesOf("a")
	if simulated = simulated[:len(simulated)-1]; !slices.Equal(simulated, real) {
		t.Errorf("told %q; the client: %q", simulated, real)
	}
}
