package fakezk

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// Package carry tests what each kind of fault does, and TestGenuineClientUnderInjectedFaults that a
// Server does it. The tests of this file and of the others on a stand are about the Server: its
// timer, its connections, its sessions and its list of faults.

// TestInjectStallMidFrame: half a frame is sent, and the rest when the stall is over.
func TestInjectStallMidFrame(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("stall-mid-frame 3s client=S1 request=1")
		st.a.ask(rawCreate("/x", 0), rawCreate("/y", 0))
		st.want(st.a, "half 13")
		st.wantNodes("/ /x /y")
		st.sleepUntil(3*time.Second - time.Millisecond)
		st.want(st.a, "")
		st.sleepUntil(3 * time.Second)
		if rest, err := io.ReadAll(io.LimitReader(st.a, 13)); err != nil ||
			string(rest[11:]) != "/x" {
			st.Errorf("the rest of the frame: %q, %v", rest, err)
		}
		st.want(st.a, "reply 2 ok")
	})
	withFaults(t, func(st *faultTest) {
		st.watch(st.a, "/x")
		st.inject("stall-mid-frame 3s event=1")
		st.b.mustCall(rawCreate("/x", 0))
		st.a.ask(rawCreate("/y", 0))
		st.want(st.a, "half 17")
		st.wantNodes("/ /x /y")
		st.sleepUntil(3 * time.Second)
		if rest, err := io.ReadAll(io.LimitReader(st.a, 17)); err != nil ||
			string(rest[15:]) != "/x" {
			st.Errorf("the rest of the frame: %q, %v", rest, err)
		}
		st.want(st.a, "reply 2 ok")
	})
}

func TestInjectBlackhole(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.watch(st.a, "/other")
		st.inject("blackhole 3s client=S1 request=2")
		st.a.ask(&proto.Exists{Path: "/"}, rawCreate("/1", 0), rawCreate("/2", 0))
		st.b.mustCall(rawCreate("/other", 0))
		st.want(st.a, "reply 2 ok")
		again := st.reattach() // hangs
		st.want(again, "")
		rawSession(st, st.Server, rawTimeout) // another's dial does not
		st.sleepUntil(3 * time.Second)
		st.wantSession(again)
		again.mustCall(rawCreate("/3", 0))
		st.a.ask(rawCreate("/4", 0))
		st.sleepUntil(60 * time.Second)
		st.want(st.a, "") // for ever
		st.wantNodes("/ /3 /other")
	})
	withFaults(t, func(st *faultTest) {
		st.inject("blackhole 15s at=1s")
		st.sleepUntil(time.Second)
		st.a.ask(rawCreate("/1", 0))
		stranger, given := rawDial(st, st.Server), rawDial(st, st.Server)
		stranger.sendHandshake(proto.ConnectRequest{TimeoutMs: 4000})
		given.sendHandshake(proto.ConnectRequest{TimeoutMs: 4000})
		st.sleepUntil(16*time.Second - time.Millisecond)
		check.OK(st, given.Close())
		check.Equal(st, len(st.Sessions()), 2, "sessions while dials hang")
		st.sleepUntil(16 * time.Second)
		if resp, err := wire.DecodeConnectResponse(stranger.receive()); err != nil ||
			resp.SessionID == 0 {
			st.Errorf("%+v, %v", resp, err)
		}
		check.Equal(st, len(st.Sessions()), 3, "sessions: none is for the dial that was given up")
		st.want(st.a, "")
		st.want(st.b, "")
	})
}

