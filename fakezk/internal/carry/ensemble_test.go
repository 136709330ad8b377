package carry

import (
	"testing"
	"time"

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
		n.cutOff, n.backAt = test.cut, test.down
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
	n.cutOff[1] = 9 * second
	n.TakeDown(1, 2*second)
	check.Equal(t, n.BackAt(1, second), 9*second, "back")
}
