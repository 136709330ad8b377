package fakezk

import (
	"bytes"
	"encoding/binary"
	"sync"
	"time"

	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/tlsend"
)

// A memorySink is the sink of a connection in memory. It has no bound.
//
// After a reconnect the go-zookeeper client sends setWatches: its watches, with the last zxid that
// it has seen. It reads this zxid without a lock while a reply may change it. Then the race
// detector fails the test; worse, if the reply comes first, the server does not send the events
// before it. So the sink of a session that is taken up again keeps replies back until the client
// has sent setWatches, if the client may hold watches. If it may hold none, the replies flow after
// watchPatience; a client that has read the reply to a request with a watch sends setWatches, so
// that there is no hurry. Over TCP the server does as a real one.
type memorySink struct {
	conn *tlsend.Conn

	events    int // frames that the engine sent
	delivered int // of these, whole
	eventEnd  int // number of bytes up to the end of the last one
	sentBytes int

	holds  bool     // until setWatches
	exempt int      // bytes that are sent nevertheless: those of the handshake's reply
	held   [][]byte // replies
	err    error    // with which the connection ends after them, or nil
	alarm  alarm    // from the first held byte on
	waits  int      // times that it has rung

	watchXid int32 // of the last request with a watch
	watchEnd int   // number of bytes up to the end of its reply; 0 if an event was sent since
	surely   bool  // the client held a watch at the beginning, and no event was sent since
}

// watchPatience is how long replies wait for setWatches, beginning with the first reply. It passes
// in full only if the reply to a client's request with its only watch was lost: then the server
// knows of the watch and the client does not. It has several parts, so that the client's goroutines
// run in between on a machine that is busy. surePatience is that for a client that surely holds a
// watch, so that it passes for none but code that is no client.
const (
	watchPatience = 100 * time.Millisecond
	patienceParts = 20
	surePatience  = 2 * time.Second
)

func newMemorySink(conn *tlsend.Conn, mu *sync.Mutex) *memorySink {
	k := &memorySink{conn: conn}
	k.alarm = alarm{mu: mu, ring: k.wait}
	return k
}

// Full is false: memory has no bound.
func (*memorySink) Full() bool { return false }

// Deliver gives bytes to the client, at once or when the sink no longer holds replies.
func (k *memorySink) Deliver(p []byte) {
	flows := len(p)
	if k.holds {
		flows = min(len(p), k.exempt)
		k.exempt -= flows
	}
	k.send(p[:flows])
	if flows == len(p) {
		return
	}
	k.held = append(k.held, bytes.Clone(p[flows:]))
	k.alarm.set(time.Now().Add(watchPatience / patienceParts))
}

// send gives bytes to the client.
func (k *memorySink) send(p []byte) {
	k.conn.Deliver(p)
	k.sentBytes += len(p)
	switch {
	case isEvent(p):
		k.delivered++
		k.eventEnd = k.sentBytes
		k.watchEnd, k.surely = 0, false
	case k.watchXid != 0 && isSuccess(p, k.watchXid):
		k.watchEnd = k.sentBytes
	}
}

// isSuccess reports whether bytes are a whole frame with the reply to a request, and no error.
func isSuccess(p []byte, xid int32) bool {
	return len(p) >= 20 && int32(binary.BigEndian.Uint32(p[4:])) == xid &&
		binary.BigEndian.Uint32(p[16:]) == 0 && len(p) == 4+int(binary.BigEndian.Uint32(p))
}

// isEvent reports whether bytes are a whole frame with a watch notification.
func isEvent(p []byte) bool {
	const xid = -1
	return len(p) >= 8 && int32(binary.BigEndian.Uint32(p[4:])) == xid &&
		len(p) == 4+int(binary.BigEndian.Uint32(p))
}

// Fail ends the connection after the bytes that were delivered.
func (k *memorySink) Fail(err error) {
	if len(k.held) > 0 {
		k.err = err
		return
	}
	k.conn.Fail(err)
}

// wait is called when the alarm rings.
func (k *memorySink) wait() {
	most := patienceParts
	if k.surely {
		most *= int(surePatience / watchPatience)
	}
	if k.waits++; k.holds && k.waits < most {
		k.alarm.set(time.Now().Add(watchPatience / patienceParts))
		return
	}
	k.flow()
}

// flow sends the held replies, and holds none from now on.
func (k *memorySink) flow() {
	k.holds = false
	for _, p := range k.held {
		k.send(p)
	}
	k.held = nil
	if k.err != nil {
		k.conn.Fail(k.err)
	}
}

// noteInput looks at bytes from the client, which writes one frame at a time.
func (k *memorySink) noteInput(p []byte) {
	if len(p) < 13 {
		return
	}
	switch proto.OpCode(binary.BigEndian.Uint32(p[8:])) {
	case proto.OpSetWatches, proto.OpSetWatches2:
		k.surely = true
		if k.holds {
			k.flow()
		}
	case proto.OpGetData, proto.OpExists, proto.OpGetChildren, proto.OpGetChildren2:
		if watch := p[len(p)-1]; watch != 0 {
			k.watchXid = int32(binary.BigEndian.Uint32(p[4:]))
		}
	}
}

// holdsWatch reports whether the client surely holds a watch: it has read a reply to a request with
// one, and no event was sent since.
func (k *memorySink) holdsWatch() bool {
	return k.surely || k.watchEnd > 0 && k.conn.BytesRead() >= k.watchEnd
}

// mayHaveLost reports whether the client may have missed an event, or has not yet sent its watches.
func (k *memorySink) mayHaveLost() bool {
	return k.holds || k.delivered < k.events || k.conn.BytesRead() < k.eventEnd
}

// expectWatches prepares a link for the output of a handshake that takes a session up again.
func (p *pipeline) expectWatches(l *link, r *engine.Reaction) {
	k, ok := l.sink.(*memorySink)
	last, again := p.names.lastSink(r.Request.Session).(*memorySink)
	if !ok || !again || !last.mayHaveLost() && !p.engine.LostWatches(r.Request.Session) {
		return
	}
	for _, o := range r.Out {
		if o.Conn == l.id {
			k.holds, k.exempt, k.surely = true, len(o.Frame), last.holdsWatch()
		}
	}
}
