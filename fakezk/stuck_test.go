package fakezk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

const (
	stuckReplies    = 64
	stuckReplyBytes = 1_000_000
)

// neverReads is a session that asks for 64 MB, then creates /last, and does not
// read a byte of it.
func neverReads(t *testing.T, s *Server, address string, timeoutMs int32) *raw {
	t.Helper()
	if err := s.Put("/big", make([]byte, stuckReplyBytes)); err != nil {
		t.Fatal(err)
	}
	r := dialTCP(t, address)
	r.handshake(proto.ConnectRequest{TimeoutMs: timeoutMs})
	r.mustCall(rawCreate("/mine", proto.FlagEphemeral))
	var requests []byte
	for range stuckReplies {
		requests = wire.AppendRequest(requests, 1, &proto.GetData{Path: "/big"})
	}
	r.send(wire.AppendRequest(requests, 2, rawCreate("/last", 0)))
	return r
}

// unread is how many bytes the server keeps for its TCP clients.
func unread(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.links {
		o, ok := l.sink.(*outbox)
		if !ok {
			continue
		}
		o.mu.Lock()
		n += o.writing
		if o.queue != nil {
			n += len(o.queue.b)
		}
		o.mu.Unlock()
	}
	return n
}

// work lets 50 clients do 40 requests each.
func work(t *testing.T, address string) {
	t.Helper()
	var clients []*raw
	for range 50 {
		r, _ := tcpSession(t, address)
		clients = append(clients, r)
	}
	var wg sync.WaitGroup
	for i, r := range clients {
		wg.Go(func() {
			for n := range 20 {
				for _, req := range []proto.Request{rawCreate(fmt.Sprintf("/work-%d-%d", i, n), 0), &proto.GetData{Path: "/"}} {
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
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return proto.ReplyHeader{}, err
	}
	payload := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(r, payload); err != nil {
		return proto.ReplyHeader{}, err
	}
	h, _, err := wire.DecodeReplyHeader(payload)
	return h, err
}

func TestClientThatNeverReadsHoldsUpNobodyAndTakesLittleMemory(t *testing.T) {
	s, address := startTCP(t)
	neverReads(t, s, address, 10_000)
	work(t, address)
	// A sixteenth of MaxQueued in the queue and as much being written, each one
	// reply too large at most.
	if got, limit := unread(s), 2*(1<<20+stuckReplyBytes); got > limit {
		t.Errorf("%d bytes are kept, want at most %d", got, limit)
	}
}

// The negative control: without a bound all is kept.
func TestWithoutABoundClientThatNeverReadsTakesMuchMemory(t *testing.T) {
	s, address := startTCP(t, Options{MaxQueued: 1 << 40})
	awaitNode(t, s, "/last", func() { neverReads(t, s, address, 10_000) })
	if got, limit := unread(s), 2*(1<<20+stuckReplyBytes); got <= limit {
		t.Errorf("only %d bytes are kept: the bound of the test above is not what keeps it small", got)
	}
}

// A client that begins to read again gets all it asked for.
func TestClientThatReadsLateGetsEverything(t *testing.T) {
	s, address := startTCP(t)
	r := neverReads(t, s, address, 10_000)
	work(t, address)
	for range stuckReplies {
		if h, body := r.reply(); h.Xid != 1 || len(body) < stuckReplyBytes {
			t.Fatalf("reply %+v of %d bytes", h, len(body))
		}
	}
	if h, _ := r.reply(); h.Xid != 2 || h.Err != proto.OK {
		t.Errorf("last reply %+v", h)
	}
}

// The session of a client that does not read expires like any other, and its
// connection goes with it, although a write to it is under way.
func TestSessionOfClientThatNeverReadsExpires(t *testing.T) {
	s, address := startTCP(t, Options{TickTime: 50 * time.Millisecond})
	other := s.Connect(t)
	r := neverReads(t, s, address, 200)
	exists, _, gone, err := other.ExistsW("/mine")
	if err != nil {
		t.Fatal(err)
	}
	if exists {
		<-gone
	}
	n, err := io.Copy(io.Discard, r)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("after %d bytes: %v", n, err)
	}
	if n >= stuckReplies*stuckReplyBytes {
		t.Error("the connection was never closed")
	}
}

// pipeListener accepts connections that are made in the process and hold no
// byte: who writes waits for who reads.
type pipeListener struct {
	made   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func servePipes(t *testing.T, s *Server) *pipeListener {
	l := &pipeListener{made: make(chan net.Conn), closed: make(chan struct{})}
	go func() {
		if err := s.Serve(l); err != nil {
			t.Errorf("Serve: %v", err)
		}
	}()
	return l
}

func (l *pipeListener) dial(t *testing.T) *raw {
	near, far := net.Pipe()
	l.made <- far
	t.Cleanup(func() { _ = near.Close() })
	return &raw{Conn: near, t: t}
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

// What others cause cannot wait for the client. Beyond MaxQueued the connection
// ends, and the session lives on.
func TestConnectionWithTooManyUnreadEventsIsDropped(t *testing.T) {
	const event = 4 + 16 + 4 + 4 + 4 + len("/watched-000")
	for _, test := range []struct {
		name   string
		events int
		drops  bool
	}{{"as many as fit", 100, false}, {"one more", 201, true}} { // as many may be on their way already
		t.Run(test.name, func(t *testing.T) {
			t.Cleanup(func() { wantNoGoroutine(t) })
			s := Start(t, Options{MaxQueued: 100 * event})
			pipes := servePipes(t, s)
			r := pipes.dial(t)
			session := r.handshake(proto.ConnectRequest{TimeoutMs: 10_000})
			var names []string
			for i := range test.events {
				names = append(names, fmt.Sprintf("/watched-%03d", i))
			}
			r.mustCall(&proto.SetWatches{
				Code: proto.OpSetWatches, DataWatches: []string{}, ExistWatches: names, ChildWatches: []string{},
			})
			for _, name := range names {
				if err := s.Put(name, nil); err != nil {
					t.Fatal(err)
				}
			}
			if !test.drops {
				for _, name := range names {
					h, body := r.reply()
					if ev, err := wire.DecodeEvent(body); h.Xid != -1 || err != nil || ev.Path != name {
						t.Fatalf("got %+v %+v, want the event of %s", h, ev, name)
					}
				}
				r.mustCall(ping)
				return
			}
			// What was being written may still arrive, but never all of it.
			if got, err := io.ReadAll(r); len(got) > 100*event || err != nil {
				t.Errorf("%d bytes, %v; want the end", len(got), err)
			}
			again := pipes.dial(t)
			resp := again.handshake(proto.ConnectRequest{SessionID: session.SessionID, Password: session.Password, TimeoutMs: 10_000})
			if resp.SessionID != session.SessionID {
				t.Error("the session went with the connection")
			}
		})
	}
}
