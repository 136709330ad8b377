package fakezk

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

const (
	stuckReplies    = 64
	stuckReplyBytes = 1_000_000
	stuckQueued     = 4 << 20 // a MaxQueued that is reached soon
)

// neverReads is a session that asks for 64 MB, then creates /last, and does not
// read a byte of it, nor ping.
func neverReads(t *testing.T, s *Server, address string) (*rawClient, proto.ConnectResponse) {
	t.Helper()
	mustDo(t, s.Put("/big", make([]byte, stuckReplyBytes)))
	r := dialTCP(t, address)
	session := r.handshake(proto.ConnectRequest{TimeoutMs: 600_000})
	r.mustCall(rawCreate("/mine", proto.FlagEphemeral))
	var requests []byte
	for range stuckReplies {
		requests = wire.AppendRequest(requests, 1, &proto.GetData{Path: "/big"})
	}
	r.send(wire.AppendRequest(requests, 2, rawCreate("/last", 0)))
	return r, session
}

// longTimeouts are options by which a client that does not ping keeps its session.
func longTimeouts(maxQueued int) Options {
	return Options{MaxQueued: maxQueued, MaxSessionTimeout: 10 * time.Minute}
}

// awaitStuck returns when a client is behind with more than a number of bytes.
func awaitStuck(t *testing.T, s *Server, n int) {
	t.Helper()
	await(t, "a client that is behind", func() bool { return unread(s) > n })
}

// unread is how many bytes the server keeps for its TCP clients.
func unread(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.links.byID {
		if o, ok := l.sink.(*outbox); ok {
			o.mu.Lock()
			n += o.unread
			o.mu.Unlock()
		}
	}
	return n
}

