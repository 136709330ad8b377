package carry

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// TestWhoIsAlone among three servers, of which the third leads, at second 1.
func TestWhoIsAlone(t *testing.T) {
	for _, test := range []struct {
		name string
		cut  map[int]time.Duration
		down map[int]time.Duration
		want [3]time.Duration // until when each is
	}{
		{name: "all together", down: map[int]time.Duration{0: 5 * second}},
		{name: "a follower", cut: map[int]time.Duration{0: 5 * second},
			want: [3]time.Duration{5 * second}},
		{name: "the leader", cut: map[int]time.Duration{2: 5 * second},
			want: [3]time.Duration{5 * second, 5 * second, 5 * second}},
		{name: "both followers", cut: map[int]time.Duration{0: 5 * second, 1: 3 * second},
			want: [3]time.Duration{3 * second, 3 * second, 3 * second}},
		{name: "one cut off, one down", cut: map[int]time.Duration{0: 5 * second},
			down: map[int]time.Duration{1: 3 * second},
			want: [3]time.Duration{3 * second, 3 * second, 3 * second}},
		{name: "over", cut: map[int]time.Duration{0: second, 2: second}},
	} {
		n := New()
		n.Serve(Ensemble{Servers: 3, Leader: func() int { return 2 }})
		for server, until := range test.cut {
			n.cutOffFor(server, 0, until)
		}
		n.backAt = test.down
		for server, want := range test.want {
			check.Equal(t, n.AloneUntil(server, second), want, "%s: server %d", test.name, server)
		}
	}
}

// TestWhatWaitsForTheLeader, and what a server answers alone.
func TestWhatWaitsForTheLeader(t *testing.T) {
	for req, want := range map[proto.Request]string{
		&proto.Create{Code: proto.OpCreate}:        "later 1 at 4s",
		&proto.Sync{Path: "/x"}:                    "later 1 at 4s",
		&proto.Simple{Code: proto.OpCloseSession}:  "later 1 at 4s",
		&proto.Simple{Code: proto.OpPing}:          "apply 1",
		&proto.Exists{Path: "/x"}:                  "apply 1",
		&proto.GetData{Path: "/x", Watch: true}:    "apply 1",
		&proto.SetWatches{DataWatches: []string{}}: "apply 1",
	} {
		n := newTestNetwork(t, "isolate 3s server=1 at=1s")
		n.strikeDue()
		n.a1.QueueUp(&Message{Bytes: wire.AppendRequest(nil, 1, req)[4:]})
		n.want(req.Op().String(), n.a1.DeliverUp(second), want)
	}
	n := newTestNetwork(t, "isolate 3s server=1 at=1s")
	n.strikeDue()
	n.a1.Greeted = false
	n.a1.QueueUp(&Message{Bytes: []byte("hello")})
	n.want("handshake", n.a1.DeliverUp(second), "later 1 at 4s")
	n.want("handshake, later", n.a1.DeliverUp(4*second), "apply 1")
	n.b.QueueUp(&Message{Bytes: []byte("ruok"), Dials: true, Last: true})
	n.want("four letters", n.b.DeliverUp(second), "apply 3")
}

// TestAServerThatGoesDownCutOff stays down until it is back with the others.
func TestAServerThatGoesDownCutOff(t *testing.T) {
	n := New()
	n.cutOffFor(1, second, 9*second)
	n.TakeDown(1, 2*second)
	check.Equal(t, n.BackAt(1, second), 9*second, "back")
}

// TestWhenAnIsolatedServerGivesUp, with a limit of ten seconds. Isolations that overlap
// or touch are one.
func TestWhenAnIsolatedServerGivesUp(t *testing.T) {
	marks.Expect(t, "isolations that touch")
	type cut struct{ at, until time.Duration } // until 0: the server rejoins the others
	for _, test := range []struct {
		name string
		cuts []cut
		want time.Duration // as known at the last cut
	}{
		{name: "never cut off"},
		{"back in time", []cut{{1, 10}}, 0},
		{"one for the limit", []cut{{1, 11}}, 11},
		{"two that overlap", []cut{{1, 9}, {6, 14}}, 11},
		{"the second within the first", []cut{{1, 20}, {6, 7}}, 11},
		{"two that overlap, too short", []cut{{1, 6}, {5, 10}}, 0},
		{"two that touch", []cut{{1, 9}, {9, 17}}, 11},
		{"two that touch, together between", []cut{{1, 9}, {at: 9}, {9, 17}}, 0},
		{"the second alone", []cut{{1, 9}, {10, 30}}, 20},
		{"given up already", []cut{{1, 20}, {15, 40}}, 0},
	} {
		n, now := New(), time.Duration(0)
		n.Serve(Ensemble{Servers: 3, Tick: 2 * second})
		for _, c := range test.cuts {
			if now = c.at * second; c.until == 0 {
				n.Rejoin(1)
				continue
			}
			n.cutOffFor(1, now, c.until*second)
		}
		check.Equal(t, n.GivesUpAt(1, now), test.want*second, "%s", test.name)
	}
}

// TestAServerThatIsDownStaysSo while it is isolated, also if the isolation is prolonged.
func TestAServerThatIsDownStaysSo(t *testing.T) {
	marks.Expect(t, "isolated while down")
	n := New()
	n.TakeDown(1, 2*second)
	n.cutOffFor(1, second, 9*second)
	check.Equal(t, n.BackAt(1, second), 9*second, "back")
	n.cutOffFor(1, 8*second, 20*second)
	check.Equal(t, n.BackAt(1, 8*second), 20*second, "back, prolonged")
	n.cutOffFor(1, 9*second, 12*second)
	check.Equal(t, n.BackAt(1, 9*second), 20*second, "back, after a short one")
}
