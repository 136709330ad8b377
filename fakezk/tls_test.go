package fakezk

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// serveTLS makes a server listen with a certificate made up on the spot.
func serveTLS(t *testing.T, s *Server) (address string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := s.Serve(l); err != nil {
			t.Errorf("Serve: %v", err)
		}
	}()
	return l.Addr().String()
}

func dialTLS(t *testing.T, address string) *raw {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &raw{Conn: conn, t: t}
}

func TestServeTLS(t *testing.T) {
	t.Cleanup(func() { wantNoGoroutine(t) })
	s := Start(t)
	r := dialTLS(t, serveTLS(t, s))
	r.handshake(proto.ConnectRequest{TimeoutMs: 10_000})
	r.mustCall(rawCreate("/x", 0))
	r.mustCall(&proto.GetData{Path: "/x", Watch: true})
	if err := s.Put("/x", make([]byte, 500_000)); err != nil {
		t.Fatal(err)
	}
	if h, _ := r.reply(); h.Xid != -1 {
		t.Errorf("want an event, got %+v", h)
	}
	for range 20 {
		r.mustCall(&proto.GetData{Path: "/x"})
	}
	r.send(wire.AppendRequest(nil, 7, &proto.Simple{Code: proto.OpCloseSession}))
	if h, _ := r.reply(); h.Xid != 7 || h.Err != proto.OK {
		t.Errorf("reply %+v", h)
	}
	r.wantClosed()
}

// TLS waits at its end for a client that does not read, and at its beginning for
// one that says nothing; a server does neither.
func TestCloseDoesNotWaitForTLS(t *testing.T) {
	s := New(Options{})
	address := serveTLS(t, s)
	silent, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	if err := s.Put("/big", make([]byte, stuckReplyBytes)); err != nil {
		t.Fatal(err)
	}
	r := dialTLS(t, address)
	r.handshake(proto.ConnectRequest{TimeoutMs: 10_000})
	awaitNode(t, s, "/asked", func() {
		r.send(wire.AppendRequest(nil, 1, rawCreate("/asked", 0)))
		for range stuckReplies {
			r.send(wire.AppendRequest(nil, 2, &proto.GetData{Path: "/big"}))
		}
	})
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 4*time.Second { // a goodbye of TLS may take 5
		t.Errorf("Close took %s", took)
	}
	wantNoGoroutine(t)
}
