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

// send puts messages to send into the lanes to the clients, and drops the other actions.
func send(actions []Action) { Perform(actions, &sender{}) }

type sender struct{ recorder }

func (*sender) Send(c *Conn, m *Message) { c.QueueDown(m) }

// words prints actions in one line: the action, its connection, and its argument.
func words(actions []Action) string {
	r := &recorder{}
	Perform(actions, r)
	return r.String()
}

// recorder is a Driver that prints what it has to do. A client has one session with its number.
type recorder struct {
	words   []string
	applied *Armed // the fault of the last action, if that was an Apply
	applies bool   // it was
}

func (r *recorder) String() string { return strings.Join(r.words, ", ") }

// add adds a word, with a connection, if there is one, and arguments.
func (r *recorder) add(word string, c *Conn, args ...any) {
	if c != nil {
		word += fmt.Sprint(" ", c.ID)
	}
	for _, arg := range args {
		switch arg {
		case nil, "":
		case io.EOF:
			word += " closed"
		case errReset:
			word += " reset"
		default:
			word += fmt.Sprint(" ", arg)
		}
	}
	r.words, r.applied, r.applies = append(r.words, word), nil, false
}

// at is a time as an argument.
func at(t time.Duration) string { return fmt.Sprint("at ", t) }

func late(t time.Duration) string {
	if t == 0 {
		return ""
	}
	return fmt.Sprint("late ", t)
}

func (r *recorder) FaultDue(f *Armed) { r.add(string(f.Kind)+" is due", nil) }

func (r *recorder) Target(f *Armed) (client int64, ok bool) {
	client, ok = map[string]int64{"": 0, "a": 1, "b": 2}[f.Client]
	return client, ok
}

func (r *recorder) Struck(*Armed) { r.add("struck", nil) }

func (r *recorder) Hit(c *Conn, _ *Message, _ *Armed, taken bool) {
	r.add("struck", c, map[bool]string{true: "taken"}[taken])
}

func (r *recorder) Apply(c *Conn, m *Message, f *Armed) {
	refusal := ""
	if m.Refusal != proto.OK {
		refusal = "refused " + m.Refusal.String()
	}
	r.add("apply", c, refusal, map[bool]string{true: "damaged"}[f != nil])
	r.applied, r.applies = f, true
}

func (r *recorder) Pause(c *Conn, _ *Message, _ *Armed, until time.Duration) {
	r.add("pause", c, at(until))
}

func (r *recorder) Send(c *Conn, m *Message) {
	when := ""
	if m.NotBefore > 0 {
		when = at(m.NotBefore)
	}
	r.add("send", c, string(m.Bytes), when, m.End)
}

func (r *recorder) Deliver(c *Conn, m *Message)            { r.add("deliver", c, string(m.Bytes)) }
func (r *recorder) Later(c *Conn, _ bool, t time.Duration) { r.add("later", c, at(t)) }

func (r *recorder) Hang(c *Conn)             { r.add("hang", c) }
func (r *recorder) Admit(c *Conn)            { r.add("admit", c) }
func (r *recorder) Sever(c *Conn)            { r.add("sever", c) }
func (r *recorder) End(c *Conn, err error)   { r.add("end", c, err) }
func (r *recorder) Reset(c *Conn, err error) { r.add("reset", c, err) }
func (r *recorder) Forget(c *Conn)           { r.add("forget", c) }
func (r *recorder) Unheard(c *Conn)          { r.add("unheard", c) }
func (r *recorder) Vanish(c *Conn)           { r.add("vanish", c) }

func (r *recorder) ExpireOn(c *Conn, after time.Duration) { r.add("expire", c, late(after)) }
func (r *recorder) Sessions(client int64) []int64         { return []int64{client} }

func (r *recorder) Expire(session int64, after time.Duration) bool {
	r.add("expire of client", nil, session, late(after))
	return true
}

func (r *recorder) Crash(_ int64, _ *Armed, t time.Duration) { r.add("crash", nil, at(t)) }
func (r *recorder) Restart(_ int, _ *Armed, t time.Duration) { r.add("restart", nil, at(t)) }
func (r *recorder) Elect(_ *Armed, t time.Duration)          { r.add("elect", nil, at(t)) }
func (r *recorder) Failover(_ *Armed, t time.Duration)       { r.add("failover", nil, at(t)) }
func (r *recorder) Lag(_ int, _ *Armed, t time.Duration)     { r.add("lag", nil, at(t)) }
func (r *recorder) Down(int)                                 { r.add("down", nil) }
func (r *recorder) Isolate(_ int, _ *Armed, t time.Duration) { r.add("isolate", nil, at(t)) }
func (r *recorder) PauseServer(_ int, _ *Armed, t time.Duration) {
	r.add("pause-server", nil, at(t))
}

func (n testNetwork) want(what string, actions []Action, want string) {
	n.Helper()
	if got := words(actions); got != want {
		n.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// wantAccepted dials a server.
func (n testNetwork) wantAccepted(client int64, server int, now time.Duration, of ...any) {
	n.Helper()
	answer, _, _ := n.Dial(client, server, now)
	check.Equal(n, answer, Accepted, of...)
}
