package engine

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// TestALeaderThatIsApart answers from its tree, also after a sync, and takes its clients back,
// until it joins the others.
func TestALeaderThatIsApart(t *testing.T) {
	b := ensembleBench(t)
	old := b.connectTo(0, 0, 20*time.Second)
	session := b.e.SessionOf(old)
	b.e.Leave(0)
	b.take(b.e.Elect(2, b.now))
	b.wantOutputs("")
	writer := b.connectTo(2, 0, 20*time.Second)
	b.must(writer, create("/n", 0))
	b.followAll()
	b.must(old, &proto.Sync{Path: "/"})
	check.Equal(t, b.ask(old, exists("/n")).Err, proto.NoNode, "the old leader says")
	back := b.connectTo(0, session, 20*time.Second)
	check.Equal(t, b.e.SessionOf(back), session, "the session of the client that came back")
	b.take(b.e.Down(0, b.now))
	b.wantOutputs("3:closed@0") // the first is over since the client came back
	back = b.connectTo(0, session, 20*time.Second)
	b.must(back, exists("/n"), create("/m", 0))
}

// TestTheOthersHearNothingOfAServerApart: requests there do not keep a session alive.
func TestTheOthersHearNothingOfAServerApart(t *testing.T) {
	b := ensembleBench(t)
	old := b.connectTo(0, 0, 5*time.Second)
	session := b.e.SessionOf(old)
	b.e.Leave(0)
	b.take(b.e.Elect(2, b.now))
	for range 3 {
		b.wait(3 * time.Second)
		b.must(old, exists("/"))
	}
	check.Equal(t, len(b.e.Sessions()), 0, "sessions")
	b.take(b.e.Down(0, b.now))
	check.Equal(t, b.returns(session), false, "the client gets its session back")
}

// returns reports whether a client gets its session back at server 0.
func (b *bench) returns(session int64) bool {
	b.next++
	b.e.Open(b.next, 0, "127.0.0.1", b.now)
	password := passwordOf(session)
	hello := wire.AppendConnectRequest(nil, proto.ConnectRequest{
		TimeoutMs: 5000, SessionID: session, Password: password[:],
	})
	return b.take(b.e.Handle(b.next, hello[4:], b.now)).Request.Session != 0
}

// TestALeaderEndsSessionsForItself whose time has run out, when it is cut off and when it is apart.
func TestALeaderEndsSessionsForItself(t *testing.T) {
	marks.Expect(t, "session ended by a leader cut off")
	for _, leaves := range []bool{false, true} {
		silent := false
		b := newBench(t, func(c *Config) {
			c.Servers, c.Silent = 3, func(server int) bool { return silent && server == 0 }
		})
		c := b.connectTo(1, 0, 5*time.Second)
		session := b.e.SessionOf(c)
		silent = true
		if leaves {
			b.e.Leave(0)
			b.take(b.e.Elect(2, b.now))
		}
		b.now = b.now.Add(8 * time.Second) // in which a leader cut off ends none for all
		check.Equal(t, b.returns(session), false, "apart %t: a client that moves there keeps it",
			leaves)
		check.Equal(t, len(b.e.Sessions()), 1, "apart %t: sessions", leaves)
	}
}

// TestAServerApartDropsRequests of sessions that it has ended for itself. The sessions may live on
// at the others, so the clients are not told that they have expired.
func TestAServerApartDropsRequests(t *testing.T) {
	b := ensembleBench(t)
	c := b.connectTo(0, 0, 5*time.Second)
	b.e.Leave(0)
	b.take(b.e.Elect(2, b.now))
	b.wantOutputs("")
	b.must(c, exists("/"))
	b.now = b.now.Add(8 * time.Second)
	frame := wire.AppendRequest(nil, 9, exists("/"))
	r := b.take(b.e.Handle(c, frame[4:], b.now))
	check.Equal(t, r.Request.Silent, true, "no reply")
	b.wantOutputs("")
	check.Equal(t, len(b.e.Sessions()), 1, "sessions of the others")
}
