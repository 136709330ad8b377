package linearizability

import (
	"fmt"
	"time"
)

// judgePresence follows each instance through its client's calls.
func (c *membershipCase) judgePresence() Verdict {
	for i, op := range c.history.Ops {
		var why string
		var steps []int64
		switch joins := op.Kind == KindJoin || op.Kind == KindUpdate; {
		case joins && (op.ok() || c.opts.Rivals && !op.pending()):
			why, steps = c.judgeThere(i)
		case op.ok() && op.Kind == KindLeave:
			why, steps = c.judgeGone(i)
		}
		if why != "" {
			return violated(Presence, steps, "%s", why)
		}
	}
	return fine(Presence, "what had joined was there, and what had left was not")
}

// judgeThere asks whether what was acknowledged was there, and stayed, until the
// next call that changes it. What a rival has asked for and not got, somebody has.
func (c *membershipCase) judgeThere(i int) (why string, steps []int64) {
	op := c.history.Ops[i]
	instance, data := cutData(op.Input)
	line := c.truth.of(instance)
	if op.ok() && !line.during("="+data, c.firstAttempt(i), op.Return) {
		return fmt.Sprintf("%s was acknowledged, but %s was not there with %q", describe(op), instance, data), []int64{op.Call, op.Return}
	}
	end := c.history.EndTime
	if next, ok := c.next(i); ok {
		end = next.CallTime
	}
	missing, since := line.without(c.wanted(i), op.ReturnTime, end)
	switch {
	case c.opts.Within <= 0 || missing <= c.opts.Within:
		return "", nil
	case c.opts.Rivals:
		return fmt.Sprintf("nobody has had %s, with his data, for %v since step %d, though it was wanted (%s)",
			instance, missing.Round(time.Millisecond), max(since, op.Return), describe(op)), []int64{max(since, op.Return)}
	default:
		return fmt.Sprintf("%s has not been there with %q for %v since step %d, though it had joined (%s)",
			instance, data, missing.Round(time.Millisecond), max(since, op.Return), describe(op)), []int64{max(since, op.Return)}
	}
}

// wanted tells the values that are right when a call has returned: its own or, among
// rivals, any that was ever asked for.
func (c *membershipCase) wanted(i int) func(value string) bool {
	op := c.history.Ops[i]
	instance, data := cutData(op.Input)
	right := map[string]bool{"=" + data: true}
	for _, other := range c.history.Ops {
		if c.opts.Rivals && (other.Kind == KindJoin || other.Kind == KindUpdate) && instanceOf(other) == instance {
			_, data := cutData(other.Input)
			right["="+data] = true
		}
	}
	return func(value string) bool { return right[value] }
}

// firstAttempt is the step of the call that the operation repeats, or its own: a
// join that has failed goes on, and the next one may find that it has succeeded.
func (c *membershipCase) firstAttempt(i int) int64 {
	op := c.history.Ops[i]
	first := op.Call
	for _, before := range c.history.Ops[:i] {
		if before.Client != op.Client {
			continue
		}
		switch {
		case before.Kind == KindLeave && before.Input == instanceOf(op):
			first = op.Call
		case before.Kind == KindJoin && before.Input == op.Input && op.Kind == KindJoin:
			first = min(first, before.Call)
		}
	}
	return first
}

func instanceOf(op Op) string {
	instance, _ := cutData(op.Input)
	return instance
}

// next returns the client's next call that changes the instance.
func (c *membershipCase) next(i int) (Op, bool) {
	op := c.history.Ops[i]
	for _, next := range c.history.Ops[i+1:] {
		changes := next.Kind == KindJoin || next.Kind == KindUpdate || next.Kind == KindLeave
		if changes && next.Client == op.Client && instanceOf(next) == instanceOf(op) {
			return next, true
		}
	}
	return Op{}, false
}

// judgeGone asks whether what has left is gone, and does not come back before it
// joins again. A znode of an earlier session may be reaped later: the client has
// been told that this session has expired, before the log says so.
func (c *membershipCase) judgeGone(i int) (why string, steps []int64) {
	op := c.history.Ops[i]
	again := int64(never)
	if next, ok := c.next(i); ok {
		again = next.Call
	}
	for _, l := range c.log.lives {
		instance, ok := c.instance(l.path)
		if !ok || instance != op.Input || l.creator != op.Client {
			continue
		}
		ended, _ := c.log.sessionEnd(l.owner)
		switch {
		case l.aliveAt(op.Return) && ended > op.Return && (op.Session == 0 || op.Session == l.owner):
			return fmt.Sprintf("%s was acknowledged, but %s is still there", describe(op), l.path), []int64{op.Return}
		case l.born > op.Return && l.born < again:
			return fmt.Sprintf("%s came back at step %d, though it had left (%s)", l.path, l.born, describe(op)), []int64{l.born}
		}
	}
	return "", nil
}
