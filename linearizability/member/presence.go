package member

import (
	"cmp"
	"fmt"
	"time"

	lin "github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/internal/judging"
	"github.com/zksim/zksim/linearizability/ops"
)

// judgePresence follows each instance through its client's calls.
func (t *table) judgePresence() lin.Verdict {
	for i, op := range t.history.Ops {
		var why string
		var steps []int64
		switch joins := op.Kind == ops.Join || op.Kind == ops.Update; {
		case joins && (op.OK() || t.claims.Rivals && !op.Pending()):
			if why, steps = t.whyNotThere(i); why == "" && op.OK() {
				why, steps = t.whyDeleted(i)
			}
		case op.OK() && op.Kind == ops.Leave:
			why, steps = t.whyNotGone(i)
		}
		if why != "" {
			return judging.Violated(lin.Presence, steps, "%s", why)
		}
	}
	return judging.Fine(lin.Presence, "what had joined was there, and what had left was not")
}

// whyNotThere explains why the instance of the i-th operation, a join or update, is wrong. The
// instance must exist until the next call that changes it. With rivals it must have the data of one
// of them.
func (t *table) whyNotThere(i int) (why string, steps []int64) {
	op := t.history.Ops[i]
	instance, data := cutData(op.Input)
	line := t.truth.of(instance)
	if op.OK() && !line.during("="+data, t.firstAttempt(i), op.Return) {
		return fmt.Sprintf("%s was acknowledged, but %s was not there with %q%s%s",
				judging.Describe(op), instance, data, t.thereInstead(instance, op.Return),
				t.disturbance(instance, op.Return)),
			[]int64{op.Call, op.Return}
	}
	end := t.history.EndTime
	if next, ok := t.next(i); ok {
		end = next.CallTime
	}
	if died, ok := judging.FirstNotice(t.history, op.Client, op.Return, lin.Died); ok {
		end = min(end, died.Time)
	}
	missing, since := line.without(t.wanted(i), op.ReturnTime, end)
	if t.claims.Within <= 0 || missing <= t.claims.Within {
		return "", nil
	}
	disturbed := cmp.Or(t.disturbance(instance, since), t.whenItWent(instance, since))
	missing, since = missing.Round(time.Millisecond), max(since, op.Return)
	if t.claims.Rivals {
		return fmt.Sprintf("nobody has had %s, with his data, for %v since step %d%s, "+
				"though it was wanted (%s)", instance, missing, since, disturbed, judging.Describe(op)),
			[]int64{since}
	}
	return fmt.Sprintf(
		"%s has not been there with %q for %v since step %d%s, though it had joined (%s)",
		instance, data, missing, since, disturbed, judging.Describe(op)), []int64{since}
}

// whenItWent says by whom the znode of an instance was deleted at a step, if it was.
func (t *table) whenItWent(instance string, step int64) string {
	for _, z := range t.log.Znodes {
		name, ok := t.instance(z.Path)
		switch {
		case !ok || name != instance || z.Deleted != step:
		case z.EndedWithSession():
			return fmt.Sprintf(", when %s ended", judging.SessionOf(z.Owner, t.log.Clients[z.Owner]))
		default:
			return fmt.Sprintf(", when %s deleted %s", z.RemovedByWhom(), z.Path)
		}
	}
	return ""
}

// wanted reports whether a value is right after the i-th operation: its own value or, with rivals,
// any requested value.
func (t *table) wanted(i int) func(value string) bool {
	op := t.history.Ops[i]
	instance, data := cutData(op.Input)
	right := map[string]bool{"=" + data: true}
	for _, other := range t.history.Ops {
		joins := other.Kind == ops.Join || other.Kind == ops.Update
		if t.claims.Rivals && joins && instanceOf(other) == instance {
			_, data := cutData(other.Input)
			right["="+data] = true
		}
	}
	return func(value string) bool { return right[value] }
}

// firstAttempt is the step of the earliest call that the i-th operation repeats, or its own: a
// failed join goes on, and the next join may find its instance.
func (t *table) firstAttempt(i int) int64 {
	op := t.history.Ops[i]
	first := op.Call
	for _, before := range t.history.Ops[:i] {
		if before.Client != op.Client {
			continue
		}
		switch {
		case before.Kind == ops.Leave && before.Input == instanceOf(op):
			first = op.Call
		case before.Kind == ops.Join && before.Input == op.Input && op.Kind == ops.Join:
			first = min(first, before.Call)
		}
	}
	return first
}

// next returns the next call of the client of the i-th operation that changes the instance.
func (t *table) next(i int) (lin.Op, bool) {
	op := t.history.Ops[i]
	for _, next := range t.history.Ops[i+1:] {
		changes := next.Kind == ops.Join || next.Kind == ops.Update || next.Kind == ops.Leave
		if changes && next.Client == op.Client && instanceOf(next) == instanceOf(op) {
			return next, true
		}
	}
	return lin.Op{}, false
}

// learnedExpiry reports whether a client learned between two steps that its session had ended.
func (t *table) learnedExpiry(client string, from, to int64) bool {
	return t.expiries(client, from, to) > 0
}

// expiries is the number of sessions of whose end a client learned between two steps.
func (t *table) expiries(client string, from, to int64) (number int) {
	for _, n := range t.history.Notices {
		if n.Kind == lin.SessionExpired && n.Client == client && from < n.Step && n.Step <= to {
			number++
		}
	}
	return number
}

// whyNotGone explains why the instance of the i-th operation, a leave, is wrong. The instance must
// be gone, and must not come back before it joins again. A znode of an earlier session may be
// deleted later: the client may learn of the expiry before the log shows it.
func (t *table) whyNotGone(i int) (why string, steps []int64) {
	op := t.history.Ops[i]
	again := int64(judging.Never)
	if next, ok := t.next(i); ok {
		again = next.Call
	}
	for _, z := range t.log.Znodes {
		instance, ok := t.instance(z.Path)
		if !ok || instance != op.Input || z.Creator != op.Client {
			continue
		}
		ended, _ := t.log.SessionEnd(z.Owner)
		own := op.Session == z.Owner || z.Owner == 0 ||
			op.Session == 0 && !t.learnedExpiry(op.Client, z.Created, op.Return)
		switch {
		case z.ExistsAt(op.Return) && ended > op.Return && own:
			return fmt.Sprintf("%s was acknowledged, but %s is still there%s", judging.Describe(op),
				z.Path, t.howMade(z)), []int64{max(z.Created, op.Call)}
		case z.Created > op.Return && z.Created < again:
			return fmt.Sprintf("%s came back at step %d, though it had left (%s)%s",
				z.Path, z.Created, judging.Describe(op), t.howMade(z)), []int64{z.Created}
		}
	}
	return "", nil
}

// howMade says who made a znode, and when.
func (t *table) howMade(z *judging.Znode) string {
	made := lin.ServerEvent{Client: z.Creator, Step: z.Created, Time: z.CreatedTime}
	return fmt.Sprintf(": %s created it at step %d%s", z.Creator, z.Created,
		judging.During(t.history, made))
}

// thereInstead says which znode of an instance was there at a step, and whose it was.
func (t *table) thereInstead(instance string, step int64) string {
	for _, z := range t.log.Znodes {
		if name, ok := t.instance(z.Path); ok && name == instance && z.ExistsAt(step) {
			return t.howMade(z)
		}
	}
	return ""
}
