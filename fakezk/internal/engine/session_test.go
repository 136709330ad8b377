package engine

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// TestALateReapComesAfterARestart that it finds due: a server that restarts ends no session.
func TestALateReapComesAfterARestart(t *testing.T) {
	marks.Expect(t, "late reap after a restart")
	b := newBench(t, nil)
	watcher, owner := b.connect(20*time.Second), b.connect(20*time.Second)
	b.must(owner, create("/e", proto.FlagEphemeral))
	b.take(must(b.e.ExpireLate(b.e.SessionOf(owner), b.now.Add(time.Second))))
	b.now = b.now.Add(3 * time.Second)
	session := b.e.SessionOf(watcher)
	b.take(b.e.Restart(b.now))
	b.must(b.connectTo(0, session, 20*time.Second), exists("/e"))
	b.wait(time.Millisecond)
	b.wantOutputs("3:NodeDeleted /e@3001")
}
