package conform

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A mutation changes what a server says: it gets the payload of each frame, with
// the operation that it answers, and returns what the client is to get instead.
type mutation func(op proto.OpCode, payload []byte) [][]byte

// What a frame is that answers no request.
const (
	opEvent   proto.OpCode = -100
	opConnect proto.OpCode = -101
)

// mutant is a server that is right but for a mutation, which every connection
// has for its own.
func mutant(t testing.TB, begin func() mutation) Target {
	good := fake(t, settings)
	return Target{Name: "mutant", Dial: func(ctx context.Context) (net.Conn, error) {
		conn, err := good.Dial(ctx)
		if err != nil {
			return nil, err
		}
		return &mutantConn{Conn: conn, change: begin(), ops: map[int32][]proto.OpCode{}}, nil
	}}
}

// mutantConn is the client's end of a connection on which answers are changed.
type mutantConn struct {
	net.Conn
	change mutation

	mu    sync.Mutex
	sent  []byte // no whole frame yet
	asked bool   // for a session
	ops   map[int32][]proto.OpCode

	answered bool   // the reader's: the connect response has come
	ready    []byte // the reader's: changed, not yet read
}

// Write notes which operations are asked for.
func (c *mutantConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.sent = append(c.sent, p...)
	for len(c.sent) >= 4 {
		n := int(int32(binary.BigEndian.Uint32(c.sent)))
		if n < 0 || len(c.sent) < 4+n {
			break
		}
		c.note(c.sent[4 : 4+n])
		c.sent = c.sent[4+n:]
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *mutantConn) note(payload []byte) {
	if !c.asked {
		c.asked = true
		return
	}
	if len(payload) >= 8 {
		xid, op := int32(binary.BigEndian.Uint32(payload)), proto.OpCode(binary.BigEndian.Uint32(payload[4:]))
		c.ops[xid] = append(c.ops[xid], op)
	}
}

// Read passes changed frames on.
func (c *mutantConn) Read(p []byte) (int, error) {
	for len(c.ready) == 0 {
		var length [4]byte
		if _, err := io.ReadFull(c.Conn, length[:]); err != nil {
			return 0, err
		}
		payload := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(c.Conn, payload); err != nil {
			return 0, err
		}
		for _, changed := range c.change(c.answers(payload), payload) {
			c.ready = binary.BigEndian.AppendUint32(c.ready, uint32(len(changed)))
			c.ready = append(c.ready, changed...)
		}
	}
	n := copy(p, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

// answers says which operation a frame answers.
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
