package engine

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// TestAWrongPasswordEndsBothConnections: the present one of the session, too. The session lives on.
func TestAWrongPasswordEndsBothConnections(t *testing.T) {
	marks.Expect(t, "wrong password")
	b := newBench(t, nil)
	session := b.e.SessionOf(b.connect(9 * time.Second))
	b.e.Open(2, 0, "127.0.0.1", b.now)
	hello := wire.AppendConnectRequest(nil, proto.ConnectRequest{
		TimeoutMs: 9000, SessionID: session, Password: make([]byte, 16),
	})
	r := b.take(b.e.Handle(2, hello[4:], b.now))
	check.Equal(t, r.Request.Session, 0, "the session of the answer")
	b.wantOutputs("1:closed@0 2:closed@0")
	b.connectTo(0, session, 9*time.Second)
}

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
