package engine

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

func ensembleBench(t *testing.T) *bench {
	return newBench(t, func(cfg *Config) { cfg.Servers = 3 })
}

// followAll lets all servers apply everything.
func (b *bench) followAll() {
	for server := range b.e.ensemble.servers {
		b.take(b.e.Follow(server, math.MaxInt64, b.now))
	}
}

func exists(path string) proto.Request { return &proto.Exists{Path: path, Watch: true} }

// TestAFollowerAnswersFromItsOwnTree until it applies the leader's transactions.
func TestAFollowerAnswersFromItsOwnTree(t *testing.T) {
	b := ensembleBench(t)
	writer, reader := b.connectTo(1, 0, 5*time.Second), b.connectTo(2, 0, 5*time.Second)
	b.must(writer, create("/n", 0), exists("/n"))
	check.Equal(t, b.ask(reader, exists("/n")).Err, proto.NoNode,
		"a follower that has not applied the create says")
	next, _ := b.e.Next(2)
	if len(b.e.ensemble.servers[2].unapplied) != 1 || next != b.e.Store().LastZxid() {
		t.Errorf("the follower lacks %v", b.e.ensemble.servers[2].unapplied)
	}
	b.take(b.e.Follow(2, next-1, b.now))
	b.wantOutputs("")
	b.take(b.e.Follow(2, next, b.now))
	b.wantOutputs("2:NodeCreated /n@0")
	if next, ok := b.e.Next(2); ok {
		t.Errorf("the follower still lacks %#x", next)
	}
	b.must(reader, exists("/n"))
}

// TestAWriteOrASyncCatchesUp: the client of a follower then sees all that was applied before.
func TestAWriteOrASyncCatchesUp(t *testing.T) {
	for _, req := range []proto.Request{
		&proto.Sync{Path: "/"}, create("/own", 0), remove("/missing"),
	} {
		b := ensembleBench(t)
		writer, reader := b.connectTo(0, 0, 5*time.Second), b.connectTo(2, 0, 5*time.Second)
		b.must(writer, create("/n", 0))
		b.ask(reader, req)
		check.Equal(t, b.ask(reader, exists("/n")).Err, proto.OK, "after %s", req.Op())
	}
}

// TestAServerThatIsBehindRefusesAClient that has seen more.
func TestAServerThatIsBehindRefusesAClient(t *testing.T) {
	marks.Expect(t, "client ahead of its server")
	b := ensembleBench(t)
	b.must(b.connect(5*time.Second), create("/n", 0))
	b.next++
	b.e.Open(b.next, 1, "127.0.0.1", b.now)
	r := b.e.Handle(b.next, greeting(b.e.Store().LastZxid()), b.now)
	if r.Request.Session != 0 || len(r.Out) != 1 || !r.Out[0].Close {
		t.Errorf("got %+v", r)
	}
}

// TestFollowersCloseTheConnectionOfADeadSession when they apply its end; so long reads go on.
func TestFollowersCloseTheConnectionOfADeadSession(t *testing.T) {
	marks.Expect(t, "follower ends a connection")
	b := ensembleBench(t)
	c := b.connectTo(1, 0, 5*time.Second)
	b.must(c, create("/e", proto.FlagEphemeral), exists("/e"))
	b.followAll()
	b.take(must(b.e.Expire(b.e.SessionOf(c), b.now)))
	b.wantOutputs("")
	b.must(c, exists("/e"))
	b.wait(time.Minute) // a request of a dead session does not revive it
	check.Equal(t, b.ask(c, remove("/missing")).Err, proto.SessionExpired,
		"a write of a dead session")
	b.wantOutputs("1:NodeDeleted /e@60000 1:closed@60000")
}

// TestTheLeaderForgetsADeadSession, though it has not closed an old connection of it yet.
func TestTheLeaderForgetsADeadSession(t *testing.T) {
	marks.Expect(t, "request of an ended session")
	b := ensembleBench(t)
	old := b.connectTo(0, 0, 5*time.Second)
	session := b.e.SessionOf(old)
	b.connectTo(1, session, 5*time.Second)
	b.take(must(b.e.Expire(session, b.now)))
	b.must(old, exists("/"))
	check.Equal(t, len(b.e.Sessions()), 0, "sessions")
	b.followAll()
	b.wantOutputs("1:closed@0 2:closed@0")
}

// TestTheLeaderHearsOfRequestsWithItsPings, each half tick. What a follower has not told it is lost
// when the follower goes down: the session ends before its client thinks.
func TestTheLeaderHearsOfRequestsWithItsPings(t *testing.T) {
	for _, test := range []struct {
		name string
		down time.Duration // when the follower goes down
		want int64         // when the session ends, in ms
	}{
		{"the follower lives", 0, 10_000},
		{"it dies before the ping", 4700 * time.Millisecond, 6_000},
		{"it dies after the ping", 5100 * time.Millisecond, 10_000},
	} {
		b := ensembleBench(t)
		c := b.connectTo(1, 0, 5*time.Second)
		b.wait(4600 * time.Millisecond)
		b.must(c, ping) // the client relies on its session for five seconds
		if test.down > 0 {
			b.wait(test.down - b.now.Sub(start))
			b.take(b.e.Down(1, b.now))
		}
		b.wait(time.Minute)
		changes := b.e.ensemble.servers[2].unapplied
		check.Equal(t, changes[len(changes)-1].Time-start.UnixMilli(), test.want, "%s", test.name)
	}
}

