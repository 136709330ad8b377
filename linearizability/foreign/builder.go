package foreign

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// Kinds are the kinds of objects that can be read.
func Kinds() []string { return []string{"register", "queue", "lock"} }

// names has the names of operations in package ops, by kind.
var names = map[string]map[string]string{
	"register": {
		"read": ops.Read, "get": ops.Read, "write": ops.Write, "put": ops.Write, "cas": ops.CAS,
	},
	"queue": {
		"enqueue": ops.Offer, "offer": ops.Offer, "dequeue": ops.Poll, "poll": ops.Poll,
		"drain": drain,
	},
	"lock": {"acquire": ops.Lock, "lock": ops.Lock, "release": ops.Unlock, "unlock": ops.Unlock},
}

// drain takes all elements of a queue. It becomes one poll for each.
const drain = "drain"

// withoutMark leaves out a byte order mark, which some editors write before a text.
func withoutMark(r io.Reader) *bufio.Reader {
	in := bufio.NewReader(r)
	if begin, err := in.Peek(3); err == nil && string(begin) == "\ufeff" {
		in.Discard(3)
	}
	return in
}

// builder makes a history of one event after the other.
type builder struct {
	kind string
	key  string // of the object, "" if there is only one
	h    linearizability.History
	open map[string]int // index of the operation under way, by client
}

func newBuilder(kind, key string) (*builder, error) {
	if names[kind] == nil {
		return nil, fmt.Errorf("kind of object %q; expected one of %s", kind, strings.Join(Kinds(), ", "))
	}
	return &builder{kind: kind, key: key, open: map[string]int{}}, nil
}

// moment is the step and the time of an event.
type moment struct {
	step int64
	time time.Duration
}

// call begins an operation.
func (b *builder) call(at moment, client, name string, v datum) error {
	kind, known := names[b.kind][name]
	if !known {
		return fmt.Errorf("operation %q; a %s has %s", name, b.kind, b.known())
	}
	if _, busy := b.open[client]; busy {
		return fmt.Errorf("%s calls %s, but its call before has not returned", client, name)
	}
	op := linearizability.Op{
		Client: client, Kind: kind, Call: at.step, CallTime: at.time, Return: -1,
	}
	var err error
	switch kind {
	case ops.Read:
		err = v.noPair()
	case ops.Write, ops.Offer:
		op.Input, err = v.some(name)
	case ops.CAS:
		op.Input, err = v.oldNew()
	}
	if err != nil {
		return err
	}
	b.open[client] = len(b.h.Ops)
	b.h.Ops = append(b.h.Ops, op)
	return nil
}

// known lists the operations of the kind.
func (b *builder) known() string {
	var list []string
	for name := range names[b.kind] {
		list = append(list, name)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// end ends the operation of a client.
func (b *builder) end(at moment, client string, outcome linearizability.Outcome, v datum,
	why string) error {
	i, busy := b.open[client]
	if !busy {
		return fmt.Errorf("%s returns, but has not called", client)
	}
	delete(b.open, client)
	op := &b.h.Ops[i]
	op.Outcome, op.Return, op.ReturnTime, op.Err = outcome, at.step, at.time, why
	switch {
	case outcome != linearizability.OpOK:
	case op.Kind == drain:
		return b.drained(i, v)
	case op.Kind == ops.Read || op.Kind == ops.Poll:
		op.Output, op.Empty = v.text(), v.isNil()
	case op.Kind == ops.Lock && v.number > 0:
		op.Token = v.number
	}
	if op.Kind == drain {
		return fmt.Errorf("a drain that fails takes an unknown number of elements: " +
			"this history cannot be judged")
	}
	return nil
}

// drained replaces a drain by a poll for each of its elements.
func (b *builder) drained(i int, v datum) error {
	if v.list == nil && !v.isNil() {
		return fmt.Errorf("value of drain: %s; expected a list of elements", v.text())
	}
	op := b.h.Ops[i]
	b.h.Ops[i].Kind, b.h.Ops[i].Empty = ops.Poll, true // and then it was empty
	for _, element := range v.list {
		op.Kind, op.Output = ops.Poll, element.text()
		b.h.Ops = append(b.h.Ops, op)
	}
	return nil
}

// history is the history of all events up to the last one.
func (b *builder) history(last moment) (linearizability.History, error) {
	for _, op := range b.h.Ops {
		if op.Kind == drain {
			return b.h, fmt.Errorf("%s's drain (event %d) never returned: "+
				"this history cannot be judged", op.Client, op.Call)
		}
	}
	if len(b.h.Ops) == 0 && b.key != "" {
		return b.h, fmt.Errorf("there is no operation on the key %s", b.key)
	}
	b.h.End, b.h.EndTime = last.step, last.time
	return b.h, nil
}
