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
		read := cmp.Or(listBefore(r, op, at), before)
		if at > op.Call && !wrote {
			return read + ", then " + text
		}
	}
	return text
}

// listBefore is the last list of a call by a step at which its client read something: other reads
// since then may only have confirmed it.
func listBefore(r *trace.Result, op linearizability.Op, by int64) string {
	confirms := false
	for _, q := range slices.Backward(r.Requests) {
		if q.Client != op.Client || q.Step > by {
			continue
		}
		if confirms = confirms || q.Step == by; !confirms || q.Step < op.Call || !readsNode(q.Op) {
			return ""
		}
		if lists(q.Op) {
			return fmt.Sprintf("%s (step %d)", requestText(r, q), q.Step)
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
	for _, q := range slices.Backward(r.Requests) {
		if q.Client == client && q.Step <= by {
			is(q.Step, "%s", requestText(r, q))
			wrote = !readsNode(q.Op) && strings.Contains(r.Trace.Entry(q.Step).Text, ": ok")
			break
		}
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
	for _, n := range r.Notices {
		if n.Client == client && (n.Kind == trace.Disconnected || n.Kind == trace.SessionExpired) {
			is(n.Step, "its client was told: %s", n.Kind)
		}
	}
	if s, ok := underWay(r, client, last); ok {
		text += fmt.Sprintf(", and its %s %s had got no answer", s.Op, s.Path)
	}
	return text, last, wrote
}

// underWay is the request that a fault hit last, if its client was told of a lost connection at a
// step, and has sent no request since the fault.
func underWay(r *trace.Result, client string, told int64) (hit trace.Strike, ok bool) {
	notice := func(n trace.Notice) bool {
		return n.Client == client && n.Step == told && n.Kind == trace.Disconnected
	}
	if !slices.ContainsFunc(r.Notices, notice) {
		return hit, false
	}
	for _, s := range r.Strikes {
		if s.Client == client && s.Step < told && strings.HasPrefix(s.Path, "/") &&
			(s.Fault.Kind == fault.DropRequest || s.Fault.Kind == fault.DropReply) {
			hit, ok = s, true
		}
	}
	sent := func(q trace.RequestPoint) bool {
		return q.Client == client && hit.Step+1 < q.Step && q.Step < told
	}
	return hit, ok && !slices.ContainsFunc(r.Requests, sent)
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
	text = strings.TrimSpace(q.Op + " " + q.Path)
	if m := answers.FindStringSubmatch(r.Trace.Entry(q.Step).Text); m != nil {
		text += ": " + m[1]
		switch m[1] {
		case "NoNode":
			text += whoDeleted(r, q)
		case "NodeExists":
			text += whoCreated(r, q)
		}
		return text
	}
	if full := replyText(r, q); full != "" && len(full) <= longestReply {
		text = full
	}
	if q.Op == "exists" || q.Op == "getData" {
		text += whoWrote(r, q)
	}
	return text
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
	did := map[trace.ChangeKind]string{trace.NodeCreated: "created", trace.DataChanged: "wrote"}
	for _, c := range r.Changes {
		if c.Path == q.Path && c.Zxid <= zxid && did[c.Kind] != "" {
			text = fmt.Sprintf(", which %s %s at step %d", c.Client, did[c.Kind], c.Step)
			if c.Client == "" || c.Client == q.Client {
				text = ""
			}
		}
	}
	return text
}

// longestReply is the length of the text of a reply that is told in full.
const longestReply = 120

// whoCreated tells who had made the znode that a request found.
func whoCreated(r *trace.Result, q trace.RequestPoint) (text string) {
	for _, c := range r.Changes {
		if c.Kind == trace.NodeCreated && c.Step < q.Step && c.Path == q.Path {
			text = fmt.Sprintf(", for %s created it at step %d", cmp.Or(c.Client, "the server"), c.Step)
		}
	}
	return text
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
