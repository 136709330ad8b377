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

var overtook = regexp.MustCompile(
	`; (\S+)(?: \(.*?\))? was granted it although (?:the older|\S+'s|\S+ \(.*?\)'s) (/\S+) was there`)

// overtaken is what a client learned last of the znode that it has passed over: its own look at the
// znode, or the list of the directory, and what it went by after that.
func overtaken(
	r *trace.Result, h linearizability.History, v *linearizability.Verdict,
) (text string) {
	m := overtook.FindStringSubmatch(v.Summary)
	if m == nil {
		return ""
	}
	client, dir, by, call := m[1], path.Dir(m[2]), int64(0), int64(0)
	for _, op := range h.Ops {
		if op.Client == client && op.OK() && slices.Contains(v.Steps, op.Return) && op.Return > by {
			by, call, text = op.Return, op.Call, grantText(r, h.Ops, op)
		}
	}
	var look, before, entry trace.RequestPoint
	for _, q := range r.Requests {
		switch {
		case q.Client != client || q.Step > by:
		case readsNode(q.Op) && (q.Path == m[2] || lists(q.Op) && q.Path == dir):
			look = q
		case q.Op == multi && q.Step > call && applied(r, q):
			before, entry = look, q
		}
	}
	if look.Step == 0 {
		return text
	}
	text = fmt.Sprintf("the last that %s did or learned of it: %s (step %d)", client,
		requestText(r, look), look.Step)
	made := madeBetween(r, m[2], look.Step, by)
	if made != "" {
		text += ", before " + made
	}
	text += afterLook(r, look, dir, by)
	made = madeBetween(r, m[2], before.Step, entry.Step)
	if before.Step > call && before.Step < look.Step && made != "" {
		text += fmt.Sprintf("; before that: %s (step %d), and then %s (step %d), although in between %s",
			requestText(r, before), before.Step, requestText(r, entry), entry.Step, made)
	}
	return text
}

// madeBetween says who created a znode between two steps, "" if nobody did.
func madeBetween(r *trace.Result, at string, from, to int64) string {
	for _, c := range r.Changes {
		if c.Kind == trace.NodeCreated && c.Path == at && from < c.Step && c.Step < to {
			return fmt.Sprintf("%s created %s (step %d)", cmp.Or(c.Client, "the server"), at, c.Step)
		}
	}
	return ""
}

// afterLook are the events that woke a client after a look, and the znodes of a directory that it
// did not find any more. After a list it says, too, that there was no other list.
func afterLook(r *trace.Result, look trace.RequestPoint, dir string, by int64) (text string) {
	for step := look.Step + 1; step <= by; step++ {
		for _, e := range r.Events {
			if e.Client == look.Client && e.Step == step {
				text += fmt.Sprintf(", and then the event %s %s (step %d)", e.Type, e.Path, step)
			}
		}
		for _, q := range r.Requests {
			if q.Client == look.Client && q.Step == step && readsNode(q.Op) &&
				path.Dir(q.Path) == dir && strings.Contains(requestText(r, q), ": NoNode") {
				text += fmt.Sprintf(", and then %s (step %d)", requestText(r, q), step)
			}
		}
	}
	if text != "" && lists(look.Op) {
		text += ", and no list reached the server after that"
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
			text = fmt.Sprintf("before it removed %s, %s had last %s", c.Path, c.Client, list)
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
