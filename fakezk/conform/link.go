package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/zksim/zksim/fakezk/internal/wire"
)

// A link is the client's end of one connection. One goroutine reads it.
type link struct {
	conn     net.Conn
	patience time.Duration
	frames   chan []byte // payloads; closed when nothing more comes
	why      error       // the end of the connection; set before frames is closed
	done     chan struct{}
}

const longestFrame = 64 << 20 // a greater length is invalid

func dial(ctx context.Context, t Target) (*link, error) {
	conn, err := t.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", t.Name, err)
	}
	l := &link{
		conn: conn, patience: t.patience,
		frames: make(chan []byte, 8192), done: make(chan struct{}),
	}
	go l.read()
	return l, nil
}

// read puts frames into l.frames until the connection ends or a length is invalid.
func (l *link) read() {
	defer close(l.frames)
	for {
		packet, err := wire.ReadPacket(l.conn, longestFrame)
		if err != nil {
			l.why = err
			return
		}
		select {
		case l.frames <- packet[4:]:
		case <-l.done:
			return
		}
	}
}

const closedByServer = "closed by the server"

// ending returns the way in which the connection has ended, as text.
func (l *link) ending() string {
	switch {
	case errors.Is(l.why, io.EOF), errors.Is(l.why, net.ErrClosed): // ErrClosed: by close
		return closedByServer
	case errors.Is(l.why, io.ErrUnexpectedEOF):
		return closedByServer + " within a frame"
	case errors.Is(l.why, syscall.ECONNRESET):
		return "reset by the server"
	}
	return fmt.Sprintf("%s: %v", closedByServer, l.why)
}

// write sends bytes. It ignores errors: if the server has closed the connection, the
// next read shows it.
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

// halfClose closes the client's direction of the connection. It closes both if the
// connection cannot close one.
func (l *link) halfClose() {
	if c, ok := l.conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // the server may have closed it already
		return
	}
	_ = l.conn.Close()
}

// An arrival is the result of waiting for a frame.
type arrival int

const (
	arrived  arrival = iota
	ended            // the server has closed the connection
	silent           // no frame in time
	canceled         // ctx is done
)

// next waits for a frame.
func (l *link) next(ctx context.Context) ([]byte, arrival) { return l.nextWithin(ctx, l.patience) }

func (l *link) nextWithin(ctx context.Context, timeout time.Duration) ([]byte, arrival) {
	select { // without a timer: most often there is a frame already
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
