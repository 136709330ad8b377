package fuzz

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
)

// hurried is a test of a binary with a time limit.
type hurried struct {
	failing
	limit time.Time
}

func (h *hurried) Deadline() (time.Time, bool) { return h.limit, !h.limit.IsZero() }

// TestEndedTestsSayHowFarTheyGot ends tests by their time limit and by a signal.
func TestEndedTestsSayHowFarTheyGot(t *testing.T) {
	t.Chdir(t.TempDir())
	defer func(runs int) { *flagRuns = runs }(*flagRuns)
	*flagRuns = 10_000_000
	// Go 1.25 says only that the context is canceled.
	const far = `^zksim: not tried to its end: .*(-timeout|terminated|canceled).*; no violation until then ` +
		`in [1-9]\d* of [1-9]\d* fault points and \d+ of 10000000 other scenarios$`
	for _, signalled := range []bool{false, true} {
		var h hurried
		if !signalled {
			h.limit = time.Now().Add(300 * time.Millisecond)
		}
		var plays atomic.Int64
		w := scenario.Workload{Name: "own", Impl: "right", Judge: scenario.Invariants()}
		w.Play = func(p *scenario.Player, _ scenario.Script) {
			_ = p.Call("create", "", func(context.Context) error {
				_, err := p.Conn().Create("/node", nil, 0, zk.WorldACL(zk.PermAll))
				return err
			})
			if signalled && plays.Add(1) == 200 {
				self, err := os.FindProcess(os.Getpid())
				check.OK(t, err)
				check.OK(t, self.Signal(syscall.SIGTERM))
			}
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Test(&h, w)
		}()
		<-ended
		if !regexp.MustCompile(far).MatchString(h.text) {
			t.Errorf("%q; want %s", h.text, far)
		}
		notes, err := filepath.Glob(notesDir + "/*")
		check.OK(t, err)
		check.Equal(t, len(notes), 0, "notes: %q", notes)
	}
}
