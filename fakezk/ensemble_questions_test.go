package fakezk

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/realzk"
	"github.com/zksim/zksim/internal/testrun"
)

// asked is an ensemble of three servers that is asked questions: a real one, or a Server. Both give
// a server up after five seconds. Servers count from 0.
type asked struct {
	t       *testing.T
	number  int // of the question
	dial    func(server int) (net.Conn, error)
	leads   func() int // -1 for none, or if none says so in time
	servers []*realzk.Server
	// Each of these keeps a server from its work for a while, and returns at once.
	pause, cut, kill func(server int, d time.Duration)
}

// ensembleQuestions are what clients see of an ensemble, and the answer that both give.
var ensembleQuestions = []struct {
	question, answer string
	ask              func(a *asked) string
}{
	{"a sync at a leader that is cut off from the others", "answered", func(a *asked) string {
		w := a.client(a.leader())
		a.cut(a.leader(), 3*time.Second)
		return w.says(&proto.Sync{Path: "/"})
	}},
	{"a write there", "no answer", func(a *asked) string {
		w := a.client(a.leader())
		a.cut(a.leader(), 3*time.Second)
		w.patience = 2 * time.Second
		return w.says(w.create("/w"))
	}},
	{"a read at a follower that is cut off, of what was written since", "old",
		func(a *asked) string {
			writer, w := a.client(a.leader()), a.client(a.follower())
			a.oldThenNew(writer, w, func() { a.cut(a.follower(), 3*time.Second) })
			return w.read()
		}},
	{"the same, of a client that comes there with its session", "new", func(a *asked) string {
		writer, w := a.client(a.leader()), a.client(a.leader())
		a.oldThenNew(writer, w, func() { a.cut(a.follower(), 3*time.Second) })
		w.move(a.follower())
		time.Sleep(200 * time.Millisecond) // a real one applies in another thread what has come
		return w.read()
	}},
	{"the same, of a new session", "new", func(a *asked) string {
		writer := a.client(a.leader())
		a.oldThenNew(writer, writer, func() { a.cut(a.follower(), 3*time.Second) })
		return a.client(a.follower()).read()
	}},
	{"a client that comes there and has seen what was written since", "closed", func(a *asked) string {
		writer := a.client(a.leader())
		a.oldThenNew(writer, writer, func() { a.cut(a.follower(), 3*time.Second) })
		return outcome(writer.at(a.follower()))
	}},
	{"a write by way of a follower that is cut off for three seconds", "answered",
		func(a *asked) string {
			w := a.client(a.follower())
			a.cut(a.follower(), 3*time.Second)
			return w.says(w.create("/w"))
		}},
	{"an ephemeral node whose client is at such a follower, for the others", "gone",
		func(a *asked) string {
			w := a.clientFor(a.follower(), 2*time.Second)
			check.Equal(a.t, w.says(w.create("/e")), "answered", "create")
			a.cut(a.follower(), 4*time.Second)
			for range 7 {
				time.Sleep(500 * time.Millisecond)
				check.Equal(a.t, w.says(&proto.Exists{Path: w.path("/e")}), "answered", "its read")
			}
			return a.client(a.leader()).says(&proto.Exists{Path: w.path("/e")})
		}},
	{"a sync and a read at a leader that stood still while the others elected and wrote", "old",
		func(a *asked) string {
			return a.deposed("old", func(_, w *asker) string {
				if synced := w.says(&proto.Sync{Path: "/"}); synced != "answered" {
					return synced
				}
				return w.read()
			})
		}},
	{"a client that comes back there, whose timeout it has slept through", "expired",
		func(a *asked) string {
			return a.deposed("expired", func(other, w *asker) string {
				back := a.newClient(2 * time.Second)
				back.session = other.session
				return outcome(back.at(w.server))
			})
		}},
	{"that session, at the other servers", "lives", func(a *asked) string {
		return a.deposed("lives", func(other, _ *asker) string {
			return map[bool]string{true: "lives", false: "ended"}[other.ping() == nil]
		})
	}},
	{"a client that has seen the first zxid of a new leader, at a follower", "closed",
		func(a *asked) string {
			old := a.leader()
			w := a.client((old + 1) % 3)
			a.kill(old, 15*time.Second)
			w.lose()
			leader := a.leader()
			for began := time.Now(); leader == old; leader = a.leader() {
				if time.Since(began) > time.Minute {
					return "nobody else was elected"
				}
				time.Sleep(50 * time.Millisecond)
			}
			w.move(leader)
			_ = w.read()
			return outcome(w.at(3 - old - leader))
		}},
	{"the ephemeral node of a dead session, for a new one at a follower", "gone",
		func(a *asked) string {
			w := a.clientFor(a.follower(), 2*time.Second)
			check.Equal(a.t, w.says(w.create("/e")), "answered", "create")
			w.lose()
			for outcome(w.at(a.leader())) != "expired" {
				w.lose()
				time.Sleep(3 * time.Second)
			}
			return a.client(a.follower()).says(&proto.Exists{Path: w.path("/e")})
		}},
	{"a read on the connection that a session has left", "answered", func(a *asked) string {
		left, _ := a.moved()
		return left.says(&proto.Exists{Path: "/"})
	}},
	{"a write there, too", "closed", func(a *asked) string {
		left, _ := a.moved()
		return left.says(left.create("/w"))
	}},
	{"a new session when two of three servers are down", "closed", func(a *asked) string {
		a.kill(0, 4*time.Second)
		a.kill(1, 4*time.Second)
		time.Sleep(3 * time.Second)
		return outcome(a.newClient(2 * time.Second).at(2))
	}},
	{"an older session, when they are back", "lives", func(a *asked) string {
		w := a.clientFor(2, 4*time.Second)
		a.kill(0, 4*time.Second)
		a.kill(1, 4*time.Second)
		time.Sleep(5 * time.Second)
		return map[bool]string{true: "lives", false: "ended"}[w.ping() == nil]
	}},
}

