package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// floorCommand serves canned replies.
type floorCommand struct {
	listenFlags
}

// Run serves until the program is interrupted.
func (c *floorCommand) Run(a *app) error {
	s := &floorServer{conns: map[net.Conn]bool{}}
	return c.serve(a, s.serve, s.close)
}

// floorServer answers requests by their type alone. Its cost is the least cost of any server in Go
// on top of package net. While it serves a connection it takes no lock and allocates nothing.
type floorServer struct {
	mu       sync.Mutex // for accepting and closing only
	listener net.Listener
	conns    map[net.Conn]bool
	closed   bool
	serving  sync.WaitGroup
	sessions atomic.Int64
}

// serve accepts connections until close.
func (s *floorServer) serve(l net.Listener) error {
	s.mu.Lock()
	s.listener = l
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return l.Close()
	}
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("floor: accept: %w", err)
		}
		if s.enter(conn) {
			go s.serveConn(conn)
		}
	}
}

// enter notes a connection, unless the server is closed.
func (s *floorServer) enter(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = conn.Close() // it was never used
		return false
	}
	s.conns[conn] = true
	s.serving.Add(1)
	return true
}

func (s *floorServer) leave(conn net.Conn) {
	s.mu.Lock()
	delete(s.conns, conn)
	s.mu.Unlock()
	_ = conn.Close() // no peer is left for an error
	s.serving.Done()
}

// close ends the listener and all connections, and waits for their goroutines.
func (s *floorServer) close() error {
	s.mu.Lock()
	s.closed = true
	var err error
	if s.listener != nil {
		err = s.listener.Close()
	}
	for conn := range s.conns {
		_ = conn.Close() // its goroutine ends, which is all we want of it
	}
	s.mu.Unlock()
	s.serving.Wait()
	return err
}

// floorBuffer is the size of the buffers for one read and for its replies. A request that does not
// fit ends the connection.
const floorBuffer = 64 << 10

// serveConn reads all that is there, answers it with one write, and so on.
func (s *floorServer) serveConn(conn net.Conn) {
	defer s.leave(conn)
	in, out := make([]byte, floorBuffer), make([]byte, 0, floorBuffer)
	filled, greeted := 0, false
	for {
		n, err := conn.Read(in[filled:])
		if err != nil {
			return
		}
		filled += n
		rest := in[:filled]
		for {
			frame, after, complete := cutFrame(rest)
			if !complete {
				break
			}
			rest = after
			if len(out)+replyRoom(frame) > cap(out) {
				if _, err := conn.Write(out); err != nil {
					return
				}
				out = out[:0]
			}
			if !greeted {
				out = appendHandshake(out, frame, s.sessions.Add(1))
				greeted = true
				continue
			}
			out = appendCanned(out, frame)
		}
		filled = copy(in, rest)
		if _, err := conn.Write(out); err != nil || filled == len(in) {
			return
		}
		out = out[:0]
	}
}

// cutFrame cuts the first frame off: a big-endian length and that many bytes.
func cutFrame(p []byte) (frame, rest []byte, complete bool) {
	if len(p) < 4 {
		return nil, p, false
	}
	n := uint64(binary.BigEndian.Uint32(p))
	if uint64(len(p)-4) < n {
		return nil, p, false
	}
	return p[4 : 4+n], p[4+n:], true
}
