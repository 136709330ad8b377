package object

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

const (
	// noPayload is the name of the payload without bytes. The name "" means no element.
	noPayload = filler + "0"
	// samePayload is the name of the payload that several offers have.
	samePayload = "same"
)

// sameDue is the due time of elements with equal payloads, which have equal ranks: two seconds
// after a World begins.
var sameDue = time.Date(2000, 1, 1, 0, 0, 2, 0, time.UTC)

// offersEmpty reports whether some elements of the run are empty.
func (p queuePlayer) offersEmpty() bool {
	return !p.distinct && p.client.OfRun("equal payloads", 6) == 1
}

// element draws the payload of an offer. In one run of six, two offers in three have the same
// payload. In another run of six, half of the offers have an empty payload. In all other runs no
// two payloads are equal.
func (p queuePlayer) element(round int) string {
	equal := !p.distinct && p.client.OfRun("equal payloads", 6) == 0
	switch {
	case equal && p.client.Choose(scenario.At("same payload", round), 3) > 0:
		return named(p.client, samePayload)
	case p.offersEmpty() && p.client.Choose(scenario.At("no payload", round), 2) == 0:
		return noPayload
	}
	return named(p.client, fmt.Sprintf("%s%d", p.client.Name(), round+1))
}

// mayRepeat reports whether several offers may have the payload.
func mayRepeat(element string) bool {
	name, _, _ := strings.Cut(element, filler)
	return name == "" || name == samePayload
}

// elementName is the name of the payload of an element.
func elementName(payload string) string { return cmp.Or(payloadName(payload), noPayload) }

// elementIn is nameIn for the elements of a queue.
func elementIn(read func(string) (string, bool)) func(string) (string, bool) {
	read = nameIn(read)
	return func(data string) (string, bool) {
		name, found := read(data)
		return elementName(name), found
	}
}

// explained returns the history for the judge, and the patterns of znodes that may stay at rest. If
// an empty znode among the elements has no offer of its own, some empty znodes are bookkeeping or
// elements put back. The judge cannot tell which. Then the history omits the calls with empty
// elements, and the empty znodes may stay. A call that returned no bytes and an error is kept, as a
// call without an element: it may have removed any element.
func (c QueueClaims) explained(h linearizability.History) (linearizability.History, []string) {
	if c.explainsEmpty(h) {
		return h, c.LeavesAtRest
	}
	isEmpty := func(op linearizability.Op) bool {
		return op.Output == noPayload || op.Kind == ops.Offer && elementOf(op.Input) == noPayload
	}
	if !slices.ContainsFunc(h.Ops, isEmpty) {
		return h, c.LeavesAtRest
	}
	h.Ops = slices.Clone(h.Ops)
	for i, op := range h.Ops {
		if op.Outcome == linearizability.OpUnknown && op.Output == noPayload {
			h.Ops[i].Output = ""
		}
	}
	h.Ops = slices.DeleteFunc(h.Ops, isEmpty)
	allowed := slices.Clone(c.LeavesAtRest)
	for _, ev := range h.Server {
		if c.isEmptyElement(ev) {
			allowed = append(allowed, ev.Path)
		}
	}
	return h, allowed
}

// isEmptyElement reports whether an event is the creation of an empty znode among the elements.
func (c QueueClaims) isEmptyElement(ev linearizability.ServerEvent) bool {
	if ev.Kind != linearizability.NodeCreated || path.Dir(ev.Path) != c.dir() {
		return false
	}
	element, ok := c.Element(ev.Data)
	return ok && element == noPayload
}

// explainsEmpty reports whether each empty znode has an offer of its own that made it.
func (c QueueClaims) explainsEmpty(h linearizability.History) bool {
	used := map[int]bool{}
	for _, ev := range h.Server {
		if !c.isEmptyElement(ev) {
			continue
		}
		maker := slices.IndexFunc(h.Ops, func(op linearizability.Op) bool {
			return op.Kind == ops.Offer && elementOf(op.Input) == noPayload &&
				op.Client == ev.Client && op.Outcome != linearizability.OpFailed &&
				op.Call <= ev.Step && (op.Outcome != linearizability.OpOK || ev.Step <= op.Return)
		})
		if maker < 0 || used[maker] {
			return false
		}
		used[maker] = true
	}
	return true
}

// dir is the directory of the elements.
func (c QueueClaims) dir() string { return path.Clean(cmp.Or(c.Items, c.Path)) }
