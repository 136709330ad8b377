package carry

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// A Message is a frame on its way, or the end of the connection.
type Message struct {
	Bytes []byte
	// End is the error with which the connection ends; nil for a frame.
	End error
	// Last means that later messages of the client are ignored.
	Last bool
	// Half says of an End from the client that the client may still read.
	Half bool
	// Event is the watch notification that the message is, or nil.
	Event *proto.WatcherEvent
	// Dials says that the message names the client that dials: Client, or an unknown
	// one if 0. Outages act on it.
	Dials  bool
	Client int64
	// NotBefore is when the message may be delivered.
	NotBefore time.Duration
	// Refusal is the error with which the server answers a request that it does not apply.
	Refusal proto.ErrCode
	// Tag is the driver's.
	Tag any

	// Number counts the requests of a client, or its events, from 1; it is 0 for a message that no
	// fault can select. Point is the coordinate. Both are set for a request at its delivery, and
	// for an event when it is counted.
	Number int
	Point  fault.Coordinate

	hello  bool     // the first message of the client, which is no request
	judged bool     // counted, and faults chosen
	faults []*Armed // that still have to act on it

	conn *Conn     // of the action on it, if that is no act
	only [1]Action // backs the list of the only action on most messages
}

// alone is the list of the only action on a message.
func (m *Message) alone(do Action) []Action {
	m.only[0] = do
	return m.only[:]
}

// split cuts a message into halves. The second one is the message to the driver.
func (m *Message) split() (first, second *Message) {
	half := len(m.Bytes) / 2
	return &Message{Bytes: m.Bytes[:half]}, &Message{Bytes: m.Bytes[half:], Tag: m.Tag}
}

// A Lane is one direction of a connection: messages in order.
type Lane struct {
	until    time.Duration // nothing moves before
	messages []*Message
	size     int // of the messages, in bytes
}

// messageCost is the memory for a message besides its bytes.
const messageCost = 128

// SizeWith is the size of the messages in the lane, in bytes, with one more.
func (a *Lane) SizeWith(m *Message) int { return a.size + len(m.Bytes) + messageCost }

// Busy reports whether a message that is queued now has to wait.
func (a *Lane) Busy(now time.Duration) bool { return len(a.messages) > 0 || now < a.until }

// First is the first message and when it may be delivered.
func (a *Lane) First() (m *Message, at time.Duration, ok bool) {
	if len(a.messages) == 0 {
		return nil, 0, false
	}
	m = a.messages[0]
	return m, max(a.until, m.NotBefore), true
}

// OpenFrom is when the lane is not on hold any more, as a whole.
func (a *Lane) OpenFrom() time.Duration { return a.until }

// Last is the last message, nil if there is none.
func (a *Lane) Last() *Message {
	if len(a.messages) == 0 {
		return nil
	}
	return a.messages[len(a.messages)-1]
}

// heldUntil is the time from which faults hold nothing in the lane any more.
func (a *Lane) heldUntil() time.Duration {
	until := a.until
	for _, m := range a.messages {
		until = max(until, m.NotBefore)
	}
	return until
}

func (a *Lane) queue(m *Message) {
	a.size = a.SizeWith(m)
	a.messages = append(a.messages, m)
}

// putBack makes m the first message again. The lane keeps a copy of its bytes.
func (a *Lane) putBack(m *Message) {
	m.Bytes = slices.Clone(m.Bytes)
	a.size = a.SizeWith(m)
	a.messages = slices.Insert(a.messages, 0, m)
}

// take removes the first message, if it may be delivered.
func (a *Lane) take(now time.Duration) *Message {
	m, at, ok := a.First()
	if !ok || now < at {
		return nil
	}
	a.messages = slices.Delete(a.messages, 0, 1)
	a.size -= len(m.Bytes) + messageCost
	return m
}

func (a *Lane) hold(until time.Duration) { a.until = max(a.until, until) }

func (a *Lane) empty() { a.messages, a.size = nil, 0 }

// release makes every message deliverable at once.
func (a *Lane) release() {
	a.until = 0
	for _, m := range a.messages {
		m.NotBefore = 0
	}
}

// ends reports whether the client's end of the connection is among the messages.
func (a *Lane) ends() bool {
	return slices.ContainsFunc(a.messages, func(m *Message) bool { return isClientsEnd(m) })
}
