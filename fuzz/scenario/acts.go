package scenario

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// lastAct is the last that a client did or learned by a step: a request, an event, a notice, or an
// error of a call. Before a write of a call that the server applied it has what that rests on.
func lastAct(
	r *trace.Result, calls []linearizability.Op, client string, by int64,
) (text string) {
	text, last, wrote := oneAct(r, calls, client, by)
	for _, op := range calls {
		if !wrote || op.Client != client || op.Call > last ||
			op.Outcome != linearizability.OpPending && op.Return < last {
			continue
		}
		before, at, wrote := oneAct(r, calls, client, last-1)
		read := cmp.Or(listBefore(r, calls, op, at), before)
		if at > op.Call && !wrote {
			return unheard(r, op, at) + read + ", then " + text
		}
	}
	return text
}

// unheard is the last read of a call by a step at which its client learned something else: the code
// may not have heeded that.
func unheard(r *trace.Result, op linearizability.Op, by int64) string {
	q := lastRequest(r, op.Client, op.Call, by)
	if q.Step == 0 || q.Step == by || !readsNode(q.Op) || r.Trace.Entry(q.Step).Actor == "fault" {
		return ""
	}
	return fmt.Sprintf("%s (step %d), ", requestText(r, q), q.Step)
}

// lastRequest is the last request of a client from one step to another. Its step is 0 if there is
// none.
func lastRequest(r *trace.Result, client string, from, to int64) (last trace.RequestPoint) {
	for _, q := range slices.Backward(r.Requests) {
		if q.Client == client && from <= q.Step && q.Step <= to {
			return q
		}
	}
	return last
}

// listBefore is the last list of a call by a step at which its client read something: other reads
// since then may only have confirmed it.
func listBefore(
	r *trace.Result, calls []linearizability.Op, op linearizability.Op, by int64,
) string {
	confirms := false
	for _, q := range slices.Backward(r.Requests) {
		if q.Client != op.Client || q.Step > by {
			continue
		}
		if confirms = confirms || q.Step == by; !confirms || q.Step < op.Call || !readsNode(q.Op) {
			return ""
		}
		if lists(q.Op) {
			return fmt.Sprintf("%s%s (step %d)", requestText(r, q), leftIn(r, calls, op.Client, q.Step),
				q.Step)
		}
	}
	return ""
}

// oneAct is the last act of a client by a step, and whether it is a write that the server applied.
func oneAct(
	r *trace.Result, calls []linearizability.Op, client string, by int64,
) (text string, last int64, wrote bool) {
	is := func(step int64, format string, args ...any) {
		if step >= last && step <= by {
			wrote = false
			last, text = step, fmt.Sprintf(format, args...)+fmt.Sprintf(" (step %d)", step)
		}
	}
	if q := lastRequest(r, client, 0, by); q.Step > 0 {
		is(q.Step, "%s", requestText(r, q))
		wrote = !readsNode(q.Op) && applied(r, q)
	}
	for _, e := range r.Events {
		if e.Client == client {
			is(e.Step, "event %s %s", e.Type, e.Path)
		}
	}
	for _, op := range calls {
		failed := op.Outcome == linearizability.OpFailed || op.Outcome == linearizability.OpUnknown
		if failed && op.Client == client && op.Return < by && !strings.Contains(op.Err, "context ") {
			is(op.Return, "its %s failed with: %s", op.Kind, op.Err)
		}
	}
	expired := int64(-1) // the loss of a session is told, not that of its connection after it
	for _, n := range r.Notices {
		if n.Client == client && n.Kind == trace.SessionExpired {
			is(n.Step, "its client was told: %s", n.Kind)
			expired = n.Step
		} else if n.Client == client && n.Kind == trace.Disconnected && last != expired {
			is(n.Step, "its client was told: %s", n.Kind)
		}
	}
	if hit, ok := underWay(r, client, last); ok {
		text += ", and " + hit
	}
	return text, last, wrote
}

