package scenario

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// tellLastActs adds to a verdict what a client did or learned last: before a call that failed,
// before a view that is out of date, and before a lock was granted by no right. There the cause is.
func tellLastActs(
	report *linearizability.Report, r *trace.Result, h linearizability.History,
) {
	for i := range report.Verdicts {
		v := &report.Verdicts[i]
		if v.Status != linearizability.Violated {
			continue
		}
		tell := func(text string) {
			if text != "" {
				v.Summary += "; " + text
			}
		}
		if strings.Contains(v.Summary, " said that it ") { // it was applied, and failed all the same
			tell(actBefore(r, h, v.Steps))
			continue
		}
		switch v.Property {
		case linearizability.Liveness:
			tell(lastRead(r, h, v.Steps))
			tell(actBefore(r, h, v.Steps))
			tell(cmp.Or(whyLeft(r, h, v.Summary), afterAttempt(r, v.Summary), silent(r, v.Summary),
				refusedInCall(r, h, v)))
			tell(rested(r, h, v.Steps))
		case InvariantProperty:
			steps := NamedSteps(v.Summary)
			if strings.Contains(v.Summary, " wakes ") {
				tell(woken(r, steps))
				continue
			}
			tell(cmp.Or(actBefore(r, h, steps), unread(r, h, steps),
				grounds(r, h, &linearizability.Verdict{Steps: steps})))
		case linearizability.Orphans:
			tell(whyLeft(r, h, v.Summary))
			if m := leftWatch.FindStringSubmatch(v.Summary); m != nil {
				tell(setBy(r, m[1], m[2]))
			}
			if strings.Contains(v.Summary, " is left without instances since ") {
				tell(lastWrite(r, h, NamedSteps(v.Summary)))
			}
		case linearizability.Belief:
			tell(cmp.Or(unheeded(r, v), lastAnswer(r, v)))
			if strings.Contains(v.Summary, "says that it is up to date") {
				tell(grounds(r, h, v))
			}
		case linearizability.View, linearizability.Answers:
			tell(cmp.Or(lastRead(r, h, v.Steps), grounds(r, h, v)))
		case linearizability.Linearizability:
			tell(cmp.Or(whyLeft(r, h, v.Summary), chosenFrom(r, v.Summary), unasked(r, h, v.Steps),
				grounds(r, h, v)))
		case linearizability.Safety:
			tell(cmp.Or(refusedGrant(r, h, v), ownBefore(r, v.Steps), overtaken(r, h, v),
				grounds(r, h, v)))
		case linearizability.Presence:
			tell(cmp.Or(lastOfNode(r, h, v), grounds(r, h, v)))
		case linearizability.Delivery, linearizability.Order:
			tell(cmp.Or(whyLeft(r, h, v.Summary), chosenFrom(r, v.Summary), grounds(r, h, v)))
		case linearizability.Herd:
			tell(woken(r, v.Steps))
		}
	}
}

var leftWatch = regexp.MustCompile(`^left at rest: a watch of (\S+) on (\S+), though`)

// actBefore is what the client of a failed call that returned at one of some steps did or learned
// last: a call that gives up, or that returns an error of the server, has its cause there.
func actBefore(r *trace.Result, h linearizability.History, steps []int64) (text string) {
	at := slices.IndexFunc(h.Ops, func(op linearizability.Op) bool {
		failed := op.Outcome == linearizability.OpFailed || op.Outcome == linearizability.OpUnknown
		return failed && slices.Contains(steps, op.Return)
	})
	if at < 0 {
		return ""
	}
	op, by, before := h.Ops[at], lastStep(r, h.Ops[at]), ""
	if by < op.Return {
		before = " before its context was done"
	}
	if woken := wokenInstead(r, h.Ops, op, by); woken != "" {
		return woken
	}
	act := lastAct(r, h.Ops, op.Client, by)
	if act == "" {
		return ""
	}
	return fmt.Sprintf("the last that %s did or learned%s: %s%s", op.Client, before, act,
		leftIn(r, h.Ops, op.Client, by))
}