// work lets 50 clients do 40 requests each.
func work(t *testing.T, address string) {
	t.Helper()
	var clients []*rawClient
	for range 50 {
		r, _ := tcpSession(t, address)
		clients = append(clients, r)
	}
	var wg sync.WaitGroup
	for i, r := range clients {
		wg.Go(func() {
			for n := range 20 {
				for _, req := range []proto.Request{rawCreate(fmt.Sprintf("/work-%d-%d", i, n), 0),
					&proto.GetData{Path: "/"}} {
					r.xid++
					if _, err := r.Write(wire.AppendRequest(nil, r.xid, req)); err != nil {
						t.Error(err)
						return
					}
					if h, err := readReply(r); err != nil || h.Xid != r.xid || h.Err != proto.OK {
						t.Errorf("%+v, %v", h, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// readReply is raw.reply for goroutines, which must not end the test.
func readReply(r io.Reader) (proto.ReplyHeader, error) {
	packet, err := wire.ReadPacket(r, wire.MaxFrameLimit)
	if err != nil {
		return proto.ReplyHeader{}, err
	}
	h, _, err := wire.DecodeReplyHeader(packet[4:])
	return h, err
}

func TestClientThatNeverReadsHoldsUpNobodyAndTakesLittleMemory(t *testing.T) {
	s, address := startTCP(t, longTimeouts(stuckQueued))
	_, session := neverReads(t, s, address)
	awaitStuck(t, s, stuckQueued)
	work(t, address)
	if got, limit := unread(s), stuckQueued+stuckReplyBytes+100; got <= stuckQueued || got > limit {
		t.Errorf("%d bytes are kept, want between %d and %d", got, stuckQueued, limit)
	}
	wantConnected(t, s, session.SessionID)
}

// The negative control: without a bound all is kept.
func TestWithoutABoundClientThatNeverReadsTakesMuchMemory(t *testing.T) {
	s, address := startTCP(t, longTimeouts(1<<40))
	var session proto.ConnectResponse
	awaitNode(t, s, "/last", func() { _, session = neverReads(t, s, address) })
	wantConnected(t, s, session.SessionID)
	if got, limit := unread(s), stuckQueued+stuckReplyBytes+100; got <= limit {
		t.Errorf(
			"only %d bytes are kept: the bound of the test above is not what keeps it small", got,
		)
	}
}

// wantConnected says that a session is alive and has its connection.
func wantConnected(t *testing.T, s *Server, id int64) {
	t.Helper()
	for _, session := range s.Sessions() {
		if session.ID == id && session.Connected {
			return
		}
	}
	t.Errorf("session 0x%x is not connected", id)
}

// A client that begins to read again gets all it asked for, whether it had to
// wait or, with less than MaxQueued, was served meanwhile.
func TestClientThatReadsLateGetsEverything(t *testing.T) {
	for _, maxQueued := range []int{stuckQueued, 0} {
		t.Run(fmt.Sprint(maxQueued), func(t *testing.T) {
			s, address := startTCP(t, longTimeouts(maxQueued))
			var r *rawClient
			if maxQueued == 0 {
				awaitNode(t, s, "/last", func() { r, _ = neverReads(t, s, address) })
			} else {
				r, _ = neverReads(t, s, address)
				awaitStuck(t, s, maxQueued)
			}
			for range stuckReplies {
				if h, body := r.reply(); h.Xid != 1 || len(body) < stuckReplyBytes {
					t.Fatalf("reply %+v of %d bytes", h, len(body))
				}
			}
			r.wantReply(2)
		})
	}
}

// The session of a client that does not read may end, and its connection goes
// with it, although a write to it is under way.
func TestSessionOfClientThatNeverReadsMayEnd(t *testing.T) {
	s, address := startTCP(t, longTimeouts(stuckQueued))
	other := s.Connect(t)
	r, session := neverReads(t, s, address)
	awaitStuck(t, s, stuckQueued)
	mustDo(t, s.ExpireSession(session.SessionID))
	if exists, _, err := other.Exists("/mine"); exists || err != nil {
		t.Errorf("its ephemeral exists: %v, %v", exists, err)
	}
	n, err := io.Copy(io.Discard, r)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("after %d bytes: %v", n, err)
	}
	if n >= stuckReplies*stuckReplyBytes {
		t.Error("the connection was never closed")
	}
}

// A server that is closed waits for a client as long as it reads, however slowly.
func TestCloseWritesWhatIsQueuedForASlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := behindOnPipe(t, func(l net.Listener) net.Listener {
			return l
		}, func(c net.Conn) net.Conn { return c })
		go func() { _ = s.Close() }()
		n, buf := 0, make([]byte, 64<<10)
		for began := time.Now(); ; {
			got, err := r.Read(buf)
			if n += got; err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("after %d bytes and %s: %v", n, time.Since(began), err)
			}
			time.Sleep(time.Duration(got) * time.Second / 8_000_000) // 8 MB/s
		}
		if want := pipeReplies * stuckReplyBytes; n < want {
			t.Errorf("%d bytes, want %d", n, want)
		}
	})
}

// TLS waits at its end for a client that does not read, and at its beginning for
// one that says nothing; a server does neither.
func TestCloseGivesAClientThatDoesNotReadASecond(t *testing.T) {
	plain := func(c net.Conn) net.Conn { return c }
	secured := func(c net.Conn) net.Conn {
		return tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	}
	for name, test := range map[string]struct {
		listen func(net.Listener) net.Listener
		dial   func(net.Conn) net.Conn
	}{
		"plain": {func(l net.Listener) net.Listener { return l }, plain},
		"TLS": {
			func(l net.Listener) net.Listener { return tls.NewListener(l, serverTLS(t)) }, secured,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := behindOnPipe(t, test.listen, test.dial)
				began := time.Now()
				mustDo(t, s.Close())
				check.Equal(t, time.Since(began), flushGrace, "time of Close")
			})
		})
	}
}

const pipeReplies = 20

