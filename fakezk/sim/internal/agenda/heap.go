package agenda

import (
	"cmp"
	"slices"
	"time"
)

type event struct {
	at       time.Duration
	sequence int64
	apply    func()
}

// before orders events by time, and those of one time as they were scheduled.
func (e event) before(other event) bool {
	return e.at < other.at || e.at == other.at && e.sequence < other.sequence
}

// eventHeap is a binary heap. That of container/heap would allocate for each event.
type eventHeap []event

// has reports whether there is an event of an instant. There are few events.
func (h eventHeap) has(at time.Duration) bool {
	return slices.ContainsFunc(h, func(e event) bool { return e.at == at })
}

func (h *eventHeap) push(e event) {
	list := append(*h, e)
	i := len(list) - 1
	for parent := (i - 1) / 2; i > 0 && e.before(list[parent]); parent = (i - 1) / 2 {
		list[i] = list[parent]
		i = parent
	}
	list[i] = e
	*h = list
}

// pop removes the earliest event.
func (h *eventHeap) pop() event {
	list := *h
	first, e := list[0], list[len(list)-1]
	list[len(list)-1] = event{}
	list = list[:len(list)-1]
	i := 0
	for child := 1; child < len(list); child = 2*i + 1 {
		if child+1 < len(list) && list[child+1].before(list[child]) {
			child++
		}
		if !list[child].before(e) {
			break
		}
		list[i] = list[child]
		i = child
	}
	if len(list) > 0 {
		list[i] = e
	}
	*h = list
	return first
}

// putOff moves events until none is before an instant and no two are of one instant.
func (h eventHeap) putOff(until time.Duration) {
	slices.SortFunc(h, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.sequence, b.sequence))
	})
	for i := range h {
		if h[i].at >= until {
			return
		}
		h[i].at, until = until, until+1
	}
}