// grounds are what a wrong call that succeeded, or a wrong change, rests on: what its client did or
// learned last. The steps of the verdict have the call or the change.
func grounds(
	r *trace.Result, h linearizability.History, v *linearizability.Verdict,
) (text string) {
	if strings.Contains(v.Summary, " was acknowledged, but ") &&
		!strings.Contains(v.Summary, " is still there") {
		return lastWrite(r, h, v.Steps)
	}
	if strings.HasPrefix(v.Summary, "no order ") || strings.Contains(v.Summary, " is lost: ") {
		return ""
	}
	client, by, before := "", int64(0), ""
	changed, first := "", int64(0)
	for _, c := range r.Changes {
		if c.Client == "" || c.Session == 0 || !slices.Contains(v.Steps, c.Step) {
			continue
		}
		if q := lastRequest(r, c.Client, 0, c.Step); q.Step > 0 {
			client, by, before = c.Client, q.Step-1, " before that"
		}
		if first == 0 {
			first = c.Step
		}
		changed = client
	}
	for _, op := range h.Ops { // it returned another state than it stored, and read that later
		if op.OK() && op.Client == client && op.Call < first && first < op.Return &&
			strings.Contains(v.Summary, " and returned ") {
			by, before = op.Return, ""
		}
	}
	for _, n := range r.Notices { // between two changes of one call: it tried again
		if n.Client == client && n.Kind == trace.Disconnected && first < n.Step && n.Step <= by {
			return fmt.Sprintf("the last that %s did or learned before that: its client was told: %s "+
				"(step %d), and it tried again", client, n.Kind, n.Step)
		}
	}
	last, refusal, granted, entered := int64(0), "", "", linearizability.Op{}
	twice := strings.Contains(v.Summary, "handed out twice")
	for _, op := range h.Ops {
		named := slices.Contains(v.Steps, op.Call) || slices.Contains(v.Steps, op.Return)
		if !op.OK() || !named || changed != "" && op.Client != changed || deleted(r, v, op) ||
			twice && reserves(r, op) {
			continue
		}
		if refused := lastRefused(r, op); refused != "" {
			refusal = fmt.Sprintf("the last that %s did or learned: %s", op.Client, refused)
		} else if op.Return > last {
			last, client, by, before = op.Return, op.Client, op.Return, ""
			granted, entered = grantText(r, h.Ops, op), op
			if twice {
				before = fmt.Sprintf(" in its %s of steps %d to %d", op.Kind, op.Call, op.Return)
			}
		}
	}
	if refusal == "" && granted != "" {
		return granted
	}
	if act := lastAct(r, h.Ops, client, by); act != "" {
		if v.Property == linearizability.Order || strings.Contains(v.Summary, " before it was due") {
			if list := listFor(r, lastRequest(r, client, 0, by)); list != "" {
				act = list + ", then " + act // it was chosen from a list
			}
		}
		if before == " before that" {
			act += meanwhile(r, client, by)
		} else if slices.Contains(holding, entered.Kind) {
			_, at, _ := oneAct(r, h.Ops, client, by)
			act = unheard(r, entered, at) + act
		}
		text = fmt.Sprintf("the last that %s did or learned%s: %s", client, before, act)
	}
	return cmp.Or(refusal, text)
}

// reserves reports whether the last request of a call was applied: of two calls that got one
// number, the other is wrong.
func reserves(r *trace.Result, op linearizability.Op) bool {
	q := lastRequest(r, op.Client, op.Call, op.Return)
	return q.Step > 0 && !readsNode(q.Op) && applied(r, q) && answered(r, q)
}

var takenOnce = regexp.MustCompile(`it was there once, and .* deleted it, at step (\d+)`)

// deleted reports whether a call is the one that deleted an element that was taken twice: the other
// one took what it did not delete.
func deleted(r *trace.Result, v *linearizability.Verdict, op linearizability.Op) bool {
	m := takenOnce.FindStringSubmatch(v.Summary)
	return m != nil && slices.ContainsFunc(r.Changes, func(c trace.Change) bool {
		return m[1] == fmt.Sprint(c.Step) && c.Client == op.Client &&
			op.Call <= c.Step && c.Step <= op.Return
	})
}

