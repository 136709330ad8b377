package sim

import (
	"slices"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/tlsend"
	"github.com/zksim/zksim/fakezk/sim/internal/agenda"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
	"github.com/zksim/zksim/fakezk/sim/internal/guard"
	"github.com/zksim/zksim/fakezk/sim/internal/record"
)

// network has the connections between the clients and the servers.
type network struct {
	agenda   *agenda.Agenda
	draws    draws.Draws
	record   *record.Recorder
	guard    *guard.Guard
	inbox    *inbox
	faults   *carry.Network
	perform  func([]carry.Action)
	schedule Schedule
	turn     func(p *process, up bool, l *label) // notes a message that is sent; see turns
	maxFrame int

	links    map[engine.ConnID]*link
	lastConn engine.ConnID
	sent     int64    // messages so far
	frames   [][]byte // of the last call of split
	looks    int      // at all goroutines; see noteSenders
}

// ordered reports whether messages are delivered by an order, and not after their latencies.
func (n *network) ordered() bool { return n.schedule.Kind != Latencies }

// open makes the connection of a dial, which has a number among those of its client.
func (n *network) open(d *dialing, number int) *link {
	n.lastConn++
	l := &link{net: n, id: n.lastConn, process: d.process, connect: d.connect,
		ownConn: ownConn{host: d.host}}
	l.conn = &carry.Conn{ID: int64(l.id), Client: &d.process.peer, Number: number, Server: d.server}
	l.arriveUp, l.arriveDown = l.deliverUp, l.deliverDown
	if n.inbox.world.Senders {
		l.asking = map[string]string{}
	}
	l.frames.Max = n.maxFrame
	b := n.inbox // which release leaves
	l.end = tlsend.New(d.host, func(p []byte) { b.write(l, p) }, func() { b.end(l) })
	n.links[l.id] = l
	n.faults.Open(l.conn)
	return l
}

func (n *network) link(c *carry.Conn) *link { return n.links[engine.ConnID(c.ID)] }

func (n *network) forget(c *carry.Conn) { delete(n.links, engine.ConnID(c.ID)) }

// answer is the answer to a dial.
func (n *network) answer(p *process, server int) carry.Answer {
	answer, _, actions := n.faults.Dial(p.peer.ID, server, n.agenda.Now())
	n.perform(actions)
	return answer
}

// split cuts bytes that a client has written into frames, in canonical order. They are valid until
// the next call.
func (n *network) split(l *link, bytes []byte) ([][]byte, error) {
	frames, begun := n.frames[:0], l.frames.Begun()
	err := l.frames.Feed(bytes, func(f []byte) {
		if begun {
			f, begun = slices.Clone(f), false // it is not within bytes, which is ours
		}
		frames = append(frames, f)
	})
	n.frames = frames
	if !n.agenda.Crowded {
		slices.SortStableFunc(frames, compareFrames)
	}
	return frames, err
}
