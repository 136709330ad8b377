package conform

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// connects changes the answers to granted connect requests.
func connects(change func(p []byte) []byte) fault {
	return each(func(op proto.OpCode, p []byte) [][]byte {
		if op == opConnect && len(p) >= 36 {
			p = change(p)
		}
		return [][]byte{p}
	})
}

// newPasswords gives each connection another password.
func newPasswords() fault {
	number := byte(0)
	return func(c *mutantConn) {
		number++
		mine := number
		connects(func(p []byte) []byte {
			return replaced(p, 20, bytes.Repeat([]byte{mine}, 16))
		})(c)
	}
}

// idsLeftOut doubles the number in the ids of sessions.
func idsLeftOut() fault {
	return connects(func(p []byte) []byte {
		id := binary.BigEndian.Uint64(p[8:])
		id += id & 0xffff
		p = replaced(p, 8, binary.BigEndian.AppendUint64(nil, id))
		return replaced(p, 20, passwordOf(int64(id)))
	})
}

// sincePast and sinceFuture change the relative zxid of setWatches.
func sincePast(c *mutantConn)   { c.ask = since(1) }
func sinceFuture(c *mutantConn) { c.ask = since(1 << 62) }

func since(zxid uint64) func(op proto.OpCode, p []byte) []byte {
	return func(op proto.OpCode, p []byte) []byte {
		if (op == proto.OpSetWatches || op == proto.OpSetWatches2) && len(p) >= 16 {
			p = replaced(p, 8, binary.BigEndian.AppendUint64(nil, zxid))
		}
		return p
	}
}

// misdirected sends events to the connection that was dialed after the right one, or else
// to the one before.
func misdirected() fault {
	var mu sync.Mutex
	var conns []*mutantConn
	return func(c *mutantConn) {
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, c)
		n := len(conns)
		c.change = func(op proto.OpCode, p []byte) [][]byte {
			if op != opEvent {
				return [][]byte{p}
			}
			mu.Lock()
			other := conns[n-2] // n > 1, as the cleaner's connection is first and has no watches
			if len(conns) > n {
				other = conns[n]
			}
			mu.Unlock()
			other.mu.Lock()
			defer other.mu.Unlock()
			other.extra = append(other.extra, p)
			return nil
		}
	}
}

// keepOpen makes connections stay open if the server closes them without a request of the client.
func keepOpen() fault {
	return func(c *mutantConn) {
		closing := false
		c.change = func(op proto.OpCode, p []byte) [][]byte {
			closing = op == proto.OpCloseSession || op == opConnect && len(p) > 8 &&
				binary.BigEndian.Uint64(p[8:]) == 0
			return [][]byte{p}
		}
		c.end = func() error {
			if !closing {
				return c.neverEnds()
			}
			return io.EOF
		}
	}
}

// endsWhenAsked makes connections end only when the client sends another request.
func endsWhenAsked() fault {
	return func(c *mutantConn) {
		more := make(chan struct{}, 100)
		c.ask = func(_ proto.OpCode, p []byte) []byte {
			more <- struct{}{}
			return p
		}
		c.end = func() error {
			for len(more) > 0 {
				<-more
			}
			select {
			case <-more:
			case <-c.closed:
			}
			return io.EOF
		}
	}
}
