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