// underWay tells of the request that a fault hit last, if its client was told of a lost connection
// at a step, and has sent no request since the fault.
func underWay(r *trace.Result, client string, told int64) (text string, ok bool) {
	notice := func(n trace.Notice) bool {
		return n.Client == client && n.Step == told && n.Kind == trace.Disconnected
	}
	if !slices.ContainsFunc(r.Notices, notice) {
		return "", false
	}
	var hit trace.Strike
	for _, s := range r.Strikes {
		if s.Client == client && s.Step < told && strings.HasPrefix(s.Path, "/") &&
			strings.ToLower(s.Op[:1]) == s.Op[:1] { // no event
			hit, ok = s, true
		}
	}
	q := lastRequest(r, client, hit.Step+1, told-1)
	if q.Step > hit.Step+1 || !ok || q.Step > 0 && answered(r, q) {
		return "", false
	} else if q.Step > 0 {
		return fmt.Sprintf("the reply to its %s (step %d) was lost", answerText(r, q), q.Step), true
	}
	what, sent := "had got no answer", hit.Op+" "+hit.Path
	switch {
	case hit.Op == multi: // the line of the fault names its first path
		sent = "multi of " + hit.Path + " and others"
	case lists(hit.Op):
		sent = "list of the children of " + hit.Path
	}
	if hit.Fault.Kind == fault.DropRequest {
		what = "was lost on the way to the server"
	}
	return fmt.Sprintf("its %s %s", sent, what), true
}

// lastWrite is the last write of a call that succeeded, and returned at one of some steps.
func lastWrite(r *trace.Result, h linearizability.History, steps []int64) (text string) {
	for _, op := range h.Ops {
		if !op.OK() || !slices.Contains(steps, op.Return) {
			continue
		}
		q := lastRequest(r, op.Client, op.Call, op.Return)
		for q.Step > 0 && readsNode(q.Op) {
			q = lastRequest(r, op.Client, op.Call, q.Step-1)
		}
		if q.Step == 0 {
			return fmt.Sprintf("%s's %s sent no write", op.Client, op.Kind)
		}
		return fmt.Sprintf("the last write of %s's %s: %s (step %d)", op.Client, op.Kind,
			requestText(r, q), q.Step)
	}
	return ""
}

// grantText names the reply on which a grant or a take rests, and what led to that request. It is
// "" if the client learned of an event after that: the grant may rest on the event.
func grantText(
	r *trace.Result, calls []linearizability.Op, op linearizability.Op,
) (text string) {
	takes := op.Kind == ops.Take || op.Kind == ops.Poll
	if !takes && op.Kind != ops.Next && !slices.Contains(holding, op.Kind) {
		return ""
	}
	last := lastRequest(r, op.Client, op.Call, op.Return)
	for last.Op == "delete" && (op.Kind == ops.Wait || op.Kind == ops.Enter) {
		last = lastRequest(r, op.Client, op.Call, last.Step-1) // it has passed, and cleans up
	}
	if last.Step == 0 && lastRequest(r, op.Client, 0, op.Return).Step > 0 {
		return fmt.Sprintf("%s's %s (steps %d to %d) sent no request; the last that %s did or "+
			"learned: %s", op.Client, op.Kind, op.Call, op.Return, op.Client,
			lastAct(r, calls, op.Client, op.Return))
	}
	onEvent := func(e trace.EventPoint) bool {
		return e.Client == op.Client && last.Step < e.Step && e.Step <= op.Return
	}
	if last.Step == 0 || op.Kind == ops.Next || !takes && slices.ContainsFunc(r.Events, onEvent) {
		return ""
	}
	text = fmt.Sprintf("%s's %s rests on the reply at step %d: %s%s", op.Client, op.Kind, last.Step,
		requestText(r, last), leftIn(r, calls, op.Client, op.Return))
	before := lastRequest(r, op.Client, op.Call, last.Step-1)
	led, at, wrote := oneAct(r, calls, op.Client, last.Step-1)
	if !readsNode(last.Op) && at > op.Call && !wrote {
		list := listBefore(r, calls, op, at)
		if takes && list != "" && list != led { // the list has led to the znode, and it has the data
			led = list + ", then " + led
			list = ""
		}
		text += "; before that: " + unheard(r, op, at) + cmp.Or(list, led)
	} else if takes && before.Step > 0 && answers.MatchString(r.Trace.Entry(before.Step).Text) ||
		readsNode(last.Op) && before.Op == multi {
		text += fmt.Sprintf("; before that: %s (step %d)", requestText(r, before), before.Step)
	} else if list := listFor(r, last); takes && list != "" {
		text += "; before that: " + list
	}
	if told := heard(r, last, op.Return); told != "" {
		return text + ", and then " + told
	}
	for _, c := range r.Changes { // the client has not heard of it yet
		if c.Kind == trace.NodeDeleted && c.Session == 0 && r.SessionClient[c.Owner] == op.Client &&
			(c.Path == last.Path || path.Dir(c.Path) == last.Path && lists(last.Op)) &&
			last.Step < c.Step && c.Step < op.Return {
			text += fmt.Sprintf(", but its own %s went at step %d, when its session ended", c.Path, c.Step)
		}
	}
	return text
}