// ownBefore says how the own znode went of a client that deleted another's of that name at one of
// some steps: it took that one for its own.
func ownBefore(r *trace.Result, steps []int64) (text string) {
	for _, c := range r.Changes {
		if c.Kind != trace.NodeDeleted || c.Client == "" || !slices.Contains(steps, c.Step) {
			continue
		}
		for _, own := range r.Changes {
			if own.Kind == trace.NodeDeleted && own.Path == c.Path && own.Step < c.Step &&
				own.Session == 0 && own.Owner != 0 && r.SessionClient[own.Owner] == c.Client {
				text = fmt.Sprintf("the last that %s did or learned before that: its own %s had gone at "+
					"step %d, when its session ended", c.Client, c.Path, own.Step)
			}
		}
	}
	return text
}

var wanted = regexp.MustCompile(`though it (was wanted|had joined) \((\S+)'s \w+ \(`)

// lastOfNode is what the client that had made a znode did or learned of it last. The znode was
// deleted at one of some steps, and the client's next call of that kind has not begun.
// Of a znode that others wanted it is what the first of them learned.
func lastOfNode(
	r *trace.Result, h linearizability.History, v *linearizability.Verdict,
) string {
	gone := slices.IndexFunc(r.Changes, func(c trace.Change) bool {
		changed := c.Kind == trace.NodeDeleted || c.Kind == trace.DataChanged
		return changed && slices.Contains(v.Steps, c.Step)
	})
	if gone < 0 || strings.Contains(v.Summary, " is still there: ") {
		return ""
	}
	node, maker := r.Changes[gone], ""
	for _, c := range r.Changes[:gone] {
		if c.Kind == trace.NodeCreated && c.Path == node.Path {
			maker = c.Client
		}
	}
	by, isWanted := int64(math.MaxInt64), false
	if m := wanted.FindStringSubmatch(v.Summary); m != nil {
		maker, isWanted = m[2], m[1] == "was wanted"
	}
	for _, op := range slices.Backward(h.Ops) {
		if op.Client == maker && op.Call > node.Step && op.Kind != ops.View && op.Kind != ops.Pick {
			by = op.Call
		}
	}
	var last int64
	tell := func() string { return "" }
	for _, q := range r.Requests {
		wrote := q.Step > node.Step && !readsNode(q.Op) &&
			!answers.MatchString(r.Trace.Entry(q.Step).Text)
		tells := !isWanted || readsNode(q.Op)
		if q.Client == maker && q.Path == node.Path && q.Step < by && tells {
			last, tell = q.Step, func() string {
				text := requestText(r, q)
				if isWanted && !watches(r, q) {
					text += ", which left no watch"
				}
				return text
			}
			if wrote {
				by = last
			}
		}
	}
	for _, e := range r.Events {
		if e.Client == maker && e.Path == node.Path && last < e.Step && e.Step < by {
			last, tell = e.Step, func() string { return fmt.Sprintf("event %s %s", e.Type, e.Path) }
		}
	}
	text := tell()
	if text == "" {
		return ""
	}
	return fmt.Sprintf("the last that %s did or learned of it: %s (step %d)", maker, text, last)
}

// longRest is a rest that is long enough to be told.
const longRest = 5 * time.Second

// rested tells of the longest time in which the client of a call that succeeded, and returned at
// one of some steps, did and learned nothing: there it waited for the wrong thing.
func rested(r *trace.Result, h linearizability.History, steps []int64) (text string) {
	for _, op := range h.Ops {
		if !op.OK() || !slices.Contains(steps, op.Return) || op.Kind == ops.Settle {
			continue
		}
		longest, last := longRest, op.Call
		for step := op.Call + 1; step <= op.Return; step++ {
			line := r.Trace.Entry(step)
			if line.Actor != op.Client || strings.Contains(line.Text, "ping") {
				continue
			}
			if d := line.Time - r.Trace.Entry(last).Time; d > longest {
				longest, text = d, fmt.Sprintf("after step %d %s neither did nor learned anything for "+
					"%v", last, op.Client, d.Round(time.Millisecond))
			}
			last = step
		}
	}
	return text
}

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
