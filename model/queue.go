package model

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Queue is the state of a FIFO queue of strings: a comparable value, so that states can be told
// apart by ==. The zero value is the empty queue.
type Queue struct {
	encoded string // each element: its length as a uvarint, then its bytes
}

// QueueKind is the kind of an operation on a [Queue].
type QueueKind int

// The operations on a queue.
const (
	Offer QueueKind = iota // append Item
	Take                   // remove the first element, which is Item, or find Empty
	Peek                   // see the first element, which is Item, or find Empty
)

// QueueOp is one operation on a [Queue]. With the outcome [Maybe], an Offer may have appended Item,
// and a Take may have removed the first element, which may be another than Item.
type QueueOp struct {
	Kind    QueueKind
	Item    string
	Empty   bool
	Outcome Outcome
}

// Step returns the states the queue may be in after the operation; none means it cannot have
// happened in this state.
func (q Queue) Step(op QueueOp) []Queue {
	first, left, some := q.pop()
	switch {
	case op.Outcome == NoEffect:
		return []Queue{q}
	case op.Kind == Offer && op.Outcome == Maybe:
		return []Queue{q, q.push(op.Item)}
	case op.Kind == Offer:
		return []Queue{q.push(op.Item)}
	case op.Outcome == Maybe && op.Kind == Take && some:
		return []Queue{q, left}
	case op.Outcome == Maybe, op.Empty && !some:
		return []Queue{q}
	case op.Empty || !some || first != op.Item:
		return nil
	case op.Kind == Take:
		return []Queue{left}
	}
	return []Queue{q}
}

// items returns the elements, the first one first.
func (q Queue) items() []string {
	var items []string
	for first, left, some := q.pop(); some; first, left, some = left.pop() {
		items = append(items, first)
	}
	return items
}

// String returns the elements as a person would write them.
func (q Queue) String() string { return "[" + strings.Join(q.items(), " ") + "]" }

func (q Queue) push(item string) Queue {
	buf := append([]byte(q.encoded), binary.AppendUvarint(nil, uint64(len(item)))...)
	return Queue{encoded: string(buf) + item}
}

func (q Queue) pop() (first string, left Queue, some bool) {
	if q.encoded == "" {
		return "", q, false
	}
	size, n := binary.Uvarint([]byte(q.encoded[:min(len(q.encoded), binary.MaxVarintLen64)]))
	if n <= 0 || uint64(len(q.encoded)-n) < size {
		panic(fmt.Sprintf("model: broken queue state %q", q.encoded))
	}
	end := n + int(size)
	return q.encoded[n:end], Queue{encoded: q.encoded[end:]}, true
}
