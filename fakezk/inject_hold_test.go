package fakezk

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
	"pgregory.net/rapid"
)

func TestStallConnectionsHoldsThoseOfTheGivenSessions(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.StallConnections(2*time.Second, st.aSession.SessionID)
		st.a.ask(rawCreate("/1", 0), rawCreate("/2", 0))
		st.b.mustCall(rawCreate("/b", 0))
		st.StallConnections(3 * time.Second)
		late, _ := rawSession(st, st.Server, rawTimeout)
		late.mustCall(rawCreate("/late", 0))
		st.b.ask(rawCreate("/b/1", 0))
		st.sleepUntil(3*time.Second - time.Millisecond)
		st.wantNodes("/ /b /late")
		st.want(st.a, "")
		st.sleepUntil(3 * time.Second)
		st.want(st.a, "reply 1 ok, reply 2 ok")
		st.want(st.b, "reply 2 ok")
		if !st.faults.active() || misledConns(st.Server) > 0 {
			st.Errorf("something is still on hold")
		}
	})
}

// A stalled client that falls silent loses its session, and learns of it when the stall is over.
func TestSessionMayExpireDuringAStall(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.StallConnections(time.Hour)
		st.a.ask(rawCreate("/1", 0))
		st.sleepUntil(time.Minute)
		check.Equal(st, len(st.Sessions()), 0, "sessions")
		st.want(st.a, "")
		st.sleepUntil(time.Hour)
		st.want(st.a, "closed")
		st.wantNodes("/")
	})
}

func TestRequestsOnHoldAreAppliedThoughTheClientIsGone(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("delay 2s request=1")
		st.a.ask(rawCreate("/e", proto.FlagEphemeral), rawCreate("/2", 0))
		check.OK(st, st.a.Close())
		st.sleepUntil(2*time.Second - time.Millisecond)
		st.wantNodes("/")
		if s := st.Sessions()[0]; !s.Connected {
			st.Error("the server has heard of the end that is on hold")
		}
		st.sleepUntil(2 * time.Second)
		st.wantNodes("/ /2 /e")
		if s := st.Sessions()[0]; s.Connected || s.Name != "S1" {
			st.Errorf("session %+v", s)
		}
	})
}

// TestReconnectEndsTheConnectionOnHold: a session that returns on another connection abandons the
// messages held on the old one.
func TestReconnectEndsTheConnectionOnHold(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("stall 2s request=1")
		st.a.ask(rawCreate("/1", 0))
		again := st.reattach()
		st.wantSession(again)
		again.mustCall(rawCreate("/2", 0))
		st.sleepUntil(2 * time.Second)
		st.want(st.a, "closed")
		st.wantNodes("/ /2")
	})
}

func TestGarbageOnHoldEndsTheConnectionInItsTurn(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("delay 2s request=1")
		st.a.ask(rawCreate("/1", 0))
		st.a.send([]byte{0xff, 0xff, 0xff, 0xff})
		st.a.ask(rawCreate("/2", 0))
		st.want(st.a, "")
		st.sleepUntil(2 * time.Second)
		st.want(st.a, "reply 1 ok, closed")
		st.wantNodes("/ /1")
	})
}

func TestGarbageEndsTheConnectionAfterWhatIsOnHoldForTheClient(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("stall-mid-frame 2s request=1")
		st.a.ask(rawCreate("/1", 0))
		synctest.Wait()
		st.a.send([]byte{0xff, 0xff, 0xff, 0xff})
		st.sleepUntil(2*time.Second - time.Millisecond)
		check.Equal(st, servedLinks(st.Server), 1, "links")
		st.sleepUntil(2 * time.Second)
		st.want(st.a, "reply 1 ok, closed")
	})
}

func TestClientThatGoesWhileItsReplyIsOnHoldIsGone(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("stall-mid-frame 2s request=1")
		st.a.ask(rawCreate("/1", 0))
		synctest.Wait()
		check.OK(st, st.a.Close())
		check.Equal(st, servedLinks(st.Server)+misledConns(st.Server), 1, "links and detours")
	})
}

// TestRestartOnHoldHitsConnectionsOnHold: a message released on one connection may end another one.
func TestRestartOnHoldHitsConnectionsOnHold(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("restart 2s client=S1 request=1")
		st.StallConnections(time.Second)
		st.a.ask(rawCreate("/1", 0))
		st.b.ask(rawCreate("/2", 0))
		st.sleepUntil(time.Second)
		st.want(st.a, "reset")
		st.want(st.b, "reset")
		st.wantNodes("/")
	})
}

