package carry

import (
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/internal/check"
)

func TestOutagesHitDials(t *testing.T) {
	refuseAll, refuseA := "refuse 3s at=1s", "refuse 3s client=a at=1s"
	hangA, down := "blackhole 5s client=a at=1s", "restart 2s at=1s"
	tests := []struct {
		lines []string
		a, b  Answer
		last  time.Duration // when dials succeed again
	}{
		{nil, Accepted, Accepted, 0},
		{[]string{refuseAll}, Refused, Refused, 4 * second},
		{[]string{refuseA}, Refused, Accepted, 4 * second},
		{[]string{hangA}, Hangs, Accepted, 6 * second},
		{[]string{down}, Refused, Refused, 3 * second},
		{[]string{refuseAll, hangA}, Hangs, Refused, 6 * second},
		{[]string{hangA, down, refuseA}, Hangs, Refused, 6 * second},
		{[]string{"refuse 10s client=a at=1s", "refuse 1s client=a at=1s"}, Refused, Accepted,
			11 * second},
		{[]string{"restart 10s at=1s", "restart 1s at=1s"}, Refused, Refused, 11 * second},
	}
	for _, test := range tests {
		n := newTestNetwork(t, test.lines...)
		for _, f := range n.Due(second) {
			var client int64
			if f.Client == "a" {
				client = 1
			}
			n.strike(f, client, second)
		}
		a, until, _ := n.Dial(1, 0, second)
		b, _, _ := n.Dial(2, 0, second)
		if a != test.a || b != test.b || a == Hangs && until != test.last {
			t.Errorf("%q: a's dial %d until %s, b's %d", test.lines, a, until, b)
		}
		for _, client := range []int64{1, 2} {
			n.wantAccepted(client, 0, test.last, "%q: the dial of %d at the end", test.lines, client)
		}
		n.Heal(0)
		n.wantAccepted(1, 0, second, "%q: healed", test.lines)
	}
}

// TestAnOutageHasFiredOnceItHitsSomething: a connection, a dial, or a client that is
// cut off already.
func TestAnOutageHasFiredOnceItHitsSomething(t *testing.T) {
	n := newTestNetwork(t, "refuse 3s at=1s", "refuse 1s client=a at=1s")
	for _, c := range n.Conns() {
		c.Close()
	}
	first, further := n.Armed()[0], n.Armed()[1]
	n.want("no connection", n.strike(first, 0, second), "")
	if first.Fired || len(n.Missed()) != 2 {
		t.Error("it has fired")
	}
	n.want("cut off already", n.strike(further, 1, second), "struck")
	refused, actions := n.Refuses(0, 0, second)
	n.want("a dial", actions, "struck")
	if _, again := n.Refuses(0, 0, second); !refused || len(again) > 0 || !first.Fired {
		t.Error("a dial")
	}
}

// TestServersHaveNumbers: a restart concerns one of them.
func TestServersHaveNumbers(t *testing.T) {
	n := newTestNetwork(t, "restart 3s client=b request=1")
	n.a2.Server, n.b.Server = 1, 1
	n.want("a restart", ask(n.b, second),
		"struck 3 taken, down, restart at 4s, sever 2, send 2 reset, sever 3, send 3 reset")
	if n.IsDown(0, second) || !n.IsDown(1, second) || n.IsDown(1, 4*second) {
		t.Error("which server is down")
	}
	n.wantAccepted(1, 0, second, "a dial of the other server")
	n.Revive(1)
	n.wantAccepted(1, 1, second, "a dial of a server that is back")
}

func TestRestartReachesABlackHole(t *testing.T) {
	marks.Expect(t, "gone at both ends")
	n := newTestNetwork(t, "restart 3s at=1s")
	inState(n, BlackholedGone)
	n.a2.state = Blackholed
	n.b.Freeze()
	n.want("a restart", n.strikeDue(),
		"down, restart at 4s, sever 1, forget 1, sever 2, send 2 reset, struck")
}

func TestWhenThereIsSomethingToDo(t *testing.T) {
	n := newTestNetwork(t, "cut at=5s", "cut at=2s", "delay 2s client=a request=1",
		"stall-mid-frame 7s client=b event=1")
	wantNext := func(want time.Duration) {
		t.Helper()
		if at, ok := n.Next(); !ok || at != want {
			t.Errorf("next at %s, %t; want %s", at, ok, want)
		}
	}
	wantNext(2 * second)
	if due := n.Due(2 * second); len(due) != 1 || due[0] != n.Armed()[1] {
		t.Errorf("due %v", due)
	}
	wantNext(5 * second)
	ask(n.a1, second)
	wantNext(3 * second)
	notify(n.b, second)
	check.Equal(t, n.HeldUntil(), 8*second, "held until")
	n.want("nothing ends", n.Release(), "")
	wantNext(0)
	n.want("the request", n.a1.DeliverUp(second), "apply 1")
	n.want("the rest", n.b.DeliverDown(second), "deliver 3 ent")
}

func TestLanesKnowTheirSize(t *testing.T) {
	n := newTestNetwork(t, "delay 1s request=1")
	empty := n.a1.Up.SizeWith(&Message{})
	ask(n.a1, second)
	one := n.a1.Up.size
	if want := empty + len(request().Bytes); one != want || n.a1.Up.SizeWith(request()) != 2*want {
		t.Errorf("%d bytes, want %d", one, want)
	}
	n.a1.DeliverUp(2 * second)
	if n.a1.Up.size != 0 || !n.a1.Idle(2*second) || n.a1.Idle(second) {
		t.Errorf("%d bytes", n.a1.Up.size)
	}
}