// behindOnPipe is a server in a bubble, one client that has said nothing and one
// that has asked for 20 MB and read nothing of it.
func behindOnPipe(t *testing.T, secure func(net.Listener) net.Listener,
	dial func(net.Conn) net.Conn) (*Server, *rawClient) {
	t.Helper()
	s := Start(t)
	mustDo(t, s.Put("/big", make([]byte, stuckReplyBytes)))
	pipes := servePipes(t, s, secure)
	pipes.dial(t)
	r := pipes.dial(t)
	r.Conn = dial(r.Conn)
	r.handshake(proto.ConnectRequest{TimeoutMs: 40_000})
	var requests []byte
	for range pipeReplies {
		requests = wire.AppendRequest(requests, 1, &proto.GetData{Path: "/big"})
	}
	r.send(requests)
	synctest.Wait()
	if got := unread(s); got < pipeReplies*stuckReplyBytes {
		t.Fatalf("%d bytes are kept", got)
	}
	return s, r
}

// pipeListener accepts connections within the process that buffer no byte: a writer waits for the
// reader.
type pipeListener struct {
	made   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func servePipes(t *testing.T, s *Server, secure func(net.Listener) net.Listener) *pipeListener {
	l := &pipeListener{made: make(chan net.Conn), closed: make(chan struct{})}
	go func() {
		mustDo(t, s.Serve(secure(l)))
	}()
	return l
}

func (l *pipeListener) dial(t *testing.T) *rawClient {
	near, far := net.Pipe()
	l.made <- far
	t.Cleanup(func() { _ = near.Close() })
	return &rawClient{Conn: near, t: t}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.made:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// TestConnectionWithTooManyUnreadEventsIsDropped: events that others cause cannot wait for the
// client. Beyond twice MaxQueued the connection ends, and the session lives on.
func TestConnectionWithTooManyUnreadEventsIsDropped(t *testing.T) {
	const event = 4 + 16 + 4 + 4 + 4 + len("/watched-000")
	for _, test := range []struct {
		name   string
		events int
		drops  bool
	}{{"as many as fit", 199, false}, {"too many", 201, true}} { // a reply may count still
		t.Run(test.name, func(t *testing.T) {
			t.Cleanup(func() { wantNoGoroutine(t) })
			s := Start(t, Options{MaxQueued: 100 * event})
			pipes := servePipes(t, s, func(l net.Listener) net.Listener { return l })
			r := pipes.dial(t)
			session := r.handshake(proto.ConnectRequest{TimeoutMs: 40_000})
			var names []string
			for i := range test.events {
				names = append(names, fmt.Sprintf("/watched-%03d", i))
			}
			r.mustCall(&proto.SetWatches{
				Code: proto.OpSetWatches, DataWatches: []string{}, ExistWatches: names,
				ChildWatches: []string{},
			})
			for _, name := range names {
				mustDo(t, s.Put(name, nil))
			}
			if !test.drops {
				for _, name := range names {
					wantEvent(t, r, name)
				}
				r.mustCall(ping)
				return
			}
			// Bytes that were being written may still arrive, but never all of them.
			if got, err := io.ReadAll(r); len(got) > 200*event || err != nil {
				t.Errorf("%d bytes, %v; want the end", len(got), err)
			}
			again := pipes.dial(t)
			resp := again.handshake(proto.ConnectRequest{SessionID: session.SessionID,
				Password: session.Password, TimeoutMs: 40_000})
			check.Equal(t, resp.SessionID, session.SessionID,
				"the session went with the connection")
		})
	}
}

func wantEvent(t *testing.T, r *rawClient, path string) {
	t.Helper()
	h, body := r.reply()
	if ev, err := wire.DecodeEvent(body); h.Xid != -1 || err != nil || ev.Path != path {
		t.Fatalf("got %+v %.20q, want the event of %.20q", h, ev.Path, path)
	}
}

// 400 events of 60 kB are more than any system takes, and no reason to end the
// connection of a client that reads them late.
func TestWatcherThatReadsLateGetsEveryEvent(t *testing.T) {
	s, address := startTCP(t, longTimeouts(0))
	path := "/" + strings.Repeat("x", 60_000)
	r := dialTCP(t, address)
	r.handshake(proto.ConnectRequest{TimeoutMs: 600_000})
	r.mustCall(&proto.AddWatch{Path: path, Mode: proto.WatchPersistent})
	const events = 400
	for range events {
		mustDo(t, s.Put(path, nil))
	}
	for range events {
		wantEvent(t, r, path)
	}
	r.mustCall(ping)
}