// listFor is the list of the directory of a znode that a client had made last before it read the
// znode.
func listFor(r *trace.Result, read trace.RequestPoint) string {
	for _, q := range slices.Backward(r.Requests) {
		if q.Client == read.Client && q.Step < read.Step && lists(q.Op) &&
			q.Path == path.Dir(read.Path) {
			return fmt.Sprintf("%s (step %d)", requestText(r, q), q.Step)
		}
	}
	return ""
}

var leftByFailed = regexp.MustCompile(
	`(?:left by|is lost:) \S+'s \w+ \(steps \d+ to (\d+), \w+: `)

// whyLeft tells why the call failed that has left a znode or lost an element, unless it ran out of
// time.
func whyLeft(r *trace.Result, h linearizability.History, summary string) string {
	m := leftByFailed.FindStringSubmatchIndex(summary)
	if m == nil || strings.HasPrefix(summary[m[1]:], "context ") {
		return ""
	}
	act := actBefore(r, h, NamedSteps("step "+summary[m[2]:m[3]]))
	return strings.Replace(act, "did or learned", "did or learned in that call", 1)
}

// answers are those of a request by which the server refuses it.
var answers = regexp.MustCompile(`: (?:failed, )?([A-Z]\w+), zxid \d+$`)

// lastRefused is the last request of a call, if the server has refused it. Of a call that returned
// that it was refused, it is the last refused one.
func lastRefused(r *trace.Result, op linearizability.Op) (text string) {
	for _, q := range r.Requests {
		if q.Client == op.Client && op.Call <= q.Step && q.Step <= op.Return {
			if op.Output != ops.Refused {
				text = ""
			}
			if answers.MatchString(r.Trace.Entry(q.Step).Text) {
				text = fmt.Sprintf("%s (step %d)", requestText(r, q), q.Step)
			}
		}
	}
	return text
}

// requestText is a request with its answer, with who brought that about, and with the server if
// that was behind.
func requestText(r *trace.Result, q trace.RequestPoint) string {
	return answerText(r, q) + ofThePast(r, q)
}

// answerText is likewise without the server.
func answerText(r *trace.Result, q trace.RequestPoint) (text string) {
	line := r.Trace.Entry(q.Step)
	m := answers.FindStringSubmatch(line.Text)
	switch {
	case m != nil:
		return sentText(r, q) + ": " + m[1] + whyRefused(r, q, m[1])
	case line.Actor == "fault":
		return sentText(r, q) + ", which got no answer"
	case lists(q.Op):
		_, names, _ := strings.Cut(replyText(r, q), ": ok ")
		if len(names) > longestReply {
			names = fmt.Sprintf("%d names", strings.Count(names, " ")+1)
		}
		return sentText(r, q) + ": " + names
	}
	text = replyText(r, q)
	if text == "" || len(text) > longestReply && q.Op != multi {
		text = sentText(r, q)
	}
	if q.Op == "exists" || q.Op == "getData" {
		text += whoWrote(r, q)
	}
	return text
}

