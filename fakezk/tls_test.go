package fakezk

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// serverTLS is a configuration with a certificate made up on the spot.
func serverTLS(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check.OK(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	check.OK(t, err)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate},
		PrivateKey: key}}}
}

func serveTLS(t *testing.T, s *Server) (address string) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", serverTLS(t))
	check.OK(t, err)
	go func() {
		mustDo(t, s.Serve(l))
	}()
	return l.Addr().String()
}

func dialTLS(t *testing.T, address string) *rawClient {
	t.Helper()
	r := dialTCP(t, address)
	r.Conn = tls.Client(r.Conn, &tls.Config{InsecureSkipVerify: true})
	return r
}

func TestServeTLS(t *testing.T) {
	t.Cleanup(func() { wantNoGoroutine(t) })
	s := Start(t)
	r := dialTLS(t, serveTLS(t, s))
	r.handshake(proto.ConnectRequest{TimeoutMs: 40_000})
	r.mustCall(rawCreate("/x", 0))
	r.mustCall(&proto.GetData{Path: "/x", Watch: true})
	mustDo(t, s.Put("/x", make([]byte, 500_000)))
	if h, _ := r.reply(); h.Xid != -1 {
		t.Errorf("want an event, got %+v", h)
	}
	for range 20 {
		r.mustCall(&proto.GetData{Path: "/x"})
	}
	r.send(wire.AppendRequest(nil, 7, &proto.Simple{Code: proto.OpCloseSession}))
	r.wantReply(7)
	r.wantClosed()
}
