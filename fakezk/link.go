package fakezk

import (
	"fmt"
	"log/slog"
	"net"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// link is the server's end of one connection.
type link struct {
	id          engine.ConnID
	server      int // from 0
	peer        peer
	frames      wire.Splitter
	wordChecked bool // its first bytes are no four-letter word
	sink        sink
	served      bool        // the server has not dropped it
	session     int64       // 0 before the handshake
	name        string      // of the session, "" before the handshake
	number      int         // of the session's connections, from 1
	conn        *carry.Conn // as faults know the connection; nil while no fault is injected
}

// A sink takes the server's output on one connection. Its methods never block.
type sink interface {
	Deliver(p []byte)
	Fail(err error)
	// Full says that too many bytes wait for the client to read: it gets no further answers for
	// now.
	Full() bool
}

// address is the client's, with a made-up port for one in memory.
func (l *link) address() string {
	port := l.peer.port
	if l.peer.inMemory() {
		port = 32768 + int(l.id%28232)
	}
	return net.JoinHostPort(l.peer.ip, fmt.Sprint(port))
}

// sessionKey is the key of an attribute that names a session.
const sessionKey = "session"

// sessionAttrs are a link's session, if it has one, and its address.
func (l *link) sessionAttrs() []slog.Attr {
	if l.name == "" {
		return []slog.Attr{l.addrAttr()}
	}
	return []slog.Attr{slog.String(sessionKey, l.name), idAttr(l.session), l.addrAttr()}
}

func (l *link) addrAttr() slog.Attr { return slog.String("addr", l.address()) }

func idAttr(session int64) slog.Attr { return slog.String("id", hexText(session)) }

func hexText(n int64) string { return fmt.Sprintf("0x%x", uint64(n)) }