func TestInjectExpire(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("expire client=S1 request=2")
		st.a.mustCall(rawCreate("/e", proto.FlagEphemeral))
		st.a.ask(rawCreate("/1", 0))
		st.want(st.a, "closed")
		st.wantNodes("/")
		st.want(st.reattach(), "reply 0 ok, closed") // a refusal
	})
	withFaults(t, func(st *faultTest) {
		st.a.mustCall(rawCreate("/e", proto.FlagEphemeral))
		st.inject("expire client=" + fmt.Sprintf("0x%x", st.aSession.SessionID) + " at=1s")
		st.wantFaults("expire client=S1 at=1s: 0 false")
		st.sleepUntil(time.Second)
		st.want(st.a, "closed")
		st.want(st.b, "")
		st.wantNodes("/")
		st.wantFaults("expire client=S1 at=1s: 0 true")
		st.inject("expire at=1s")
		st.sleepUntil(2*time.Second + time.Millisecond)
		check.Equal(st, len(st.Sessions()), 0, "sessions")
	})
}

func TestInjectRestart(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.b.mustCall(rawCreate("/e", proto.FlagEphemeral))
		st.inject("restart 40s client=S1 request=1")
		st.a.ask(rawCreate("/1", 0))
		st.want(st.a, "reset")
		st.want(st.b, "reset")
		st.sleepUntil(40*time.Second - time.Millisecond)
		if _, err := st.dial(); !errors.Is(err, syscall.ECONNREFUSED) {
			st.Errorf("dial: %v", err)
		}
		st.sleepUntil(40 * time.Second)
		st.wantNodes("/ /e")
		st.wantSession(st.reattach())
	})
	withFaults(t, func(st *faultTest) {
		st.inject("restart 3s at=1s")
		st.inject("expire at=2s") // a server that is down ends no session
		st.sleepUntil(3 * time.Second)
		st.want(st.a, "reset")
		check.Equal(st, len(st.Sessions()), 2, "sessions: %+v", st.Sessions())
		st.wantFaults("restart 3s at=1s: 0 true", "expire at=2s: 0 false")
		st.ClearFaults()
	})
}

// A server that was stopped meanwhile ends no session either.
func TestInjectedExpiryMissesAStoppedServer(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("expire at=1s")
		st.inject("late-reap-unlike-3.8 1s at=1s")
		st.Stop()
		st.sleepUntil(2 * time.Second)
		check.Equal(st, len(st.Sessions()), 2, "sessions")
		st.wantFaults("expire at=1s: 0 false", "late-reap-unlike-3.8 1s at=1s: 0 false")
		st.ClearFaults()
		st.Server.Restart()
		st.wantSession(st.reattach())
	})
}

func TestRestartEndsAnInjectedOne(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("restart 1h request=1")
		st.a.ask(rawCreate("/1", 0))
		st.want(st.a, "reset")
		st.Server.Restart()
		st.wantSession(st.reattach())
		st.inject("expire client=S1 at=1s") // which a server that is down would not do
		st.sleepUntil(time.Second)
		st.wantFaults("restart 1h0m0s request=1: 1 true", "expire client=S1 at=1s: 0 true")
	})
}

// An event that is lost with the reply, or passes before the connection is cut,
// counts as it does in a World.
func TestInjectedEventFaultsCountWhatARequestCauses(t *testing.T) {
	for _, test := range []struct{ line, first string }{
		{"drop-reply op=create request=1", "reset"},
		{"cut op=create request=1", "event /x, reply 3 ok, reset"},
	} {
		withFaults(t, func(st *faultTest) {
			st.watch(st.a, "/x")
			st.inject(test.line)
			st.inject("cut client=S1 event=2")
			st.a.xid++
			st.a.ask(rawCreate("/x", 0))
			st.want(st.a, test.first)
			st.wantFaults(test.line+": 1 true", "cut client=S1 event=2: 1 false")
			again := st.reattach()
			st.wantSession(again)
			st.watch(again, "/y")
			st.b.mustCall(rawCreate("/y", 0))
			st.want(again, "reset")
		})
	}
	withFaults(t, func(st *faultTest) { // one that passes may be its turn
		st.watch(st.a, "/x")
		st.inject("stall-mid-frame 2s op=create request=1")
		st.inject("delay 1s event=1")
		st.a.ask(rawCreate("/x", 0))
		st.want(st.a, "")
		st.sleepUntil(time.Second)
		st.want(st.a, "event /x, half 13")
	})
}

