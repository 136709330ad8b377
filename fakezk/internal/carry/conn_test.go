package carry

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/internal/check"
)

// inState brings connection 1 into a state.
func inState(n testNetwork, s State) *Conn {
	c := n.a1
	switch s {
	case Hanging:
		c.state = Hanging
		c.QueueUp(&Message{Bytes: []byte("hello"), Dials: true})
		c.Up.hold(time.Hour)
	case Severed:
		send(c.endSoon(errReset))
	case Blackholed, BlackholedGone, Lost:
		c.state = Blackholed
		if s == BlackholedGone {
			c.ClientClosed(false)
		} else if s == Lost {
			send(c.ServerClosed(nil))
		}
	case Frozen:
		c.Freeze()
	case Over:
		c.Close()
	}
	check.Equal(n, c.State(), s, "state")
	return c
}

// TestHowConnectionsEnd checks, for each state, the actions and the next state when the client
// closes the connection or its direction, when the server closes it, and when it is reset.
func TestHowConnectionsEnd(t *testing.T) {
	marks.Expect(t, "half close")
	type outcome struct {
		actions string
		state   State
	}
	soon := outcome{"sever 1, send 1 closed", Severed}
	resets := outcome{"reset 1 reset", Over}
	nothing := func(s State) outcome { return outcome{"", s} }
	tests := []struct {
		state                       State
		client, half, server, reset outcome
	}{
		{Open, outcome{"sever 1, forget 1", Over}, soon, soon, resets},
		{
			Hanging, outcome{"sever 1, forget 1", Over}, outcome{"sever 1, forget 1", Over},
			soon, resets,
		},
		{Severed, outcome{"forget 1", Over}, nothing(Severed), nothing(Severed), resets},
		{Blackholed, outcome{"unheard 1", BlackholedGone}, outcome{"unheard 1", BlackholedGone},
			outcome{"sever 1, send 1 closed", Lost}, resets},
		{BlackholedGone, nothing(BlackholedGone), nothing(BlackholedGone),
			outcome{"sever 1, forget 1", Over}, resets},
		{Lost, outcome{"forget 1", Over}, outcome{"forget 1", Over}, nothing(Lost), resets},
		{Frozen, nothing(Frozen), nothing(Frozen), nothing(Frozen), resets},
		{Over, nothing(Over), nothing(Over), nothing(Over), nothing(Over)},
	}
	for _, test := range tests {
		ends := []struct {
			name string
			end  func(*Conn) []Action
			want outcome
		}{
			{"client", func(c *Conn) []Action {
				return append(c.ClientClosed(false), c.nextUp()...)
			},
				test.client},
			{"half", func(c *Conn) []Action { return append(c.ClientClosed(true), c.nextUp()...) },
				test.half},
			{"server", func(c *Conn) []Action { return c.ServerClosed(nil) }, test.server},
			{"reset", func(c *Conn) []Action { return c.Reset(errReset) }, test.reset},
		}
		for _, e := range ends {
			n := newTestNetwork(t)
			c := inState(n, test.state)
			actions := e.end(c)
			check.Equal(t, (outcome{words(actions), c.State()}), e.want, "state %d, %s", test.state,
				e.name)
			check.Equal(t, len(n.Conns()) == 3, c.State() != Over,
				"state %d, %s: the network knows the connection", test.state, e.name)
		}
	}
}

// nextUp delivers the first message to the server, if it may go.
func (c *Conn) nextUp() []Action {
	if !c.Ready(&c.Up, second) {
		return nil
	}
	return c.DeliverUp(second)
}

