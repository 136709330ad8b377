package conform

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// A mutation changes the frames of a server: it gets the payload of each frame, with the
// operation that it answers, and returns the payloads for the client.
type mutation func(op proto.OpCode, payload []byte) [][]byte

// The operation of a frame that answers no request.
const (
	opEvent   proto.OpCode = -100
	opConnect proto.OpCode = -101
)

// A fault changes a connection of a server after it is dialed.
type fault func(c *mutantConn)

// mutant returns a server with a fault.
func mutant(t testing.TB, opts fakezk.Options, f fault) Target {
	good := fake(t, opts)
	return Target{Name: "mutant", Dial: func(ctx context.Context) (net.Conn, error) {
		conn, err := good.Dial(ctx)
		if err != nil {
			return nil, err
		}
		c := &mutantConn{Conn: conn, ops: map[int32][]proto.OpCode{}, closed: make(chan struct{})}
		f(c)
		return c, nil
	}}
}

// mutantConn is the client's end of a connection with a fault.
type mutantConn struct {
	net.Conn
	// change changes the answers, ask the requests; nil leaves them.
	change mutation
	ask    func(op proto.OpCode, payload []byte) []byte
	// atEnd is sent when the server closes the connection, and then the error of end
	// instead of io.EOF. afterOurs is sent after the end of the client's direction.
	atEnd     []byte
	end       func() error
	afterOurs []byte

	mu     sync.Mutex
	sent   []byte // an incomplete frame
	asked  bool   // the connect request has been sent
	ops    map[int32][]proto.OpCode
	extra  [][]byte // frames to send with the next one
	halved bool     // the client's direction is closed

	// Of the reader.
	answered bool   // the connect response has come
	ready    []byte // changed, not yet read
	over     bool   // ready is the last
	once     sync.Once
	closed   chan struct{}
}

// Write sends changed requests and stores their operations.
func (c *mutantConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.sent = append(c.sent, p...)
	var out []byte
	for len(c.sent) >= 4 {
		n := int(int32(binary.BigEndian.Uint32(c.sent)))
		if n < 0 || len(c.sent) < 4+n {
			break
		}
		payload := c.asking(bytes.Clone(c.sent[4 : 4+n]))
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(payload))), payload...)
		c.sent = c.sent[4+n:]
	}
	if len(c.sent) >= 4 { // a frame that will not be completed
		out, c.sent = append(out, c.sent...), nil
	}
	c.mu.Unlock()
	_, err := c.Conn.Write(out)
	return len(p), err
}

func (c *mutantConn) asking(payload []byte) []byte {
	if !c.asked {
		c.asked = true
		return payload
	}
	if len(payload) < 8 {
		return payload
	}
	xid := int32(binary.BigEndian.Uint32(payload))
	op := proto.OpCode(binary.BigEndian.Uint32(payload[4:]))
	c.ops[xid] = append(c.ops[xid], op)
	if c.ask != nil {
		payload = c.ask(op, payload)
	}
	return payload
}

// Read returns the bytes of changed frames.
func (c *mutantConn) Read(p []byte) (int, error) {
	for len(c.ready) == 0 {
		if c.over {
			return 0, c.ended()
		}
		packet, err := wire.ReadPacket(c.Conn, longestFrame)
		if err != nil {
			c.prepareEnd()
			continue
		}
		payload := packet[4:]
		frames := [][]byte{payload}
		op := c.answers(payload)
		if c.change != nil {
			frames = c.change(op, payload)
		}
		c.mu.Lock()
		frames = append(c.extra, frames...)
		c.extra = nil
		c.mu.Unlock()
		for _, changed := range frames {
			c.ready = binary.BigEndian.AppendUint32(c.ready, uint32(len(changed)))
			c.ready = append(c.ready, changed...)
		}
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

// prepareEnd makes the last bytes of the connection ready.
func (c *mutantConn) prepareEnd() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over, c.ready = true, c.atEnd
	if c.halved {
		c.ready = c.afterOurs
	}
}

func (c *mutantConn) ended() error {
	c.mu.Lock()
	halved := c.halved
	c.mu.Unlock()
	if c.end == nil || halved {
		return io.EOF
	}
	return c.end()
}

// CloseWrite closes both directions of the connection underneath, as an in-memory one
// cannot close one of them.
func (c *mutantConn) CloseWrite() error {
	c.mu.Lock()
	c.halved = true
	c.mu.Unlock()
	return c.Conn.Close()
}

func (c *mutantConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// neverEnds blocks until the client closes the connection.
func (c *mutantConn) neverEnds() error {
	<-c.closed
	return errors.New("closed by the client")
}

// answers returns the operation that a frame answers.
func (c *mutantConn) answers(payload []byte) proto.OpCode {
	if !c.answered {
		c.answered = true
		return opConnect
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	xid := int32(binary.BigEndian.Uint32(payload))
	switch ops := c.ops[xid]; {
	case len(ops) > 0:
		c.ops[xid] = ops[1:]
		return ops[0]
	case xid == -1:
		return opEvent
	}
	return proto.OpPing
}