// multi is the operation of several requests that the server applies together, or not at all.
const multi = "multi"

var multiParts = regexp.MustCompile(`multi \(.*?\)(?:: |$)`)

// sentText is a request without its answer: with the data that it carries, and of a multi with its
// parts.
func sentText(r *trace.Result, q trace.RequestPoint) string {
	line := r.Trace.Entry(q.Step).Text
	if lists(q.Op) {
		return "listed the children of " + q.Path
	}
	if text := multiParts.FindString(line); q.Op == multi && text != "" {
		return strings.TrimSuffix(text, ": ")
	}
	sent, _ := r.Trace.ZnodeData(q.Step)
	return strings.TrimSpace(q.Op+" "+q.Path) + shortData(sent)
}

// holding are the calls whose znodes stand for what their client holds, or for the client itself.
var holding = []string{ops.Lock, ops.Acquire, ops.Lead, ops.Enter, ops.Wait}

// releasing are the calls that give that back.
var releasing = []string{ops.Unlock, ops.Release, ops.Resign, ops.Leave, ops.Close}

// leftIn names the first child of a list that was left over when the list was made, and the call
// that had made it: the call had failed, or its client has released since what it held. The list is
// the last request of a client by a step.
func leftIn(r *trace.Result, calls []linearizability.Op, client string, by int64) string {
	list := lastRequest(r, client, 0, by)
	for _, c := range r.Changes {
		if !lists(list.Op) || c.Kind != trace.NodeCreated || path.Dir(c.Path) != list.Path ||
			c.Step > list.Step || deletedBetween(r, c, list.Step) {
			continue
		}
		for _, op := range calls {
			if op.Client != c.Client || op.Call > c.Step || op.Return < c.Step || op.Pending() ||
				op.Return >= list.Step || !slices.Contains(holding, op.Kind) {
				continue
			}
			over := slices.ContainsFunc(calls, func(next linearizability.Op) bool {
				released := next.Client == op.Client && next.OK() && next.Call > op.Return &&
					next.Return < list.Step && slices.Contains(releasing, next.Kind) &&
					(next.Input == op.Input || next.Input == "")
				died := next.Client == op.Client+"'" && next.Call < list.Step
				return released || died
			}) || op.Kind == ops.Wait && op.OK() && c.Owner != 0 // it has passed
			if over || !op.OK() {
				return fmt.Sprintf(", where %s was left by %s", c.Path, callText(op))
			}
		}
	}
	return ""
}

// callText names a call that has returned.
func callText(op linearizability.Op) string {
	return fmt.Sprintf("%s's %s (steps %d to %d, %s)", op.Client, op.Kind, op.Call, op.Return,
		strings.TrimSuffix(op.Outcome.String()+": "+op.Err, ": "))
}

// deletedBetween reports whether a znode was deleted between its create and a step.
func deletedBetween(r *trace.Result, made trace.Change, by int64) bool {
	return slices.ContainsFunc(r.Changes, func(c trace.Change) bool {
		return c.Kind == trace.NodeDeleted && c.Path == made.Path && made.Step < c.Step &&
			c.Step < by
	})
}

// whyRefused tells who had brought about what the server has refused a request for. Of a multi it
// names the part, and says that the others were not applied either.
func whyRefused(r *trace.Result, q trace.RequestPoint, answer string) (why string) {
	what, end := "it", ""
	if q.Op == multi {
		at, found := refusedPart(r, q, answer)
		if !found {
			return ", so none of it was applied"
		}
		q.Path, what, end = at, at, ", so none of it was applied"
	}
	switch answer {
	case "NoNode":
		why = whoDeleted(r, q)
	case "NodeExists":
		why = whoDid(r, q, what, trace.NodeCreated)
	case "BadVersion":
		why = whoDid(r, q, what, trace.NodeCreated, trace.DataChanged)
	}
	if why == "" && end != "" {
		why = " for " + what
	}
	return why + end
}

