package conform

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// A link is the client's end of one connection. One goroutine reads it.
type link struct {
	conn   net.Conn
	frames chan []byte // payloads; closed when nothing more comes
	done   chan struct{}
}

const (
	answerTimeout = 5 * time.Second  // for the answer to a request
	awaitTimeout  = 20 * time.Second // for what the server does of its own accord
	longestFrame  = 64 << 20         // beyond it is garbage
)

func dial(ctx context.Context, t Target) (*link, error) {
	conn, err := t.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", t.Name, err)
	}
	l := &link{conn: conn, frames: make(chan []byte, 8192), done: make(chan struct{})}
	go l.read()
	return l, nil
}

// read passes frames on until the connection ends or sends garbage.
func (l *link) read() {
	defer close(l.frames)
	for {
		var length [4]byte
		if _, err := io.ReadFull(l.conn, length[:]); err != nil {
			return
		}
		n := binary.BigEndian.Uint32(length[:])
		if n > longestFrame {
			return
		}
		payload := make([]byte, n)
		if _, err := io.ReadFull(l.conn, payload); err != nil {
			return
		}
		select {
		case l.frames <- payload:
		case <-l.done:
			return
		}
	}
}

// write sends bytes. A connection that the server has closed takes none; that
// shows when it is read.
func (l *link) write(p []byte) {
	_, _ = l.conn.Write(p)
}

// close ends the connection at once.
func (l *link) close() {
	close(l.done)
	_ = l.conn.Close() // the server may have closed it already
	for range l.frames {
	}
}

// halfClose tells the server that nothing more comes, and leaves the other
// direction open, where the connection can do so.
func (l *link) halfClose() {
	if c, ok := l.conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // the server may have closed it already
		return
	}
	_ = l.conn.Close()
}

type arrival int

const (
	arrived  arrival = iota
	ended            // the server has closed the connection
	silent           // nothing came in time
	canceled         // ctx is done
)

// next waits for a frame.
func (l *link) next(ctx context.Context, timeout time.Duration) ([]byte, arrival) {
	select { // most often it is there already
	case p, ok := <-l.frames:
		return taken(p, ok)
	default:
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case p, ok := <-l.frames:
		return taken(p, ok)
	case <-timer.C:
		return nil, silent
	case <-ctx.Done():
		return nil, canceled
	}
}

func taken(p []byte, ok bool) ([]byte, arrival) {
	if !ok {
		return nil, ended
	}
	return p, arrived
}
