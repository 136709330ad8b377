package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// A bench is a test bench: an engine with its time and its outputs.
type bench struct {
	t       *testing.T
	e       *Engine
	now     time.Time
	next    ConnID
	outputs []string // since the last call of takeOutputs
}

// start is a multiple of the tick and of 10 s.
var start = time.UnixMilli(1_700_000_000_000)

func newBench(t *testing.T, change func(*Config)) *bench {
	cfg := Config{
		TickTime:          time.Second,
		MinSessionTimeout: 2 * time.Second, MaxSessionTimeout: 20 * time.Second,
	}
	if change != nil {
		change(&cfg)
	}
	return &bench{t: t, e: New(cfg, start), now: start}
}

// connect opens a connection with a new session.
func (b *bench) connect(timeout time.Duration) ConnID {
	b.t.Helper()
	return b.connectTo(0, 0, timeout)
}

// connectTo opens a connection to a server with a session, or with a new one if 0.
func (b *bench) connectTo(server int, session int64, timeout time.Duration) ConnID {
	b.t.Helper()
	b.next++
	b.e.Open(b.next, server, "127.0.0.1", b.now)
	password := passwordOf(session)
	hello := wire.AppendConnectRequest(nil, proto.ConnectRequest{
		TimeoutMs: int32(timeout.Milliseconds()), HasReadOnly: true,
		SessionID: session, Password: password[:],
	})
	if b.take(b.e.Handle(b.next, hello[4:], b.now)).Request.Session == 0 {
		b.t.Fatal("the session is refused")
	}
	b.outputs = nil
	return b.next
}

func (b *bench) ask(id ConnID, req proto.Request) Request {
	b.t.Helper()
	return b.take(b.e.Handle(id, wire.AppendRequest(nil, 7, req)[4:], b.now)).Request
}

// must fails the test unless every request succeeds.
func (b *bench) must(id ConnID, reqs ...proto.Request) {
	b.t.Helper()
	for _, req := range reqs {
		if r := b.ask(id, req); r.Err != proto.OK {
			b.t.Fatalf("%s: %s", req.Op(), r.Err)
		}
	}
}

// wait lets time pass and calls Tick at each deadline of the engine.
func (b *bench) wait(d time.Duration) {
	until := b.now.Add(d)
	for next := b.e.NextDeadline(); !next.IsZero() &&
		!next.After(until); next = b.e.NextDeadline() {
		b.now = next
		b.take(b.e.Tick(b.now))
		if again := b.e.NextDeadline(); again.Equal(next) {
			b.t.Fatalf("after the tick at %s the deadline is still the same", next)
		}
	}
	b.now = until
}

func (b *bench) take(r Reaction) Reaction {
	for _, out := range r.Out {
		switch {
		case out.Event != nil:
			b.note(out.Conn, fmt.Sprintf("%s %s", out.Event.Type, out.Event.Path))
		case out.Close:
			b.note(out.Conn, "closed")
		}
	}
	return r
}

func (b *bench) note(id ConnID, text string) {
	b.outputs = append(
		b.outputs, fmt.Sprintf("%d:%s@%d", id, text, b.now.Sub(start).Milliseconds()),
	)
}

// takeOutputs returns the events and closes since its last call, with the time in ms since start.
func (b *bench) takeOutputs() string {
	text := strings.Join(b.outputs, " ")
	b.outputs = nil
	return text
}

func (b *bench) wantOutputs(want string) {
	b.t.Helper()
	if got := b.takeOutputs(); got != want {
		b.t.Errorf("outputs\n  %s\nwant\n  %s", got, want)
	}
}

func remove(path string) proto.Request { return &proto.Delete{Path: path, Version: -1} }

var ping = &proto.Simple{Code: proto.OpPing}