func TestDialThatHangsIsResetByARestart(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("blackhole 1ms client=S2 request=1") // over when the next begins
		st.b.ask(rawCreate("/1", 0))
		time.Sleep(time.Second)
		st.inject("blackhole 2s client=S1 request=1")
		st.a.ask(rawCreate("/1", 0))
		again := st.reattach()
		st.inject("restart 5s at=1s")
		time.Sleep(3 * time.Second)
		st.want(again, "reset")
	})
}

func TestClearFaultsEndsEverythingAtOnce(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.watch(st.a, "/b")
		st.inject("stall 1h client=S1 op=create request=1")
		st.inject("drop-reply client=S1 op=create request=2")
		st.inject("cut at=1h")
		st.a.ask(rawCreate("/1", 0), rawCreate("/2", 0))
		st.b.mustCall(rawCreate("/b", 0))
		st.want(st.a, "")
		st.ClearFaults()
		st.want(st.a, "event /b, reply 2 ok, reply 3 ok")
		st.wantFaults()
		if st.faults.active() {
			st.Error("the server keeps its injector")
		}
		st.sleepUntil(time.Second)
		st.a.mustCall(rawCreate("/3", 0))
	})
	withFaults(t, func(st *faultTest) {
		st.inject("blackhole 1h client=S1 request=1")
		st.a.ask(rawCreate("/1", 0))
		again := st.reattach()
		st.want(again, "")
		st.ClearFaults()
		st.want(st.a, "reset")
		st.wantSession(again)
		st.inject("refuse 1h at=1ms")
		st.sleepUntil(2 * time.Millisecond)
		st.want(again, "reset")
		st.ClearFaults()
		st.wantSession(st.reattach())
	})
	withFaults(t, func(st *faultTest) {
		st.a.mustCall(rawCreate("/e", proto.FlagEphemeral))
		st.inject("late-reap-unlike-3.8 1h client=S1 request=1")
		st.inject("restart 1h client=S2 request=1")
		st.a.ask(rawCreate("/1", 0))
		st.b.ask(rawCreate("/1", 0))
		st.wantNodes("/ /e")
		st.ClearFaults()
		st.wantNodes("/")
		if _, err := st.dial(); err != nil {
			st.Error(err)
		}
	})
}

func TestHalfAFrameOnHoldIsDeliveredByClearFaults(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("stall-mid-frame 1h request=1")
		st.a.ask(rawCreate("/x", 0))
		synctest.Wait()
		st.ClearFaults()
		st.want(st.a, "reply 1 ok")
	})
}

func TestDirectCallsDoNotWaitForWhatIsOnHold(t *testing.T) {
	ends := map[string]func(*faultTest){
		"Stop":            func(st *faultTest) { st.Stop() },
		"Restart":         func(st *faultTest) { st.Server.Restart() },
		"DropConnections": func(st *faultTest) { st.DropConnections() },
		"Close":           func(st *faultTest) { _ = st.Close() },
	}
	for _, line := range []string{"stall 1h request=1", "blackhole 1h request=1",
		"delay 1h request=1", "stall-mid-frame 1h request=1"} {
		for name, end := range ends {
			t.Run(name+" "+line, func(t *testing.T) {
				withFaults(t, func(st *faultTest) {
					st.inject(line)
					st.a.ask(&proto.Exists{Path: "/"})
					again := st.reattach() // hangs in a black hole
					synctest.Wait()
					end(st)
					if got := st.a.got(); !strings.HasSuffix(got, "closed") {
						st.Errorf("the client got %q", got)
					}
					if got := again.got(); !strings.HasSuffix(got, "closed") {
						st.Errorf("the one that came back got %q", got)
					}
					if n := servedLinks(st.Server); n > 0 {
						st.Errorf("%d links stay", n)
					}
				})
			})
		}
	}
}

// Each direction of a connection on hold is bounded.
func TestClientThatKeepsSendingIntoAStallIsReset(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.StallConnections(time.Hour, st.aSession.SessionID)
		large := wire.AppendRequest(nil, 1, &proto.SetData{
			Path: "/", Data: make([]byte, 1<<20-100),
		})
		n := 0
		for ; n < 100; n++ {
			if _, err := st.a.Write(large); err != nil {
				break
			}
		}
		check.Equal(st, n, 64, "MiB on hold")
		st.want(st.a, "reset")
		st.b.mustCall(rawCreate("/b", 0))
	})
	withFaults(t, func(st *faultTest) {
		st.inject("stall-mid-frame 1h op=getData request=1")
		st.b.mustCall(&proto.SetData{Path: "/", Data: make([]byte, 1<<20-100), Version: -1})
		n := 0
		for ; n < 100; n++ {
			if _, err := st.a.Write(
				wire.AppendRequest(nil, 1, &proto.GetData{Path: "/"}),
			); err != nil {
				break
			}
		}
		if n != 65 { // Options.MaxQueued
			st.Errorf("%d MiB on hold", n)
		}
	})
}

