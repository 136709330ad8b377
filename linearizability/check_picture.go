package linearizability

import (
	"io"
	"slices"
	"strconv"
)

// sketch draws operations of these kinds that no sequential model explains: any order
// of them will do. What it shows between them is a number, as each of them leaves it.
func sketch(h History, kinds []string, leaves func(op Op, before int) int, show func(int) string) func(io.Writer) error {
	var events []event[Op]
	for i := range h.Ops {
		if op := &h.Ops[i]; slices.Contains(kinds, op.Kind) {
			events = append(events, Effect[Op]{Op: *op, By: op}.event(h.End))
		}
	}
	return drawer(object[int, Op]{step: func(before int, op Op) []int { return []int{leaves(op, before)} }, show: show}, events)
}

// drawInside sketches a double barrier: how many have entered and not left.
func drawInside(h History) func(io.Writer) error {
	return sketch(h, []string{KindEnter, KindLeave}, func(op Op, inside int) int {
		switch {
		case !op.ok():
			return inside
		case op.Kind == KindEnter:
			return inside + 1
		}
		return inside - 1
	}, func(inside int) string { return strconv.Itoa(inside) + " inside" })
}

// drawThreshold sketches a threshold barrier: what it was set to.
func drawThreshold(h History) func(io.Writer) error {
	return sketch(h, []string{KindSet, KindWait}, func(op Op, members int) int {
		if n, err := strconv.Atoi(op.Input); err == nil && op.Kind == KindSet {
			return n
		}
		return members
	}, func(members int) string {
		if members == 0 {
			return "not set"
		}
		return "for " + count(members, "member")
	})
}
