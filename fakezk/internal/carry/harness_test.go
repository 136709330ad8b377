package carry

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// testNetwork is a network with two clients: a has the connections 1 and 2, and b has 3.
// The handshakes are over.
type testNetwork struct {
	*testing.T
	*Network
	a1, a2, b *Conn
}

const second = time.Second

func newTestNetwork(t *testing.T, plan ...string) testNetwork {
	t.Helper()
	n := New(parse(t, plan...)...)
	a, b := &Client{ID: 1, Name: "a"}, &Client{ID: 2, Name: "b"}
	conns := []*Conn{{ID: 1, Client: a, Number: 1}, {ID: 2, Client: a, Number: 2},
		{ID: 3, Client: b, Number: 1}}
	n.Serve(Ensemble{Servers: 3, Leader: func() int { return 2 }})
	for _, c := range conns {
		c.Greeted = true
		n.Open(c)
	}
	return testNetwork{t, n, conns[0], conns[1], conns[2]}
}

func parse(t *testing.T, lines ...string) []fault.Fault {
	t.Helper()
	var list []fault.Fault
	for _, line := range lines {
		f, err := fault.Parse(line)
		check.OK(t, err)
		list = append(list, f)
	}
	return list
}

// request is a create of /x.
func request() *Message {
	create := &proto.Create{Code: proto.OpCreate, Path: "/x"}
	return &Message{Bytes: wire.AppendRequest(nil, 1, create)[4:]}
}

// event is a notification of /x.
func event() *Message {
	return &Message{Bytes: []byte("event"), Event: &proto.WatcherEvent{Path: "/x"}}
}

// ask sends a request on a connection and lets it reach the server.
func ask(c *Conn, now time.Duration) []Action {
	c.QueueUp(request())
	return c.DeliverUp(now)
}

// notify lets the server send a notification and the client get it.
func notify(c *Conn, now time.Duration) []Action {
	m := event()
	c.CountEvent(m)
	send(c.FromServer(m, nil, now))
	return c.DeliverDown(now)
}

// send puts messages to send into the lanes to the clients, and returns the other actions.
func send(actions []Action) (rest []Action) {
	for _, a := range actions {
		if a.Do == Send {
			a.Conn.QueueDown(a.Message)
		} else {
			rest = append(rest, a)
		}
	}
	return rest
}

var doNames = map[Do]string{
	Struck: "struck", Apply: "apply", Pause: "pause", Deliver: "deliver", Send: "send",
	Later: "later",
	Sever: "sever", Hang: "hang",
	Admit: "admit", End: "end", Reset: "reset", Forget: "forget", Unheard: "unheard",
	Vanish: "vanish",
	Expire: "expire", Restart: "restart", Crash: "crash", Lag: "lag", Isolate: "isolate",
	Failover: "failover",
}

// words prints actions in one line: the action, its connection, and its argument.
func words(actions []Action) string {
	var list []string
	for _, a := range actions {
		word := doNames[a.Do]
		if a.Conn != nil {
			word += fmt.Sprint(" ", a.Conn.ID)
		}
		list = append(list, word+details(a))
	}
	return strings.Join(list, ", ")
}

func details(a Action) (text string) {
	if a.Taken {
		text += " taken"
	}
	if a.Do == Apply && a.Fault != nil {
		text += " damaged"
	}
	if (a.Do == Deliver || a.Do == Send) && a.Message.Bytes != nil {
		text += " " + string(a.Message.Bytes)
	}
	if a.Do == Send && a.Message.NotBefore > 0 {
		text += fmt.Sprint(" at ", a.Message.NotBefore)
	}
	err := a.Err
	if a.Do == Send {
		err = a.Message.End
	}
	switch err {
	case nil:
	case io.EOF:
		text += " closed"
	case errReset:
		text += " reset"
	}
	if a.Do == Expire && a.Conn == nil {
		text += fmt.Sprint(" of client ", a.Client)
	}
	if a.Late > 0 {
		text += fmt.Sprint(" late ", a.Late)
	}
	switch a.Do {
	case Later, Pause, Restart, Crash, Lag, Isolate, Failover:
		text += fmt.Sprint(" at ", a.At)
	}
	return text
}

func (n testNetwork) want(what string, actions []Action, want string) {
	n.Helper()
	if got := words(actions); got != want {
		n.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}