// ofThePast tells of a server that had not applied the last change of the znode that it was asked
// for.
func ofThePast(r *trace.Result, q trace.RequestPoint) (text string) {
	line := r.Trace.Entry(q.Step).Text
	zxid, err := strconv.ParseInt(line[strings.LastIndex(line, " ")+1:], 10, 64)
	if err != nil || q.Server == 0 || !readsNode(q.Op) {
		return ""
	}
	for _, c := range r.Changes {
		if c.Path == q.Path && c.Step < q.Step && c.Zxid > zxid {
			text = fmt.Sprintf(", from server %d, which had not applied step %d yet", q.Server, c.Step)
		}
	}
	return text
}

// whoWrote tells which other client had written the znode last that a read found. The server that
// answered may have been behind.
func whoWrote(r *trace.Result, q trace.RequestPoint) (text string) {
	zxid := zxidOf(r.Trace.Entry(q.Step).Text)
	for _, c := range r.Changes {
		if c.Path == q.Path && c.Zxid <= zxid && did[c.Kind] != "" {
			text = fmt.Sprintf(", which %s %s at step %d", c.Client, did[c.Kind], c.Step)
			if q.Op == "exists" { // of getData the data is told
				text = fmt.Sprintf(", which %s %s%s at step %d", c.Client, did[c.Kind], withData(c), c.Step)
			}
			if q.Op == "getData" && len(c.Data) == 0 && c.Client == q.Client {
				text = fmt.Sprintf(", which it %s without data at step %d", did[c.Kind], c.Step)
			} else if c.Client == "" || c.Client == q.Client {
				text = ""
			}
		}
	}
	return text
}

// longestReply is the length of the text of a reply that is told in full.
const longestReply = 120

// whoDid tells which change the znode of a request had last, by whom, and with which data.
func whoDid(
	r *trace.Result, q trace.RequestPoint, what string, kinds ...trace.ChangeKind,
) (text string) {
	for _, c := range r.Changes {
		if slices.Contains(kinds, c.Kind) && c.Step < q.Step && c.Path == q.Path {
			text = fmt.Sprintf(", for %s %s %s%s at step %d", cmp.Or(c.Client, "the server"), did[c.Kind],
				what, withData(c), c.Step)
		}
	}
	return text
}

// did are the words for the changes that give data to a znode.
var did = map[trace.ChangeKind]string{trace.NodeCreated: "created", trace.DataChanged: "wrote"}

func withData(c trace.Change) string {
	if len(c.Data) == 0 {
		return ""
	}
	return " with" + shortData(c.Data)
}

// whoDeleted tells who had deleted the znode of a request last, or its parent.
func whoDeleted(r *trace.Result, q trace.RequestPoint) (text string) {
	for _, c := range slices.Backward(r.Changes) {
		if c.Kind != trace.NodeDeleted || c.Step >= q.Step ||
			c.Path != q.Path && c.Path != path.Dir(q.Path) {
			continue
		}
		by := cmp.Or(c.Client, "the server")
		if c.Session == 0 {
			if why := whyDeleted(r, c); why != "" {
				by += " (" + why + ")"
			}
		}
		return fmt.Sprintf(", for %s deleted %s at step %d", by, c.Path, c.Step)
	}
	return ""
}

// replyText is a request with its answer and the data, as a story has it.
func replyText(r *trace.Result, q trace.RequestPoint) string {
	line := newDataTexts(r).add(r.Trace.Entry(q.Step))
	_, text, _ := strings.Cut(line, fmt.Sprintf("#%d ", q.Number))
	if at := strings.LastIndex(text, ", zxid "); at >= 0 {
		text = text[:at]
	}
	return text
}
