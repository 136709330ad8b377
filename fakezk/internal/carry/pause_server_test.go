package carry

import (
	"fmt"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// TestWhatALeaderAnswersAlone, when it is cut off and when it has been deposed: all but what needs
// a majority. A server that stands still answers nothing.
func TestWhatALeaderAnswersAlone(t *testing.T) {
	hello := func(session int64) *Message {
		return &Message{Bytes: wire.AppendConnectRequest(nil, proto.ConnectRequest{
			SessionID: session, Password: make([]byte, 16)})[4:]}
	}
	request := func(req proto.Request) *Message {
		return &Message{Bytes: wire.AppendRequest(nil, 1, req)[4:]}
	}
	for _, test := range []struct {
		name                      string
		message                   *Message
		cutOff, deposed, standing string
	}{
		{"read", request(&proto.Exists{Path: "/"}), "apply 1", "apply 1", "later 1 at 4s"},
		{"sync", request(&proto.Sync{Path: "/"}), "apply 1", "apply 1", "later 1 at 4s"},
		{"ping", request(&proto.Simple{Code: proto.OpPing}), "apply 1", "apply 1", "later 1 at 4s"},
		{"write", request(&proto.Delete{Path: "/x"}), "later 1 at 4s", "later 1 at 3s",
			"later 1 at 4s"},
		{"known session", hello(7), "apply 1", "apply 1", "later 1 at 4s"},
		{"new session", hello(0), "later 1 at 4s", "later 1 at 3s", "later 1 at 4s"},
	} {
		greets := test.name == "known session" || test.name == "new session"
		play := func(line string, want string, prepare func(n testNetwork)) {
			n := newTestNetwork(t, line)
			n.Serve(Ensemble{Servers: 3, Leader: func() int { return 0 }, Tick: 2 * second})
			n.strikeDue()
			prepare(n)
			n.a1.Greeted = !greets
			m := *test.message
			n.a1.QueueUp(&m)
			n.want(test.name+": "+line, n.a1.DeliverUp(second), want)
		}
		nothing := func(testNetwork) {}
		play("isolate 3s server=1 at=1s", test.cutOff, nothing)
		play("pause-server 3s server=1 at=1s", test.standing, nothing)
		play("cut server=3 at=1h", test.deposed, func(n testNetwork) {
			n.Serve(Ensemble{Servers: 3, Leader: func() int { return 1 }, Tick: 2 * second})
			n.depose(0, second)
			check.Equal(t, n.BelievesUntil(0), 3*second, "when it notices")
		})
	}
}

// TestWhenAServerIsLeftBehind, with a limit of ten seconds, and when it notices that it was
// deposed.
func TestWhenAServerIsLeftBehind(t *testing.T) {
	n := newTestNetwork(t)
	n.Serve(Ensemble{Servers: 3, Leader: func() int { return 0 }, Tick: 2 * second})
	n.pauseFor(0, second, 9*second)
	check.Equal(t, n.LeftBehindAt(0, second), 0, "of 8 s")
	n.pauseFor(0, 5*second, 15*second)
	check.Equal(t, n.LeftBehindAt(0, 5*second), 11*second, "prolonged")
	check.Equal(t, n.MissedUntil(0, 10*second), 0, "missed before")
	check.Equal(t, n.AwayUntil(0, 10*second), 15*second, "away before")
	check.Equal(t, n.MissedUntil(0, 11*second), 15*second, "missed")
	check.Equal(t, fmt.Sprint(n.LeaveUnaware(11*second)), "[0]", "unaware")
	check.Equal(t, n.BelievesUntil(0), 17*second, "when it notices")
	check.Equal(t, n.GoOn(0, 14*second), false, "it goes on too early")
	check.Equal(t, n.GoOn(0, 15*second), true, "it goes on")
	check.Equal(t, n.AwayUntil(0, 16*second), 17*second, "away, as it believes to lead")
	n.want("down", n.TakeDown(0, 16*second)[:1], "down")
	check.Equal(t, n.BelievesUntil(0), time.Duration(0), "believes when it is down")
	n.backAt[1] = 30 * second
	n.pauseFor(1, 20*second, 25*second)
	check.Equal(t, n.PausedUntil(1, 21*second), 0, "a server that is down stands still")
}

// TestAServerStandsStillUntilGoOn, also when its time is over.
func TestAServerStandsStillUntilGoOn(t *testing.T) {
	n := newTestNetwork(t)
	n.pauseFor(0, second, 4*second)
	n.want("when its time is over", ask(n.a1, 4*second), "later 1 at 4.000000001s")
	check.Equal(t, n.GoOn(0, 4*second), true, "it goes on")
	n.want("then", n.a1.DeliverUp(5*second), "apply 1")
}
