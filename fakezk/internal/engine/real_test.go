package engine

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/internal/check"
)

// realServer is a real ZooKeeper as a server of transcripts. It takes an output as
// complete after a moment of silence, so it is only used when a developer asks for it.
type realServer struct {
	t        *testing.T
	addr     string
	conns    map[int]net.Conn
	sessions map[int]proto.ConnectResponse
	ended    map[int]bool // connections closed by the server
	lines    chan line
}

func dialReal(t *testing.T, addr string) server {
	return &realServer{
		t: t, addr: addr, conns: map[int]net.Conn{}, sessions: map[int]proto.ConnectResponse{},
		ended: map[int]bool{}, lines: make(chan line, 1000),
	}
}

// close ends the sessions: a session that expires later would consume a zxid.
func (s *realServer) close() {
	for n, c := range s.conns {
		if !s.ended[n] {
			s.ask(n, wire.AppendRequest(nil, 0, &proto.Simple{Code: proto.OpCloseSession})[4:])
		}
		_ = c.Close() // by now the server may have done so
	}
}

func (s *realServer) connect(n, old int) []line {
	c, err := net.Dial("tcp", s.addr)
	check.OK(s.t, err)
	s.conns[n] = c
	go s.read(n, c)
	req := proto.ConnectRequest{
		TimeoutMs: 10_000, HasReadOnly: true,
		SessionID: s.sessions[old].SessionID, Password: s.sessions[old].Password,
	}
	lines := s.ask(n, wire.AppendConnectRequest(nil, req)[4:])
	for _, l := range lines {
		if l.conn == n && l.frame != nil {
			if s.sessions[n], err = wire.DecodeConnectResponse(l.frame); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	return lines
}

func (s *realServer) read(n int, c net.Conn) {
	for {
		var length [4]byte
		if _, err := io.ReadFull(c, length[:]); err != nil {
			s.lines <- line{conn: n}
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(c, frame); err != nil {
			s.lines <- line{conn: n}
			return
		}
		s.lines <- line{n, frame}
	}
}

func (s *realServer) ask(n int, frame []byte) []line {
	framed := append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
	if _, err := s.conns[n].Write(framed); err != nil {
		s.t.Fatal(err)
	}
	var lines []line
	timeout := 500 * time.Millisecond
	for {
		select {
		case l := <-s.lines:
			lines = append(lines, l)
			s.ended[l.conn] = s.ended[l.conn] || l.frame == nil
			timeout = 100 * time.Millisecond
		case <-time.After(timeout):
			return lines
		}
	}
}