func TestPingsAreHeldButNotCounted(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("delay 2s client=S1 request=1")
		st.a.ask(ping)
		st.want(st.a, "reply -2 ok")
		st.a.ask(rawCreate("/1", 0), ping)
		st.want(st.a, "")
		st.sleepUntil(3 * time.Second)
		st.want(st.a, "reply 2 ok, reply -2 ok")
		st.wantFaults("delay 2s client=S1 request=1: 1 true")
	})
}

// Whatever holds a connection, all that was sent is answered, in order.
func TestHoldsLoseAndReorderNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"stall 7ms", "delay 5ms", "stall-mid-frame 9ms", "stall 1ms", "delay 20ms",
		}), 0, 6).Draw(t, "faults")
		points := rapid.SliceOfN(rapid.SampledFrom([]string{"request=%d client=S1",
			"event=%d client=S1"}), 6, 6).Draw(t, "points")
		numbers := rapid.SliceOfN(rapid.IntRange(1, 10), 6, 6).Draw(t, "numbers")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 3), 20, 20).Draw(t, "pauses")
		clear := rapid.IntRange(-1, 19).Draw(t, "clear after")
		failure := bubble.Run(1, func() {
			st := &faultTest{T: &testing.T{}, Server: New(Options{})}
			st.a, _ = rawSession(st, st.Server, rawTimeout)
			st.b, _ = rawSession(st, st.Server, rawTimeout)
			for i, line := range lines {
				st.inject(line + " " + fmt.Sprintf(points[i], numbers[i]))
			}
			for i, pause := range pauses {
				// a watches the node that it created; b fires the watch.
				st.a.ask(rawCreate(fmt.Sprint("/", i), 0),
					&proto.GetData{Path: fmt.Sprint("/", i), Watch: true})
				time.Sleep(time.Duration(pause) * time.Millisecond)
				if i == clear {
					st.ClearFaults()
				}
			}
			time.Sleep(time.Second)
			for i := range pauses {
				st.b.mustCall(&proto.Delete{Path: fmt.Sprint("/", i), Version: -1})
			}
			time.Sleep(time.Second)
			var want []string
			for i := range pauses {
				want = append(want, fmt.Sprintf("reply %d ok, reply %d ok", 2*i+1, 2*i+2))
			}
			for i := range pauses {
				want = append(want, fmt.Sprint("event /", i))
			}
			if got := st.a.got(); got != strings.Join(want, ", ") {
				panic(fmt.Sprintf("got %s", got))
			}
			_ = st.a.Close()
			_ = st.b.Close()
			_ = st.Close()
		})
		if failure != nil {
			t.Fatal(failure)
		}
	})
}

// TestInjectOverTCP: the tests in memory also hold over TCP, where bytes wait in sockets.
func TestInjectOverTCP(t *testing.T) {
	s, address := startTCP(t)
	r, _ := tcpSession(t, address)
	check.OK(t, s.Inject(fault.Fault{Kind: fault.Stall, For: 50 * time.Millisecond, Op: "create",
		Request: 1}))
	mustDo(t, s.Inject(fault.Fault{Kind: fault.CutMidFrame, Op: "create", Request: 3}))
	began := time.Now()
	r.ask(rawCreate("/1", 0), rawCreate("/2", 0), rawCreate("/3", 0))
	p, err := io.ReadAll(r)
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("the stall took %s", took)
	}
	if want := 26 + 26 + 13; len(p) != want || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes, %v; want %d", len(p), err, want)
	}
	check.Equal(t, len(s.Tree()), 4, "nodes")
}

func TestInjectedBlackholeOverTCPLeavesNothingBehind(t *testing.T) {
	s, address := startTCP(t)
	r, session := tcpSession(t, address)
	mustDo(t, s.Inject(fault.Fault{Kind: fault.Blackhole, For: time.Hour, Request: 1}))
	r.ask(rawCreate("/1", 0))
	await(t, "the black hole", func() bool { return s.Faults()[0].Fired })
	again := dialTCP(t, address)
	again.sendHandshake(proto.ConnectRequest{TimeoutMs: 4000, SessionID: session.SessionID,
		Password: session.Password})
	await(t, "a dial that hangs", func() bool { return misledConns(s) == 2 })
	if err := s.Close(); err != nil { // waits for the goroutines of the connections
		t.Fatal(err)
	}
	for _, silent := range []*rawClient{r, again} {
		check.Equal(t, readAll(t, silent), "", "bytes from a black hole")
	}
	check.Equal(t, len(s.Tree()), 1, "nodes")
}

// misledConns is how many connections faults have misled.
func misledConns(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.faults.active() {
		return 0
	}
	n := 0
	for _, c := range s.faults.net.Conns() {
		if !c.Idle(s.faults.now()) {
			n++
		}
	}
	return n
}
