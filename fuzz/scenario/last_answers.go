package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// lastRead is how the client of a view or a look at a copy read the znode last whose change it does
// not show. One of the steps is that of the call, and one that of the change.
func lastRead(r *trace.Result, h linearizability.History, steps []int64) (text string) {
	views := []string{ops.Look, ops.Settle, ops.View, ops.Pick}
	shown := slices.IndexFunc(h.Ops, func(op linearizability.Op) bool {
		return op.OK() && slices.Contains(views, op.Kind) &&
			(slices.Contains(steps, op.Call) || slices.Contains(steps, op.Return))
	})
	changed := slices.IndexFunc(r.Changes, func(c trace.Change) bool {
		return slices.Contains(steps, c.Step)
	})
	if shown < 0 || changed < 0 {
		return ""
	}
	op, change := h.Ops[shown], r.Changes[changed]
	var last, own trace.RequestPoint
	read := func(q trace.RequestPoint) {
		if q.Client == op.Client && last.Step < q.Step && q.Step <= op.Return && readsNode(q.Op) &&
			(q.Path == change.Path || lists(q.Op) && change.Kind != trace.DataChanged &&
				strings.HasPrefix(change.Path, strings.TrimSuffix(q.Path, "/")+"/")) {
			if last = q; q.Path == change.Path {
				own = q
			}
		}
	}
	for _, q := range r.Requests {
		read(q)
	}
	for _, s := range r.Strikes { // such a request may never reach the server
		read(trace.RequestPoint{Client: s.Client, Op: s.Op, Path: s.Path, Step: s.Step})
	}
	verb, did := "read "+change.Path, fmt.Sprintf("%s (step %d)", replyText(r, last), last.Step)
	if lists(last.Op) {
		verb = "listed the children of " + last.Path
		_, shown, _ := strings.Cut(answerText(r, last), last.Path+": ")
		did = fmt.Sprintf("%s (step %d)", shown, last.Step)
	}
	switch {
	case last.Step == 0:
		text = fmt.Sprintf("no read of %s by %s has reached the server", change.Path, op.Client)
		last.Client = op.Client
		if act := heard(r, last, op.Return); act != "" {
			text += ", and none came after " + act
		}
		return text
	case !answered(r, last):
		return fmt.Sprintf("the last time that %s %s it got no answer: %s (step %d)", op.Client, verb,
			last.Op+" "+last.Path, last.Step)
	case last.Step > change.Step:
		text = fmt.Sprintf("%s has %s since then and not shown that: %s", op.Client, verb, did)
		if own.Step > 0 && own.Step < last.Step {
			text += fmt.Sprintf("; of the znode itself it had got %s (step %d)", replyText(r, own), own.Step)
		}
		return text
	}
	text = fmt.Sprintf("%s %s last before that: %s", op.Client, verb, did)
	if act := heard(r, last, op.Return); act != "" {
		text += ", and not after " + act
	} else if !watches(r, last) || last.Op != "exists" && !applied(r, last) {
		text += ", which left no watch"
	}
	return text
}

// unasked says that a read, whose call and return are some steps, has asked no server.
func unasked(r *trace.Result, h linearizability.History, steps []int64) string {
	for _, op := range h.Ops {
		reads := op.Kind == ops.Get || op.Kind == ops.Read || op.Kind == ops.IsSet
		if reads && slices.Equal(steps, []int64{op.Call, op.Return}) &&
			lastRequest(r, op.Client, op.Call, op.Return).Step == 0 {
			return fmt.Sprintf("%s sent no request during that call", op.Client)
		}
	}
	return ""
}

// unread says that a call that succeeded, and returned at one of some steps, had no answer of the
// server to rest on.
func unread(r *trace.Result, h linearizability.History, steps []int64) string {
	for _, op := range h.Ops {
		if op.OK() && slices.Contains(steps, op.Return) &&
			lastRequest(r, op.Client, 0, op.Return-1).Step == 0 {
			return fmt.Sprintf("the last that %s did or learned: nothing, for the server has answered no "+
				"request of it", op.Client)
		}
	}
	return ""
}

