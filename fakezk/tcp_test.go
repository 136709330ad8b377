package fakezk

import (
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/bubble"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// startTCP is a server that listens. When the test ends it is closed, and
// nothing of it may be left.
func startTCP(t testing.TB, opts ...Options) (*Server, string) {
	t.Helper()
	t.Cleanup(func() { wantNoGoroutine(t) })
	s := Start(t, opts...)
	address, _ := listen(t, s)
	return s, address
}

func listen(t testing.TB, s *Server) (address string, ended <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	return l.Addr().String(), done
}

func wantNoGoroutine(t testing.TB) {
	t.Helper()
	var last string
	gone := func() bool { // the last one may be on its way out
		last = bubble.Stacks()
		return !strings.Contains(last, "(*front).serveTCP") &&
			!strings.Contains(last, "(*outbox).write") &&
			!strings.Contains(last, "(*Server).Serve(")
	}
	if !holdsSoon(gone) {
		t.Errorf("still there:\n%s", last)
	}
}

// patience limits the wait for something quick, on a machine that may be slow.
const patience = time.Minute

// holdsSoon reports whether a condition holds before patience ends. It is for conditions without a
// notification.
func holdsSoon(condition func() bool) bool {
	for deadline := time.Now().Add(patience); !condition(); runtime.Gosched() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(100 * time.Microsecond)
	}
	return true
}

func await(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !holdsSoon(condition) {
		t.Fatalf("after %s still waiting for %s", patience, what)
	}
}

// patientConn fails a Read or Write for which patience is too short.
type patientConn struct{ net.Conn }

func (c patientConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c patientConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func dialTCP(t testing.TB, address string) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	check.OK(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &rawClient{Conn: patientConn{conn}, t: t}
}

// tcpSession is a connection with a session of 40 s, the longest by default.
func tcpSession(t testing.TB, address string) (*rawClient, proto.ConnectResponse) {
	t.Helper()
	r := dialTCP(t, address)
	return r, r.handshake(proto.ConnectRequest{TimeoutMs: 40_000})
}

func (r *rawClient) closeWrite() {
	r.t.Helper()
	check.OK(r.t, r.Conn.(patientConn).Conn.(*net.TCPConn).CloseWrite())
}

func TestServeOfAClosedServerClosesTheListener(t *testing.T) {
	s := Start(t)
	mustDo(t, s.Close())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	defer func() { _ = l.Close() }()
	check.Equal(t, s.Serve(l), ErrStopped, "Serve")
	check.Is(t, l.(*net.TCPListener).SetDeadline(time.Now()), net.ErrClosed, "the listener is open")
}

func TestServeEndsWhenTheListenerIsBroken(t *testing.T) {
	broken := errors.New("broken")
	s := Start(t)
	l := &brokenListener{errs: []error{
		&net.OpError{Op: "accept", Err: syscall.EMFILE},
		&net.OpError{Op: "accept", Err: syscall.ECONNABORTED}, broken,
	}}
	check.Is(t, s.Serve(l), broken, "Serve")
	check.Equal(t, len(s.front.listeners), 0, "the server still knows the listener")
}

// Too many open files must not end a server, nor keep it from being closed.
func TestCloseEndsAServerThatCannotAccept(t *testing.T) {
	s := Start(t)
	ended := make(chan error)
	begun := make(chan struct{}, 1)
	go func() {
		ended <- s.Serve(&brokenListener{
			errs: []error{syscall.EMFILE}, again: true, accepting: begun,
		})
	}()
	<-begun
	mustDo(t, s.Close())
	mustDo(t, <-ended)
}

// brokenListener fails with one error after the other.
type brokenListener struct {
	net.Listener
	errs      []error
	again     bool // the first one for ever
	accepting chan struct{}
}

func (l *brokenListener) Accept() (net.Conn, error) {
	select {
	case l.accepting <- struct{}{}:
	default:
	}
	err := l.errs[0]
	if !l.again {
		l.errs = l.errs[1:]
	}
	return nil, err
}

func (l *brokenListener) Close() error   { return nil }
func (l *brokenListener) Addr() net.Addr { return &net.UnixAddr{} }

func TestCloseLeavesNoGoroutineOfTCP(t *testing.T) {
	s := Start(t)
	address, ended := listen(t, s)
	for range 10 {
		tcpSession(t, address)
		dialTCP(t, address).send([]byte{0, 0}) // says no more
	}
	mustDo(t, s.Close())
	mustDo(t, <-ended)
	wantNoGoroutine(t)
}

// awaitNode returns when a node that act causes to be created is there.
func awaitNode(t *testing.T, s *Server, path string, act func()) {
	t.Helper()
	other := s.Connect(t)
	exists, _, created, err := other.ExistsW(path)
	if err != nil || exists {
		t.Fatalf("exists %s: %v, %v", path, exists, err)
	}
	act()
	select {
	case <-created:
	case <-time.After(patience):
		t.Fatalf("after %s there is no %s", patience, path)
	}
	other.Close()
}

// A client that asks and never reads must not keep the server from closing. It
// can tell that it has not got everything.
func TestCloseDoesNotWaitForAClientThatNeverReads(t *testing.T) {
	for _, maxQueued := range []int{stuckQueued, 1 << 30} {
		s, address := startTCP(t, Options{MaxQueued: maxQueued})
		mustDo(t, s.Put("/big", make([]byte, 1_000_000)))
		r, _ := tcpSession(t, address)
		awaitNode(t, s, "/asked", func() {
			r.send(wire.AppendRequest(nil, 99, rawCreate("/asked", 0)))
			for i := range int32(30) {
				r.send(wire.AppendRequest(nil, i, &proto.GetData{Path: "/big"}))
			}
		})
		awaitStuck(t, s, stuckQueued)
		mustDo(t, s.Close())
		wantNoGoroutine(t)
		if n, err := io.Copy(io.Discard, r); n > 30_000_000 || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%d bytes, %v; want fewer and a reset", n, err)
		}
	}
}

