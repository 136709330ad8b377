package zksim_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fuzz"
	"github.com/zksim/zksim/fuzz/object"
	"github.com/zksim/zksim/fuzz/property"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
	"github.com/zksim/zksim/linearizability/record"
	"github.com/zksim/zksim/recipes"
	"pgregory.net/rapid"
)

// The pages show the code between the markers letter by letter. TestPagesShowTestedCode
// compares them.

// snippet
func TestEphemeralIsGoneAfterExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time is virtual: no timeout takes long
		server := fakezk.Start(t)
		owner, watcher := server.Connect(t), server.Connect(t) // genuine *zk.Conn
		if _, err := owner.Create("/alive", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		_, _, gone, err := watcher.ExistsW("/alive")
		if err != nil {
			t.Fatal(err)
		}
		if err := server.ExpireSession(owner.SessionID()); err != nil {
			t.Fatal(err)
		}
		if ev := <-gone; ev.Type != zk.EventNodeDeleted {
			t.Errorf("got %v; expected the node to go with its session", ev)
		}
	})
}

// end of snippet

// snippet
func TestCreateWhoseReplyIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakezk.Start(t)
		conn := server.Connect(t)
		if err := server.Inject(fault.Fault{Kind: fault.DropReply, Op: "create", Request: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrConnectionClosed) {
			t.Errorf("got %v; expected a lost connection", err)
		}
		if exists, _, err := conn.Exists("/a"); err != nil || !exists {
			t.Errorf("got %v, %v; expected the node to exist", exists, err)
		}
	})
}

// end of snippet

// snippet
func TestMyLock(t *testing.T) {
	fuzz.Test(t, object.Lock(func(env object.Env) object.Locker {
		return recipes.NewLock(env.Conn, env.Path) // your lock here
	}))
}

// end of snippet

// snippet
func FuzzMyLock(f *testing.F) {
	fuzz.Fuzz(f, object.Lock(func(env object.Env) object.Locker {
		return recipes.NewLock(env.Conn, env.Path) // your lock here
	}))
}

// end of snippet

// TestGlobalConnection: two tests have one server and one connection, and the second one finds an
// empty tree.
func TestGlobalConnection(t *testing.T) {
	// snippet
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := fakezk.New(fakezk.Options{}) // in a variable of the package, for the tests
	go server.Serve(l)
	os.Setenv("ZK_SERVERS", l.Addr().String()) // or what your code reads
	// end of snippet
	defer server.Close()
	global, _, err := zk.Connect([]string{os.Getenv("ZK_SERVERS")}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer global.Close()
	for range 2 {
		if _, err := global.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Error(err)
		}
		server.ClearFaults()
		if err := server.Remove("/"); err != nil {
			t.Error(err)
		}
	}
}

// TestWriteUnderALock: the work under a lock has a token, and a context that ends with the hold.
func TestWriteUnderALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := fakezk.Start(t).Connect(t)
		err := writeReport(t.Context(), conn, func(ctx context.Context, token int64) error {
			if token == 0 || ctx.Done() == nil {
				t.Errorf("got token %d and context %v; expected both", token, ctx)
			}
			conn.Close()
			<-ctx.Done()
			return nil
		})
		if !errors.Is(err, recipes.ErrLost) {
			t.Errorf("got %v; expected ErrLost", err)
		}
	})
}

func writeReport(
	ctx context.Context, conn *zk.Conn, write func(ctx context.Context, token int64) error,
) error {
	// snippet
	lock := recipes.NewLock(conn, "/locks/report")
	err := lock.Do(ctx, func(ctx context.Context, token int64) error {
		return write(ctx, token) // ctx ends with the hold
	})
	// end of snippet
	return err
}

// TestRecordALock: a recorded lock can be read and judged.
func TestRecordALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := fakezk.Start(t).Connect(t)
		var file bytes.Buffer
		if err := recordLock(t.Context(), conn, &file); err != nil {
			t.Fatal(err)
		}
		read, err := record.Read(&file)
		if err != nil || len(read.History.Ops) != 1 || read.History.Ops[0].Token == 0 {
			t.Errorf("got %+v, %v; expected one call with a token", read.History.Ops, err)
		}
	})
}

// TestRecordNotices: session events are notices.
func TestRecordNotices(t *testing.T) {
	var file bytes.Buffer
	recorder, events := record.New(&file), make(chan zk.Event, 4)
	for _, s := range []zk.State{
		zk.StateConnected, zk.StateHasSession, zk.StateDisconnected, zk.StateExpired,
	} {
		events <- zk.Event{State: s}
	}
	close(events)
	recordNotices(recorder, events)
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := record.Read(&file)
	if err != nil || len(read.History.Notices) != 3 {
		t.Errorf("got %+v, %v; expected three notices", read.History.Notices, err)
	}
}

func recordNotices(recorder *record.Recorder, events <-chan zk.Event) {
	// snippet
	for e := range events {
		switch e.State {
		case zk.StateDisconnected:
			recorder.Notice("worker-1", linearizability.Disconnected, 0)
		case zk.StateHasSession:
			recorder.Notice("worker-1", linearizability.Connected, 0)
		case zk.StateExpired:
			recorder.Notice("worker-1", linearizability.SessionExpired, 0)
		}
	}
	// end of snippet
}

func recordLock(ctx context.Context, conn *zk.Conn, file io.Writer) error {
	lock := recipes.NewLock(conn, "/locks/report")
	// snippet
	recorder := record.New(file)
	call := recorder.Call("worker-1", ops.Lock, "")
	if err := lock.Lock(ctx); err != nil {
		call.Unknown(linearizability.Result{}, err) // it may have had an effect
	} else {
		call.OK(linearizability.Result{Token: lock.Token(), Session: conn.SessionID()})
	}
	// end of snippet
	return recorder.Close()
}

// snippet
func TestSettings(t *testing.T) {
	property.Check(t, func(rt *rapid.T, w *property.World) {
		service, want := newSettings(w.Conn("a")), "" // your service here
		rt.Repeat(map[string]func(*rapid.T){
			"write": func(rt *rapid.T) {
				want = rapid.String().Draw(rt, "value")
				service.write(w.Context(), want)
			},
			"wait": func(*rapid.T) { w.Sleep(10 * time.Second) },
			"": func(rt *rapid.T) { // after each action
				if got := w.Tree("/")["/settings"]; got != want {
					rt.Fatalf("the tree has %q; expected %q", got, want)
				}
			},
		})
	})
}

// end of snippet

// settings is a service that keeps a text in a znode, and tries again until it is there.
type settings struct{ conn *zk.Conn }

func newSettings(conn *zk.Conn) settings { return settings{conn} }

func (s settings) write(ctx context.Context, text string) {
	for ctx.Err() == nil {
		_, err := s.conn.Set("/settings", []byte(text), -1)
		if errors.Is(err, zk.ErrNoNode) {
			_, err = s.conn.Create("/settings", []byte(text), 0, zk.WorldACL(zk.PermAll))
		}
		if err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
