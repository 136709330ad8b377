package member

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// viewer is the progress of one client: for each instance, the earliest step whose state a view may
// still show.
type viewer map[string]int64

// allNames is the key of all names of a group. It is no name of an instance.
const allNames = ""

// judgeViews compares all views and picks with the timelines.
func (t *table) judgeViews() lin.Verdict {
	viewers := map[string]viewer{}
	for _, op := range t.shownByReturn() {
		if viewers[op.Client] == nil {
			viewers[op.Client] = viewer{}
		}
		if why, steps := t.whyWrongView(viewers[op.Client], op); why != "" {
			return judging.Violated(lin.Answers, steps, "%s %s", judging.Describe(op), why)
		}
	}
	return judging.Fine(lin.Answers, "all that was shown was so, and no view went back")
}

// shownByReturn returns the views and picks in the order of their returns.
func (t *table) shownByReturn() []lin.Op {
	var list []lin.Op
	for _, op := range t.history.Ops {
		if op.OK() && (op.Kind == ops.View || op.Kind == ops.Pick) {
			list = append(list, op)
		}
	}
	slices.SortStableFunc(list, func(a, b lin.Op) int { return cmp.Compare(a.Return, b.Return) })
	return list
}

// whyWrongView explains why the answer of an operation is wrong, or returns "".
func (t *table) whyWrongView(v viewer, op lin.Op) (why string, steps []int64) {
	if op.Kind == ops.View && !t.claims.Services && !t.claims.Data {
		return t.whyWrongValue(v, op, allNames, op.Output, t.truth.names)
	}
	shown := map[string]string{}
	for _, entry := range strings.Split(op.Output, ",") {
		if entry != "" {
			instance, data := cutData(entry)
			shown[instance] = "=" + data
		}
	}
	for _, instance := range t.toCheck(op, shown) {
		why, steps = t.whyWrongValue(v, op, instance, shown[instance], t.truth.of(instance))
		if why != "" {
			return why, steps
		}
	}
	return "", nil
}

// toCheck returns the instances that an answer is about: all for a view, the chosen one for a pick,
// or all of the service for an empty pick.
func (t *table) toCheck(op lin.Op, shown map[string]string) []string {
	list := slices.Sorted(maps.Keys(shown))
	if op.Kind == ops.Pick && !op.Empty {
		return list
	}
	for _, instance := range slices.Sorted(maps.Keys(t.truth.instances)) {
		included := op.Kind == ops.View || strings.HasPrefix(instance, op.Input+"/")
		if shown[instance] == "" && included {
			list = append(list, instance)
		}
	}
	return list
}

// whyWrongValue compares one value that was shown with its timeline, and moves the viewer on to the
// earliest moment that explains it.
func (t *table) whyWrongValue(
	v viewer, op lin.Op, key, value string, line timeline,
) (why string, steps []int64) {
	var old *period
	for i, p := range line {
		if p.value != value || p.from > op.Return {
			continue
		}
		old = &line[i]
		if p.to > v[key] && !t.tooOld(p, op) {
			v[key] = max(v[key], p.from)
			return "", nil
		}
	}
	what := showing(key, value)
	switch {
	case old == nil:
		return what + ", which was never so", []int64{op.Return}
	case old.to <= v[key]:
		return fmt.Sprintf("%s, as it was until step %d, after something newer was shown",
			what, old.to), []int64{op.Return, old.to}
	}
	age := (op.CallTime - old.toTime).Round(time.Millisecond)
	return fmt.Sprintf("%s, as it was until step %d, %v before the call, and views may lag by %v",
		what, old.to, age, t.claims.Within), []int64{op.Return, old.to}
}

// tooOld reports whether a value was out of date for too long when it was shown.
func (t *table) tooOld(p period, op lin.Op) bool {
	return t.claims.Within > 0 && p.to != judging.Never && p.toTime < op.CallTime-t.claims.Within
}

// showing describes a shown value in words.
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