// unheeded is what a holder read first after its session had ended, if it gave no signal of that:
// its guard has seen the wrong thing, or has not looked.
func unheeded(r *trace.Result, v *linearizability.Verdict) string {
	if !strings.Contains(v.Summary, "signal of loss did not come") {
		return ""
	}
	client, _, _ := strings.Cut(v.Summary, "'s ")
	for _, q := range r.Requests {
		if q.Client == client && q.Step > slices.Max(v.Steps) && readsNode(q.Op) {
			return fmt.Sprintf("the last that %s did or learned: after that it read %s (step %d)", client,
				requestText(r, q), q.Step)
		}
	}
	return ""
}

// lastAnswer is the last answer that a client had before the end of its belief, and whether its
// server was cut off. That end is the last of the steps of a verdict on a lease.
func lastAnswer(r *trace.Result, v *linearizability.Verdict) (text string) {
	client, _, lease := strings.Cut(v.Summary, " believed until step ")
	if !lease {
		return ""
	}
	for _, q := range slices.Backward(r.Requests) {
		if q.Client != client || q.Step >= slices.Max(v.Steps) || !answered(r, q) {
			continue
		}
		text := requestText(r, q)
		if since := cutOffSince(r, q); since > 0 {
			text = fmt.Sprintf("%s, from server %d, which was cut off from the others since step %d",
				answerText(r, q), q.Server, since)
		}
		return fmt.Sprintf("the last that %s did or learned before that: %s (step %d)", client, text, q.Step)
	}
	return ""
}

// cutOffSince is the step since which the server of a request was cut off from the others when it
// arrived, 0 if it was not.
func cutOffSince(r *trace.Result, q trace.RequestPoint) (since int64) {
	for _, s := range r.Servers {
		switch {
		case s.Server != q.Server || s.Step > q.Step:
		case !s.CutOff:
			since = 0
		case since == 0:
			since = s.Step
		}
	}
	return since
}

var firstAttempt = regexp.MustCompile(`left by (\S+)'s \w+ \(first attempt, create at step \d+\)`)

// afterAttempt tells why a call that has left a znode tried again.
func afterAttempt(r *trace.Result, summary string) string {
	m := firstAttempt.FindStringSubmatch(summary)
	if m == nil {
		return ""
	}
	left := NamedSteps(m[0])[0]
	for _, q := range r.Requests {
		if q.Client == m[1] && q.Step > left && strings.HasPrefix(q.Op, "create") {
			return fmt.Sprintf("the last that %s did or learned before its next create (step %d): %s", m[1],
				q.Step, lastAct(r, nil, m[1], q.Step-1))
		}
	}
	return ""
}

var livedOn = regexp.MustCompile(`lived on after (\S+)'s (\w+) \(steps \d+ to \d+`)

// silent says that a release after which a znode lived on has sent no delete.
func silent(r *trace.Result, summary string) string {
	m := livedOn.FindStringSubmatch(summary)
	if m == nil {
		return ""
	}
	steps := NamedSteps(m[0]) // of its begin and its end
	if slices.ContainsFunc(r.Requests, func(q trace.RequestPoint) bool {
		return q.Client == m[1] && steps[0] <= q.Step && q.Step <= steps[1] && !readsNode(q.Op)
	}) {
		return ""
	}
	return fmt.Sprintf("%s's %s sent no delete", m[1], m[2])
}

// refusedInCall is the last request that was refused in a call which waits for its own znode.
func refusedInCall(
	r *trace.Result, h linearizability.History, v *linearizability.Verdict,
) string {
	if !strings.Contains(v.Summary, " and so waits for its own znode") {
		return ""
	}
	for _, op := range h.Ops {
		if !op.Pending() || !slices.Contains(v.Steps, op.Call) {
			continue
		}
		for _, q := range slices.Backward(r.Requests) {
			if q.Client == op.Client && q.Step > op.Call &&
				answers.MatchString(r.Trace.Entry(q.Step).Text) {
				return fmt.Sprintf("in that call the server refused %s (step %d)", requestText(r, q), q.Step)
			}
		}
	}
	return ""
}

