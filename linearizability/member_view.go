package linearizability

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// viewer is what a client has been shown so far: of each thing a moment from
// which on it may not be shown anything older.
type viewer map[string]int64

// allNames is the key of all names of a group; no instance is called so.
const allNames = ""

// judgeViews holds everything that was shown against the truth.
func (c *membershipCase) judgeViews() Verdict {
	viewers := map[string]viewer{}
	for _, op := range c.byReturn() {
		if viewers[op.Client] == nil {
			viewers[op.Client] = viewer{}
		}
		if why, steps := c.judgeView(viewers[op.Client], op); why != "" {
			return violated(Answers, steps, "%s %s", describe(op), why)
		}
	}
	return fine(Answers, "all that was shown was so, and no view went back")
}

// byReturn returns the operations that have shown something, in their order.
func (c *membershipCase) byReturn() []Op {
	var list []Op
	for _, op := range c.history.Ops {
		if op.ok() && (op.Kind == KindView || op.Kind == KindPick) {
			list = append(list, op)
		}
	}
	slices.SortStableFunc(list, func(a, b Op) int { return compare(a.Return, b.Return) })
	return list
}

// judgeView says what is wrong with what an operation has shown.
func (c *membershipCase) judgeView(v viewer, op Op) (why string, steps []int64) {
	if op.Kind == KindView && !c.opts.Services && !c.opts.Data {
		return c.judgeValue(v, op, allNames, op.Output, c.truth.names)
	}
	shown := map[string]string{}
	for _, entry := range strings.Split(op.Output, ",") {
		if entry != "" {
			instance, data := cutData(entry)
			shown[instance] = "=" + data
		}
	}
	for _, instance := range c.toCheck(op, shown) {
		if why, steps = c.judgeValue(v, op, instance, shown[instance], c.truth.of(instance)); why != "" {
			return why, steps
		}
	}
	return "", nil
}

// toCheck returns the instances of which an operation says something: a view of
// all, a pick of the one it has chosen or, if there was none, of all of the
// service.
func (c *membershipCase) toCheck(op Op, shown map[string]string) []string {
	list := slices.Sorted(maps.Keys(shown))
	if op.Kind == KindPick && !op.Empty {
		return list
	}
	for _, instance := range slices.Sorted(maps.Keys(c.truth.instances)) {
		if shown[instance] == "" && (op.Kind == KindView || strings.HasPrefix(instance, op.Input+"/")) {
			list = append(list, instance)
		}
	}
	return list
}

// judgeValue holds one value that was shown against its timeline, and moves the
// viewer on to the earliest moment that explains it.
func (c *membershipCase) judgeValue(v viewer, op Op, key, value string, line timeline) (why string, steps []int64) {
	var old *period
	for i, s := range line {
		if s.value != value || s.from > op.Return {
			continue
		}
		old = &line[i]
		if s.to > v[key] && !c.tooOld(s, op) {
			v[key] = max(v[key], s.from)
			return "", nil
		}
	}
	what := showing(key, value)
	switch {
	case old == nil:
		return what + ", which was never so", []int64{op.Return}
	case old.to <= v[key]:
		return fmt.Sprintf("%s, as it was until step %d, after something newer was shown", what, old.to), []int64{op.Return, old.to}
	}
	return fmt.Sprintf("%s, as it was until step %d, %v before the call, and views may lag by %v",
		what, old.to, (op.CallTime - old.toTime).Round(time.Millisecond), c.opts.Within), []int64{op.Return, old.to}
}

// tooOld reports whether a value was out of date for too long when it was shown.
func (c *membershipCase) tooOld(s period, op Op) bool {
	return c.opts.Within > 0 && s.to != never && s.toTime < op.CallTime-c.opts.Within
}

// showing says in words what was shown.
func showing(key, value string) string {
	switch {
	case key == allNames && value == "":
		return "shows nobody"
	case key == allNames:
		return "shows " + value
	case value == "":
		return "does not show " + key
	}
	return "shows " + key + value
}
