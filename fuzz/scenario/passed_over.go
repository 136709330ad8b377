package scenario

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

var overtook = regexp.MustCompile(`; (\S+)(?: \(.*?\))? was granted it although the older (\S+) was there`)

// overtaken is what a client learned last of the older znode that it has passed over, by a look at
// it or a list, and after that: the events, and the last znode that was not there.
func overtaken(
	r *trace.Result, h linearizability.History, v *linearizability.Verdict,
) (text string) {
	m := overtook.FindStringSubmatch(v.Summary)
	if m == nil {
		return ""
	}
	by := int64(0)
	for _, op := range h.Ops {
		if op.Client == m[1] && op.OK() && slices.Contains(v.Steps, op.Return) {
			by, text = max(by, op.Return), grantText(r, h.Ops, op)
		}
	}
	var seen, beside trace.RequestPoint
	for _, q := range r.Requests {
		if q.Client != m[1] || q.Step > by || !readsNode(q.Op) {
			continue
		}
		if q.Path == m[2] || lists(q.Op) && q.Path == path.Dir(m[2]) {
			seen = q
		} else if path.Dir(q.Path) == path.Dir(m[2]) && !applied(r, q) {
			beside = q // the znode ahead may have gone
		}
	}
	if seen.Step == 0 {
		return text
	}
	text = fmt.Sprintf("the last that %s did or learned of it: %s (step %d)", m[1],
		requestText(r, seen), seen.Step)
	for _, e := range r.Events {
		if e.Client == m[1] && seen.Step < e.Step && e.Step <= by {
			text += fmt.Sprintf(", and then the event %s %s (step %d)", e.Type, e.Path, e.Step)
			seen.Step = e.Step
		}
	}
	if beside.Step > seen.Step {
		text += fmt.Sprintf(", and then %s (step %d)", requestText(r, beside), beside.Step)
	}
	return text
}

var outOfOrder = regexp.MustCompile(`was removed at step \d+, although .* was in the queue since step \d+`)

// chosenFrom says which list a client had made last before it removed an element from a queue,
// though another came first: that was not there yet, or the client has chosen the wrong one.
func chosenFrom(r *trace.Result, summary string) (text string) {
	steps := NamedSteps(outOfOrder.FindString(summary))
	for _, c := range r.Changes {
		if len(steps) != 2 || c.Step != steps[0] || c.Kind != trace.NodeDeleted {
			continue
		}
		list := listFor(r, trace.RequestPoint{Client: c.Client, Path: c.Path, Step: c.Step})
		if at := NamedSteps(list); len(at) > 0 {
			text = fmt.Sprintf("before it removed %s, %s had last %s", c.Path, c.Client,
				strings.TrimSuffix(list, ", then "))
			if at[len(at)-1] < steps[1] {
				text += ", which was before the other came"
			}
		}
	}
	return text
}

// woken names the clients that a change at one of some steps has woken, each with the request that
// had set its watch. It is "" if that is not known of all of them.
func woken(r *trace.Result, steps []int64) string {
	for _, c := range r.Changes {
		if c.Notified < 2 || !slices.Contains(steps, c.Step) {
			continue
		}
		var told []string
		for i, q := range r.Requests {
			again := func(next trace.RequestPoint) bool {
				return next.Client == q.Client && next.Step < c.Step && fires(c, next) &&
					watches(r, next)
			}
			fired := func(by trace.Change) bool {
				return q.Step < by.Step && by.Step < c.Step && fires(by, q)
			}
			if q.Client != c.Client && again(q) && !slices.ContainsFunc(r.Requests[i+1:], again) &&
				!slices.ContainsFunc(r.Changes, fired) {
				told = append(told, fmt.Sprintf("%s, which had %s (step %d)", q.Client,
					requestText(r, q), q.Step))
			}
		}
		if len(told) == c.Notified {
			return "it wakes " + strings.Join(told, ", and ")
		}
	}
	return ""
}

// fires reports whether a change concerns what a request reads.
func fires(c trace.Change, q trace.RequestPoint) bool {
	if lists(q.Op) {
		return c.Kind != trace.DataChanged && q.Path == path.Dir(c.Path)
	}
	return q.Path == c.Path
}

// meanwhile is the first change by another client of what a client has read last before a step: it
// acts on a state that is over.
func meanwhile(r *trace.Result, client string, by int64) string {
	q := lastRequest(r, client, 0, by)
	for _, c := range r.Changes {
		if readsNode(q.Op) && fires(c, q) && c.Client != "" && c.Client != client && q.Step < c.Step &&
			c.Step <= by {
			return fmt.Sprintf(", and then %s %s %s (step %d)", c.Client,
				cmp.Or(did[c.Kind], "deleted"), c.Path, c.Step)
		}
	}
	return ""
}
