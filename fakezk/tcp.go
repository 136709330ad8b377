package fakezk

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"
)

// Serve accepts TCP connections until the listener or the server is closed. The server closes the
// listener when it is closed itself. Any ZooKeeper client, in any language, can connect; it may be
// a TLS listener. If the server is closed already, Serve closes the listener and returns
// ErrStopped.
//
// The servers of an ensemble have a listener each, in the order of their numbers. Serve returns
// when all are closed, and closes the others when one fails. If the numbers of listeners and
// servers differ, it closes the listeners and returns an error.
//
// If the process has no file descriptor left, it pauses 10 ms and accepts again, like a real
// server.
func (s *Server) Serve(l ...net.Listener) error {
	if len(l) != s.opts.Servers {
		closeAll(l)
		return fmt.Errorf("fakezk: serve: %d listeners for %d servers", len(l), s.opts.Servers)
	}
	ends := make(chan error, len(l))
	for server, each := range l {
		go func() { ends <- s.front.serve(server, each) }()
	}
	var first error
	for range l {
		if err := <-ends; err != nil && first == nil {
			first = err
			closeAll(l)
		}
	}
	return first
}

func closeAll(list []net.Listener) {
	for _, l := range list {
		_ = l.Close() // an error changes nothing: it is not accepted from
	}
}

// serve accepts connections to one server.
func (f *front) serve(server int, l net.Listener) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		_ = l.Close() // an error changes nothing: it is not accepted from
		return ErrStopped
	}
	f.listeners[l] = true
	f.words.notePort(server, l)
	f.serving.Add(1)
	f.mu.Unlock()
	defer f.serving.Done()
	defer f.forgetListener(l)
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			f.serving.Add(1)
			go f.serveTCP(server, conn)
		case errors.Is(err, net.ErrClosed):
			return nil
		case !isTemporary(err):
			return fmt.Errorf("fakezk: accept: %w", err)
		case !f.pause(acceptPause):
			return nil
		}
	}
}

func (f *front) forgetListener(l net.Listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listeners, l)
}

// acceptPause is the time between a failure to accept a connection and the next attempt.
const acceptPause = 10 * time.Millisecond

// isTemporary reports whether Accept may succeed the next time, after an error.
func isTemporary(err error) bool {
	for _, cause := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED,
		syscall.ECONNRESET,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// pause waits and reports whether the server still runs.
func (f *front) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.closing:
		return false
	}
}

// serveTCP serves one connection until it ends.
func (f *front) serveTCP(server int, conn net.Conn) {
	defer f.serving.Done()
	socket := newSocket(conn)
	out := newOutbox(socket, f.opts.MaxQueued)
	defer out.finish()
	link, err := f.open(server, peerOf(conn), out)
	if err != nil {
		return // a refused client sees only that its connection is closed
	}
	err = f.serveInput(link, out, socket)
	if onHold := f.gone(link, err == io.EOF); onHold {
		out.awaitEnd()
	}
}

// serveInput handles the client's input until the connection is over. The error is the error of the
// last read, io.EOF if the client has closed its direction and may still read.
func (f *front) serveInput(l *link, out *outbox, from *socket) error {
	for !out.over() {
		p, err := from.read()
		f.take(l, out, p)
		from.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// take handles the bytes of one read, with one write for all output on this connection. It returns
// early when the connection is over.
func (f *front) take(l *link, out *outbox, p []byte) {
	for len(p) > 0 {
		out.hold()
		p = f.receive(l, p)
		out.flush()
		if len(p) > 0 && !out.awaitRoom() {
			return
		}
	}
}
