package sim

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/sim/internal/draws"
	"github.com/zksim/zksim/fakezk/trace"
)

// order delivers the messages of a World one at a time.
type order struct {
	network   *network
	planned   time.Duration // instant of the next delivery; 0: none
	delivered int
	ranks     map[stream]uint64 // the higher the sooner
	decisions []trace.Decision
	listed    []head // of the last call of heads
}

// stream is one direction of a client's messages.
type stream struct {
	client int
	up     bool
}

// head is the first message of a lane, and when it may be delivered.
type head struct {
	link    *link
	message *carry.Message
	ready   time.Duration
	up      bool
}

func (h head) label() *label { return labelOf(h.message) }

// plan schedules the next delivery, if there is anything to deliver. Without an order messages come
// after their latencies.
func (o *order) plan() {
	if !o.network.ordered() || o.network.schedule.Kind == Turns {
		return
	}
	at, waiting := time.Duration(0), false
	for h := range o.network.heads() {
		if !waiting || h.ready < at {
			at, waiting = h.ready, true
		}
	}
	if !waiting {
		return
	}
	if at = max(at, o.network.agenda.Now()+draws.Hop); o.planned != 0 && o.planned <= at {
		return
	}
	var planned time.Duration
	planned = o.network.agenda.Schedule(at, func() {
		if o.planned == planned { // not overtaken by an earlier one
			o.planned = 0
			o.deliver()
		}
	})
	o.planned = planned
}

// heads are the first messages of all lanes, in the order in which they were sent. They are valid
// until the next call.
func (o *order) heads() []head {
	o.listed = slices.AppendSeq(o.listed[:0], o.network.heads())
	slices.SortFunc(o.listed, func(a, b head) int {
		return cmp.Compare(a.label().sent, b.label().sent)
	})
	return o.listed
}

// heads are the first messages of all lanes, in any order.
func (n *network) heads() iter.Seq[head] {
	return func(yield func(head) bool) {
		for _, l := range n.links {
			for _, lane := range [...]*carry.Lane{&l.conn.Up, &l.conn.Down} {
				m, ready, ok := lane.First()
				if ok && !yield(head{l, m, ready, lane == &l.conn.Up}) {
					return
				}
			}
		}
	}
}

// deliver delivers one of the messages that may arrive now.
func (o *order) deliver() {
	now := o.network.agenda.Now()
	heads := slices.DeleteFunc(o.heads(), func(h head) bool { return now < h.ready })
	if len(heads) == 0 {
		return // lost meanwhile
	}
	h := heads[o.pick(heads)]
	o.delivered++
	o.lowerPriority(h)
	if h.up {
		h.link.deliverUp()
	} else {
		h.link.deliverDown()
	}
}

func (o *order) pick(heads []head) int {
	if o.network.schedule.Kind == Priorities {
		if o.delivered >= fairAfter {
			return 0
		}
		first := slices.MaxFunc(heads, func(a, b head) int {
			return cmp.Compare(o.rank(a), o.rank(b))
		})
		return slices.Index(heads, first)
	}
	if len(heads) == 1 || o.network.faults.Healed() {
		return 0
	}
	picked := 0
	if numbers := o.network.schedule.Numbers; len(o.decisions) < len(numbers) {
		picked = min(numbers[len(o.decisions)], len(heads)-1)
	}
	d := trace.Decision{Picked: picked}
	for _, h := range heads {
		d.Candidates = append(d.Candidates, h.describe())
	}
	o.decisions = append(o.decisions, d)
	return picked
}

// fairAfter is the number of deliveries by priority, many times the need of a script that makes
// progress.
const fairAfter = 5000

// rank is the priority of a message's stream, drawn at its first message. Those
// that have fallen behind are below all others; no two are equal.
func (o *order) rank(h head) uint64 {
	s := stream{h.link.process.index, h.up}
	if _, ok := o.ranks[s]; !ok {
		o.ranks[s] = o.network.draws.Rank(s.client, s.up) + loweredRanks
	}
	return o.ranks[s]
}

// loweredRanks is above the rank of every stream that has fallen behind.
const loweredRanks = 1 << 32

// lowerPriority lowers the priority of the stream that was served if it is its time to.
func (o *order) lowerPriority(h head) {
	if o.network.schedule.Kind != Priorities {
		return
	}
	if i := slices.Index(o.network.schedule.Numbers, o.delivered); i >= 0 {
		o.ranks[stream{h.link.process.index, h.up}] = uint64(i)
	}
}

// describe returns the description of a message, for a comparison of schedules.
func (h head) describe() trace.Delivery {
	d := trace.Delivery{Client: h.link.process.name, Conn: h.link.conn.Number, Up: h.up,
		Number: h.label().nth}
	if !d.Up {
		return d
	}
	header, body, err := wire.DecodeHeader(h.message.Bytes)
	switch {
	case d.Number == 1: // the handshake: its order with others decides the sessions' ids
		d.Writes = []string{""}
		return d
	case err != nil || h.message.End != nil:
		d.Opaque = true
		return d
	}
	if header.Op == proto.OpPing {
		return d
	}
	req, err := wire.DecodeRequest(header.Op, body)
	if err != nil {
		d.Opaque = true
		return d
	}
	notePaths(&d, req)
	return d
}

// notePaths notes which paths a request reads and writes.
func notePaths(d *trace.Delivery, req proto.Request) {
	path := proto.PathOf(req)
	switch r := req.(type) {
	case *proto.Multi:
		for _, op := range r.Ops {
			notePaths(d, op)
		}
	case *proto.Create:
		d.Writes = append(d.Writes, path, parentOf(path))
		if r.Flags&sequential != 0 {
			d.Numbered = append(d.Numbered, path)
		}
	case *proto.Delete:
		d.Writes = append(d.Writes, path, parentOf(path))
	case *proto.SetData, *proto.SetACL:
		d.Writes = append(d.Writes, path)
	case *proto.Exists, *proto.GetData, *proto.GetACL, *proto.GetChildren, *proto.Check:
		d.Reads = append(d.Reads, path)
	case *proto.Sync:
	default:
		d.Opaque = true
	}
}

// sequential is set in the flags of all kinds of sequential nodes.
const sequential = 2

func parentOf(path string) string {
	return cmp.Or(path[:max(0, strings.LastIndexByte(path, '/'))], "/")
}