func TestTheClientHearsOfTheEndBehindWhatIsOnHold(t *testing.T) {
	marks.Expect(t, "garbage")
	n := newTestNetwork(t)
	n.a1.Hold(3 * second)
	n.a1.QueueDown(&Message{Bytes: []byte("reply")})
	n.want("garbage", func() []Action {
		n.a2.QueueUp(&Message{End: errors.New("garbage")})
		return n.a2.DeliverUp(second)
	}(), "sever 2, send 2 closed")
	send(n.a1.ServerClosed(nil))
	n.want("too early", n.a1.DeliverDown(3*second-1), "")
	n.want("the reply", n.a1.DeliverDown(3*second), "deliver 1 reply")
	n.want("the end", n.a1.DeliverDown(3*second), "end 1 closed")
	n.want("more", n.a1.FromServer(&Message{Bytes: []byte("reply")}, nil, 3*second), "")
}

func TestInABlackHoleEverythingVanishes(t *testing.T) {
	marks.Expect(t, "end lost in a black hole")
	n := newTestNetwork(t, "blackhole 1s request=1", "cut request=2", "cut event=1")
	ask(n.a1, second)
	n.want("a request", ask(n.a2, second), "")
	n.want("an event", notify(n.a2, second), "")
	n.want("another client's request", ask(n.b, second), "struck 3, apply 3 damaged")
	if !n.a1.Ignores() || n.b.Ignores() {
		t.Error("who is ignored")
	}
	n.a2.Hold(time.Hour)
	n.a2.QueueUp(&Message{End: io.EOF})
	n.a2.Up.hold(time.Hour)
	n.a2.Empty()
	check.Equal(t, n.a2.State(), BlackholedGone, "state")
	n.want("the end of faults", n.Release(), "reset 1 reset, reset 2 reset")
}

// TestDialsThatAreKnownByTheirHandshake: outages act on it.
func TestDialsThatAreKnownByTheirHandshake(t *testing.T) {
	marks.Expect(t, "handshake that hangs")
	n := newTestNetwork(t, "blackhole 3s client=a request=1", "refuse 5s client=a request=2")
	ask(n.a1, second)
	late := &Conn{ID: 4}
	n.Open(late)
	hello := func() *Message { return &Message{Bytes: []byte("hello"), Dials: true, Client: 1} }
	late.QueueUp(hello())
	n.want("the handshake", late.DeliverUp(second), "hang 4, later 4 at 4s")
	if _, ok := late.Next(); !ok || late.Ready(&late.Up, 3*second) || late.State() != Hanging {
		t.Errorf("state %d", late.State())
	}
	n.want("when the outage is over", late.DeliverUp(4*second), "admit 4, apply 4")
	ask(n.b, 4*second) // b is refused
	late = &Conn{ID: 5}
	n.Open(late)
	late.QueueUp(&Message{Bytes: []byte("ruok"), Dials: true, Last: true, Client: 2})
	if !late.Ignores() {
		t.Error("what follows a word counts")
	}
	n.want("a word", late.DeliverUp(4*second), "apply 5")
}

func TestRequestsAreCountedAsCoordinates(t *testing.T) {
	marks.Expect(t, "message without a coordinate")
	n := newTestNetwork(t, "drop-request request=3", "drop-request client=b request=1 conn=2")
	n.want("first", ask(n.a1, 0), "apply 1")
	hello := &Conn{ID: 9, Client: n.a1.Client, Number: 3}
	n.Open(hello)
	n.want("a handshake", ask(hello, 0), "apply 9")
	hello.QueueUp(&Message{Bytes: []byte{0, 0, 0, 1}})
	n.want("what is no request", hello.DeliverUp(0), "apply 9")
	n.want("second", ask(n.b, 0), "apply 3")
	n.want("third", ask(n.a2, 0), "struck 2 taken, sever 2, send 2 reset")
	if first := n.Armed()[0]; first.Seen != 3 || n.Armed()[1].Seen != 0 || !n.Waiting() {
		t.Errorf("seen %d and %d", first.Seen, n.Armed()[1].Seen)
	}
	m := event()
	if n.a2.CountEvent(m); m.Number != 1 || n.a1.Client.requests != 2 {
		t.Errorf("event %d, requests %d", m.Number, n.a1.Client.requests)
	}
}