func TestInjectedConnSelectsTheSessionsNextConnection(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("drop-reply client=S1 conn=2 request=1")
		st.a.mustCall(rawCreate("/1", 0))
		again := st.reattach()
		st.wantSession(again)
		st.want(st.a, "closed")
		again.ask(rawCreate("/2", 0))
		st.want(again, "reset")
	})
}

func TestInjectSaysWhatIsWrong(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		ended, _ := rawSession(st, st.Server, rawTimeout)
		ended.call(&proto.Simple{Code: proto.OpCloseSession})
		tests := []struct {
			fault fault.Fault
			want  string
		}{
			{fault.Fault{}, `fakezk: inject: unknown fault kind ""`},
			{fault.Fault{Kind: fault.Stall, Request: 1}, `stall needs a duration`},
			{fault.Fault{Kind: fault.Crash, Request: 1}, `crash acts in the process of a client, ` +
				`which only a simulated World has; on a Server use expire or blackhole, or end ` +
				`the process of the client`},
			{fault.Fault{Kind: fault.Pause, Request: 1, For: time.Second},
				`which only a simulated World has; on a Server use delay or stall`},
			{fault.Fault{Kind: fault.Cut, Request: 1, Client: "a"},
				`fault "cut client=a request=1": client=a: expected a session, S1 being the first`},
			{
				fault.Fault{
					Kind: fault.Cut, Request: 1, Client: "S0",
				}, `client=S0: expected a session`,
			},
			{
				fault.Fault{
					Kind: fault.Cut, Request: 1, Client: "S01",
				}, `client=S01: expected a session`,
			},
			{
				fault.Fault{
					Kind: fault.Cut, Request: 1, Client: "S3",
				}, `client=S3: the session has ended`,
			},
			{fault.Fault{Kind: fault.Cut, Request: 1, Client: "0xg"},
				`client=0xg: expected up to 16 hexadecimal digits`},
			{
				fault.Fault{
					Kind: fault.Cut, Request: 1, Client: "0x1",
				}, `client=0x1: no such session`,
			},
		}
		for _, test := range tests {
			check.Contains(st, fmt.Sprint(st.Inject(test.fault)), test.want, "%+v", test.fault)
		}
		st.wantFaults()
		for range maxArmed {
			st.inject("cut request=1000000000")
		}
		check.Contains(st, fmt.Sprint(st.Inject(fault.Fault{Kind: fault.Cut, Request: 1})), "1000 faults are on the list already",
			"one too many")
		st.ClearFaults()
		st.inject("cut client=S4 request=1") // still to come
		check.OK(st, st.Close())
		check.Is(st, st.Inject(fault.Fault{Kind: fault.Cut, Request: 1}), ErrStopped, "after Close")
	})
}

// Outages that overlap act as they do in a World: one that finds its client cut off
// already has fired, the longer one decides, and a dial that hangs is not refused.
func TestInjectedOutagesOverlapAsInAWorld(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.inject("refuse 10s client=S1 request=1")
		st.inject("refuse 1s client=S1 at=1s")
		st.inject("blackhole 4s client=S1 at=2s")
		st.a.ask(rawCreate("/1", 0))
		st.want(st.a, "reset")
		st.sleepUntil(2 * time.Second)
		again := st.reattach()
		st.want(again, "")
		st.wantFaults("refuse 10s client=S1 request=1: 1 true",
			"refuse 1s client=S1 at=1s: 0 true", "blackhole 4s client=S1 at=2s: 0 true")
		st.sleepUntil(6 * time.Second)
		st.want(again, "reset")
		st.sleepUntil(10 * time.Second)
		st.wantSession(st.reattach())
	})
}