// TestEnsembleQuestions asks a Server, and with -full three real servers, too. With -v it prints
// the table.
func TestEnsembleQuestions(t *testing.T) {
	real := askedReal(t)
	table := "| question | real 3.8.0 | fakezk |\n|---|---|---|"
	for i, q := range ensembleQuestions {
		ours, theirs := "", "not asked"
		synctest.Test(t, func(t *testing.T) {
			a := askedOurs(t)
			a.number = i
			ours = q.ask(a)
		})
		check.Equal(t, ours, q.answer, "fakezk: %s", q.question)
		if real != nil {
			real.number = i
			real.settle()
			theirs = q.ask(real)
			check.Equal(t, theirs, q.answer, "real: %s", q.question)
		}
		table += fmt.Sprintf("\n| %s | %s | %s |", q.question, theirs, ours)
	}
	if real != nil {
		real.settle()
	}
	t.Log("\n" + table)
}

// askedOurs is a new Server.
func askedOurs(t *testing.T) *asked {
	s := Start(t, Options{Servers: 3, TickTime: time.Second, MaxSessionTimeout: time.Minute})
	inject := func(kind fault.Kind) func(int, time.Duration) {
		return func(server int, d time.Duration) {
			check.OK(t, s.Inject(fault.Fault{Kind: kind, Server: server + 1, For: d, At: 1}))
			time.Sleep(time.Millisecond)
		}
	}
	return &asked{t: t, leads: func() int { return s.Leader() - 1 },
		dial: func(server int) (net.Conn, error) {
			return s.Dialer()("tcp", s.Addresses()[server], witnessPatience)
		},
		pause: inject(fault.PauseServer), cut: inject(fault.Isolate), kill: inject(fault.Restart)}
}

// askedReal is a real ensemble, nil without -full.
func askedReal(t *testing.T) *asked {
	if !testrun.Full() {
		return nil
	}
	servers := realzk.StartEnsemble(t, 3,
		realzk.Options{Cuttable: true, MaxSessionTimeout: time.Minute})
	return &asked{t: t, servers: servers,
		dial: func(server int) (net.Conn, error) {
			return net.DialTimeout("tcp", servers[server].Address(), witnessPatience)
		},
		leads: func() int {
			for i, s := range servers {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				text, _ := s.Ask(ctx, "srvr") // empty if it does not serve
				cancel()
				if strings.Contains(text, "Mode: leader") {
					return i
				}
			}
			return -1
		},
		pause: func(server int, d time.Duration) {
			check.OK(t, servers[server].StandStill(true))
			time.AfterFunc(d, func() { check.OK(t, servers[server].StandStill(false)) })
		},
		cut: func(server int, d time.Duration) {
			check.OK(t, servers[server].CutOff(true))
			time.AfterFunc(d, func() { check.OK(t, servers[server].CutOff(false)) })
		},
		kill: func(server int, d time.Duration) {
			go func() { check.OK(t, servers[server].Restart(context.Background(), d)) }()
			time.Sleep(100 * time.Millisecond)
		}}
}

// settle waits until all servers work together.
func (a *asked) settle() {
	for server := range 3 {
		for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
			w := a.newClient(2 * time.Second)
			if w.at(server) == nil && w.says(&proto.Sync{Path: "/"}) == "answered" && a.leads() >= 0 {
				break
			}
			check.Equal(a.t, time.Since(began) < time.Minute, true, "server %d works", server)
		}
	}
}