// A client may say that it will send no more and still gets its replies.
func TestHalfClosedClientGetsItsReplies(t *testing.T) {
	_, address := startTCP(t)
	r := dialTCP(t, address)
	conversation := wire.AppendConnectRequest(nil, proto.ConnectRequest{TimeoutMs: 4000})
	for xid := range int32(1000) {
		conversation = wire.AppendRequest(conversation, xid, &proto.GetData{Path: "/"})
	}
	r.send(conversation)
	r.closeWrite()
	if _, err := wire.DecodeConnectResponse(r.receive()); err != nil {
		t.Fatal(err)
	}
	for xid := range int32(1000) {
		r.wantReply(xid)
	}
	r.wantClosed()
}

// The reply to closeSession must not be lost to a reset, which a socket closed
// with unread bytes sends.
func TestReplyToCloseSessionArrivesThoughMoreWasSent(t *testing.T) {
	s, address := startTCP(t)
	for range 20 {
		r, _ := tcpSession(t, address)
		last := wire.AppendRequest(nil, 7, &proto.Simple{Code: proto.OpCloseSession})
		for range 1000 {
			last = wire.AppendRequest(last, 8, ping)
		}
		r.send(append(last, make([]byte, 100_000)...))
		r.wantReply(7)
		r.wantClosed()
	}
	if got := s.Sessions(); len(got) > 0 {
		t.Errorf("sessions: %+v", got)
	}
}

// A fault may reset a connection, which is not the same as to close it.
func TestResetIsAnErrorForTheClient(t *testing.T) {
	s, address := startTCP(t)
	r, _ := tcpSession(t, address)
	mustDo(t, s.Inject(fault.Fault{Kind: fault.Cut, Request: 1}))
	r.send(wire.AppendRequest(nil, 1, &proto.Exists{Path: "/"}))
	if _, err := io.ReadAll(r); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
}

func TestClientThatDisconnectsInMidFrameOnlyLosesItsConnection(t *testing.T) {
	s, address := startTCP(t)
	frame := wire.AppendRequest(nil, 1,
		&proto.SetData{Path: "/x", Data: make([]byte, 100_000), Version: -1})
	for _, cut := range []int{0, 1, 3, 4, 5, 12, 70_000, len(frame) - 1} {
		r, session := tcpSession(t, address)
		r.send(frame[:cut])
		mustDo(t, r.Close())
		r = dialTCP(t, address)
		again := r.handshake(proto.ConnectRequest{SessionID: session.SessionID,
			Password: session.Password, TimeoutMs: 10_000})
		check.Equal(t, again.SessionID, session.SessionID,
			"after %d bytes: the session cannot be taken up again", cut)
		r.mustCall(ping)
	}
	check.Equal(t, len(s.Tree()), 1, "nodes")
}