// applied reports whether the server has not refused a request.
func applied(r *trace.Result, q trace.RequestPoint) bool {
	return strings.Contains(r.Trace.Entry(q.Step).Text, ": ok")
}

// answered reports whether the reply to a request reached its client. In a real world that is not
// known, and it did.
func answered(r *trace.Result, q trace.RequestPoint) bool {
	messages := r.Messages()
	return len(messages) == 0 || slices.ContainsFunc(messages, func(m trace.Message) bool {
		return m.From == q.Step && m.Client == q.Client && !m.Up && m.Op == "" && !m.Lost
	})
}

// heard is the first that a client learned after a read, up to a step: an event of the znode, or
// that its connection or session was lost.
func heard(r *trace.Result, read trace.RequestPoint, by int64) (text string) {
	first := by + 1
	for _, e := range r.Events {
		if e.Client == read.Client && e.Path == read.Path && e.Step > read.Step && e.Step < first {
			first, text = e.Step, fmt.Sprintf("the event %s (step %d)", e.Type, e.Step)
		}
	}
	for _, n := range r.Notices {
		if n.Client == read.Client && n.Step > read.Step && n.Step < first &&
			(n.Kind == trace.Disconnected || n.Kind == trace.SessionExpired) {
			first, text = n.Step, fmt.Sprintf("its client was told: %s (step %d)", n.Kind, n.Step)
		}
	}
	return text
}

// refusedGrant says that a lock was granted although the last request of that call was refused: by
// the call that returned at one of some steps, or by the last one of the client that deleted a
// znode there. A look that found nothing is not it if an older znode was passed over.
func refusedGrant(
	r *trace.Result, h linearizability.History, v *linearizability.Verdict,
) (text string) {
	steps, deletes := v.Steps, map[string]int64{}
	for _, c := range r.Changes {
		if c.Kind == trace.NodeDeleted && slices.Contains(steps, c.Step) {
			deletes[c.Client] = c.Step
		}
	}
	for _, op := range slices.Backward(h.Ops) {
		before := op.Return < deletes[op.Client]
		if !op.OK() || !slices.Contains([]string{ops.Lock, ops.Acquire, ops.Lead}, op.Kind) ||
			!before && !slices.Contains(steps, op.Return) {
			continue
		}
		looked := readsNode(lastRequest(r, op.Client, op.Call, op.Return).Op)
		refused := lastRefused(r, op)
		if refused != "" && !(looked && overtook.MatchString(v.Summary)) {
			text = fmt.Sprintf("%s's %s (steps %d to %d) succeeded, but its last request was refused: %s",
				op.Client, op.Kind, op.Call, op.Return, refused)
		}
		delete(deletes, op.Client)
	}
	return text
}

// wokenInstead says that after the last notification for the client of a call another goroutine's
// call of that kind returned, and this one did not: perhaps the code wakes one waiter only.
func wokenInstead(
	r *trace.Result, calls []linearizability.Op, op linearizability.Op, by int64,
) (text string) {
	var last trace.EventPoint
	for _, e := range r.Events {
		if e.Client == op.Client && op.Call < e.Step && e.Step <= by {
			last = e
		}
	}
	if last.Step == 0 {
		return ""
	}
	for _, other := range calls {
		if other.Client == op.Client && other.Kind == op.Kind && other.OK() &&
			other.Call < last.Step && last.Step < other.Return && other.Return <= by {
			return fmt.Sprintf("after the last notification for %s, %s %s at step %d, the %s of "+
				"another goroutine returned (step %d), and this one went on waiting", op.Client,
				last.Type, last.Path, last.Step, op.Kind, other.Return)
		}
	}
	return ""
}

// lastStep is the last step of a call before its context was done: after that it cleans up.
func lastStep(r *trace.Result, op linearizability.Op) int64 {
	step := op.Return
	for op.Deadline > 0 && step > op.Call && r.Trace.Entry(step).Time >= op.Deadline {
		step--
	}
	return step
}