// leader waits until there is one.
func (a *asked) leader() int {
	for {
		if leader := a.leads(); leader >= 0 {
			return leader
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (a *asked) follower() int { return (a.leader() + 1) % 3 }

// An asker is a client of one server at a time.
type asker struct {
	*witness
	a      *asked
	server int
}

func (a *asked) newClient(timeout time.Duration) *asker {
	w := &asker{a: a, witness: &witness{timeoutMs: int32(timeout.Milliseconds())}}
	a.t.Cleanup(func() {
		if w.conn != nil {
			w.lose()
		}
	})
	return w
}

// client is a client of a server with a long session.
func (a *asked) client(server int) *asker { return a.clientFor(server, 40*time.Second) }

func (a *asked) clientFor(server int, timeout time.Duration) *asker {
	w := a.newClient(timeout)
	check.OK(a.t, w.at(server))
	return w
}

// at dials a server.
func (w *asker) at(server int) error {
	w.addresses = []string{"0", "1", "2"}
	w.dialer = func(address string) (net.Conn, error) { return w.a.dial(int(address[0] - '0')) }
	w.server = server
	return w.dial(w.addresses[server])
}

// move goes to another server with the session.
func (w *asker) move(server int) {
	if w.conn != nil {
		w.lose()
	}
	check.OK(w.a.t, w.at(server))
}

// path is a node of the question alone.
func (w *asker) path(name string) string {
	return fmt.Sprintf("/q%d%s", w.a.number, name[1:])
}

func (w *asker) create(name string) *proto.Create {
	r := &proto.Create{Code: proto.OpCreate, Path: w.path(name), ACL: worldAll, Data: []byte("old")}
	if name == "/e" {
		r.Flags = 1 // ephemeral
	}
	return r
}

// says sends a request, and says what comes of it.
func (w *asker) says(r proto.Request) string {
	_, _, err := w.call(r)
	return outcome(err)
}

// read is the data of the question's node.
func (w *asker) read() string {
	_, reply, err := w.call(&proto.GetData{Path: w.path("/v")})
	if err != nil {
		return outcome(err)
	}
	return string(reply.(proto.DataReply).Data)
}

// outcome is what comes of a request or of a dial.
func outcome(err error) string {
	if err == nil {
		return "answered"
	}
	for text, says := range map[string]string{"timeout": "no answer", "NoNode": "gone",
		"has expired": "expired", "EOF": "closed", "reset": "closed", "refused": "closed"} {
		if strings.Contains(err.Error(), text) {
			return says
		}
	}
	return err.Error()
}

// oldThenNew lets a client see the old data of a node, and the writer write new ones afterwards.
func (a *asked) oldThenNew(writer, w *asker, disturb func()) {
	check.Equal(a.t, writer.says(writer.create("/v")), "answered", "create")
	check.Equal(a.t, w.says(&proto.Sync{Path: "/"}), "answered", "sync")
	check.Equal(a.t, w.read(), "old", "data")
	disturb()
	check.Equal(a.t, writer.says(writer.set("new")), "answered", "write")
}

func (w *asker) set(data string) *proto.SetData {
	return &proto.SetData{Path: w.path("/v"), Data: []byte(data), Version: -1}
}

// deposed lets the leader stand still until the others have elected another one, which has written.
// Just after it has gone on it asks a client of another server, with a short session, and one of
// the old leader, until one of eight answers is the wanted one. A real one may notice at once, and
// closes the connection then; or it may answer before it ends a session.
func (a *asked) deposed(want string, ask func(other, w *asker) string) (answer string) {
	for range 8 {
		leader := a.leader()
		other, w := a.clientFor((leader+1)%3, 2*time.Second), a.client(leader)
		_ = w.says(w.create("/v"))
		check.Equal(a.t, w.says(w.set("old")), "answered", "write")
		const pause = 15 * time.Second
		began, wrote := time.Now(), false
		a.pause(leader, pause)
		for time.Since(began) < pause-300*time.Millisecond {
			check.OK(a.t, other.ping())
			wrote = wrote || other.says(other.set("new")) == "answered"
			if other.conn != nil && !wrote {
				other.lose()
			}
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(time.Until(began.Add(pause + 20*time.Millisecond)))
		if answer = "nobody else was elected"; wrote {
			answer = ask(other, w)
		}
		if answer == want {
			return answer
		}
		a.settle()
	}
	return answer
}

// moved is a session with two connections: the one that it has left, and a newer one.
func (a *asked) moved() (left, now *asker) {
	left = a.client(a.follower())
	now = a.newClient(20 * time.Second)
	now.session = left.session
	check.OK(a.t, now.at((a.leader()+2)%3))
	return left, now
}

// ping asks for a node, which the session must outlive.
func (w *asker) ping() error {
	var err error
	for range 50 {
		if w.conn == nil {
			if err = w.connect(); err != nil {
				return err
			}
		}
		if _, _, err = w.call(&proto.Exists{Path: "/"}); err == nil {
			return nil
		}
		w.lose()
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("ping: %w", err)
}
