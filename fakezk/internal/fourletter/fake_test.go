package fourletter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/fourletter"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// start is the start time of every fake server.
var start = time.Date(2026, 11, 21, 12, 25, 31, 922e6, time.UTC)

// fake is the engine and the state that a front keeps for the words.
type fake struct {
	t     *testing.T
	now   time.Time
	conns map[string]engine.ConnID
	ids   map[string]int64
	fourletter.Server
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, now: start, conns: map[string]engine.ConnID{}, ids: map[string]int64{}}
	settings := fourletter.Settings{
		ClientPort: 2181, DataDir: "/var/lib/zookeeper", MaxClientConns: 60,
		TickTime:          2 * time.Second,
		MinSessionTimeout: 4 * time.Second, MaxSessionTimeout: 40 * time.Second,
	}
	f.Server = fourletter.Server{
		Engine: engine.New(engine.Config{
			TickTime:          settings.TickTime,
			MinSessionTimeout: settings.MinSessionTimeout,
			MaxSessionTimeout: settings.MaxSessionTimeout,
			Observe: func(frameBytes int, r engine.Reaction) {
				f.Traffic.Count(frameBytes, &r)
			},
		}, start),
		Started: start, Addr: addrOf, Asker: "127.0.0.1:50000",
		TraceMask: fourletter.DefaultTraceMask,
		Settings:  settings,
		Env: fourletter.Environment("localhost", "6.1.0", "zookeeper",
			"/var/lib/zookeeper", "/"),
	}
	return f
}

func addrOf(id engine.ConnID) string { return fmt.Sprintf("127.0.0.1:%d", 40000+id) }

func (f *fake) connect(name string, timeout time.Duration) {
	id := engine.ConnID(len(f.conns) + 1)
	f.conns[name] = id
	f.Engine.Open(id, 0, "127.0.0.1", f.now)
	frame := wire.AppendConnectRequest(nil, proto.ConnectRequest{
		TimeoutMs: int32(timeout.Milliseconds()), Password: make([]byte, 16), HasReadOnly: true,
	})
	r := f.Engine.Handle(id, frame[4:], f.now)
	if r.Request.Session == 0 {
		f.t.Fatalf("the session of %s is refused", name)
	}
	f.ids[name] = r.Request.Session
}

func (f *fake) ask(name string, req proto.Request) {
	f.now = f.now.Add(time.Millisecond)
	xid := int32(5)
	if req.Op() == proto.OpPing {
		xid = -2
	}
	f.Engine.Handle(f.conns[name], wire.AppendRequest(nil, xid, req)[4:], f.now)
}

func (f *fake) word(word string) string {
	f.Now = f.now
	f.Words.Received++
	text := fourletter.Take(word, nil, &f.Server)()
	if word == "srst" {
		f.Words = engine.Stats{}
		f.Traffic.Reset()
	}
	f.Words.Sent += fourletter.Packets(text)
	return text
}

func (f *fake) sessions() map[string]int64 { return f.ids }

func (f *fake) addresses() map[string]string {
	addrs := map[string]string{}
	for name, conn := range f.conns {
		addrs[name] = addrOf(conn)
	}
	return addrs
}