// TestAFollowerThatIsSilentTellsLater.
func TestAFollowerThatIsSilentTellsLater(t *testing.T) {
	silent := true
	b := newBench(t, func(c *Config) {
		c.Servers, c.Silent = 3, func(server int) bool { return silent && server == 1 }
	})
	c := b.connectTo(1, 0, 5*time.Second)
	b.must(c, ping)
	b.wait(4600 * time.Millisecond)
	check.Equal(t, b.e.Sessions()[0].ExpiresAt.Sub(start), 10*time.Second, "the end to come")
	silent = false
	b.must(c, ping)
	b.take(b.e.Down(1, b.now)) // the leader has heard of the first request
	b.wait(4 * time.Second)
	check.Equal(t, len(b.e.Sessions()), 1, "sessions")
	b.wait(3 * time.Second)
	check.Equal(t, len(b.e.Sessions()), 0, "sessions at the end")
}

func must(r Reaction, ok bool) Reaction {
	if !ok {
		panic("no such session")
	}
	return r
}

// TestAMovedSessionWritesOnlyByItsNewConnection. Reads of the old one are answered.
func TestAMovedSessionWritesOnlyByItsNewConnection(t *testing.T) {
	marks.Expect(t, "moved session")
	b := ensembleBench(t)
	old := b.connectTo(1, 0, 5*time.Second)
	moved := b.connectTo(2, b.e.SessionOf(old), 5*time.Second)
	b.must(old, exists("/"))
	b.must(moved, create("/n", 0))
	if r := b.ask(old, create("/m", 0)); !r.Silent {
		t.Errorf("a write by the old connection is answered: %+v", r)
	}
	b.wantOutputs("1:closed@0")
	b.must(moved, remove("/n"))
	if _, code := b.e.Store().Exists("/m"); code != proto.NoNode {
		t.Error("the write by the old connection was applied")
	}
}

// TestAnElectionBeginsAnEpoch, ends all connections and keeps all sessions.
func TestAnElectionBeginsAnEpoch(t *testing.T) {
	b := ensembleBench(t)
	c := b.connectTo(1, 0, 5*time.Second)
	b.must(c, create("/e", proto.FlagEphemeral))
	session := b.e.SessionOf(c)
	b.wait(4 * time.Second)
	b.take(b.e.Elect(2, b.now))
	b.wantOutputs("1:closed@4000")
	b.wait(4 * time.Second)
	c = b.connectTo(1, session, 5*time.Second)
	b.must(c, exists("/e"), create("/n", 0))
	if zxid := b.e.Store().LastZxid(); b.e.Leader() != 2 || zxid != 1<<32|1 {
		t.Errorf("leader %d, zxid %#x", b.e.Leader(), zxid)
	}
	b.followAll()
	trees := make([][]state.NodeView, len(b.e.ensemble.servers))
	for i, r := range b.e.ensemble.servers {
		for _, n := range r.store.Nodes() {
			trees[i] = append(trees[i], n)
		}
	}
	for i := range trees {
		if diff := cmp.Diff(trees[0], trees[i]); diff != "" || len(trees[i]) == 0 {
			t.Errorf("server %d: %s", i, diff)
		}
	}
}

// TestTheEpochBeginsAtTheLeader: the others have its first zxid with its first write, and refuse a
// client that has seen it before.
func TestTheEpochBeginsAtTheLeader(t *testing.T) {
	b := ensembleBench(t)
	c := b.connectTo(1, 0, 5*time.Second)
	session := b.e.SessionOf(c)
	b.take(b.e.Elect(2, b.now))
	check.Equal(t, b.e.StoreOf(2).LastZxid(), 1<<32, "the leader's zxid")
	check.Equal(t, b.e.StoreOf(1).LastZxid(), 1, "a follower's zxid")
	refused := func(server int) bool {
		b.next++
		b.e.Open(b.next, server, "127.0.0.1", b.now)
		return b.take(b.e.Handle(b.next, greeting(1<<32), b.now)).Request.Session == 0
	}
	check.Equal(t, refused(1), true, "a client that has seen the epoch is refused by a follower")
	c = b.connectTo(2, session, 5*time.Second)
	check.Equal(t, b.ask(c, exists("/")).Zxid, 1<<32, "zxid of a read at the leader")
	b.must(c, create("/n", 0))
	b.followAll()
	check.Equal(t, refused(1), false, "a client is refused after a write")
}

// TestAServerIsUpToDateForAKnownSession that a client comes back with. A leader is so once it has
// applied what it has decided.
func TestAServerIsUpToDateForAKnownSession(t *testing.T) {
	b := ensembleBench(t)
	writer, reader := b.connectTo(1, 0, 5*time.Second), b.connectTo(0, 0, 5*time.Second)
	session := b.e.SessionOf(reader)
	b.must(writer, create("/n", 0))
	check.Equal(t, b.ask(reader, exists("/n")).Err, proto.NoNode, "at the leader")
	reader = b.connectTo(0, session, 5*time.Second)
	check.Equal(t, b.ask(reader, exists("/n")).Err, proto.NoNode, "at the leader, after a handshake")
	b.must(b.connectTo(2, session, 5*time.Second), exists("/n"))
	b.must(reader, &proto.Sync{Path: "/"}, exists("/n"))
}

// greeting is the handshake of a client that has seen a zxid.
func greeting(seen int64) []byte {
	return wire.AppendConnectRequest(nil, proto.ConnectRequest{
		TimeoutMs: 5000, LastZxidSeen: seen, Password: make([]byte, 16),
	})[4:]
}
