package scenario_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// lookAt sends a request.
func lookAt(conn *zk.Conn, path string) error {
	_, _, err := conn.Exists(path)
	return err
}

// lookInto sends another request.
func lookInto(conn *zk.Conn, path string) error {
	if _, _, err := conn.Get(path); err != zk.ErrNoNode {
		return err
	}
	return nil
}

// TestSenderIsThePlaceInTheCode of the first request that differs, and that of the same run. If two
// runs send it at two places, both are told.
func TestSenderIsThePlaceInTheCode(t *testing.T) {
	var runs atomic.Int64
	s := unseen(func(p *scenario.Player) {
		path := "/same"
		if p.Name() == "a" {
			path = fmt.Sprintf("/run-%d", runs.Add(1))
		}
		p.Do("look", "", func(context.Context) (linearizability.Result, error) {
			if err := lookAt(p.Conn(), "/first"); err != nil {
				return linearizability.Result{}, err
			}
			if path == "/run-4" || path == "/run-6" {
				return linearizability.Result{}, lookInto(p.Conn(), path)
			}
			return linearizability.Result{}, lookAt(p.Conn(), path)
		})
	})
	first, second := run(t, s), run(t, s)
	const want = "request #3 of client a is sent at sender_test.go:17 in scenario_test.lookAt: " +
		"exists /run-3\nin another run request #3 of client a is sent at sender_test.go:23 in " +
		"scenario_test.lookInto: getData /run-4"
	if got := first.Sender(second); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	d := first.Difference(second)
	if !strings.Contains(d, "/run-1") || !strings.Contains(d, "/run-2") {
		t.Errorf("difference %q; want both paths", d)
	}
}
