package scenario

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/linearizability"
)

// waits lists the znode that each pending call watches, polls, or tries to change.
func waits(r *trace.Result, h linearizability.History) []linearizability.Wait {
	waits := []linearizability.Wait{}
	for _, op := range h.Ops {
		if op.Outcome != linearizability.OpPending {
			continue
		}
		w := linearizability.Wait{Client: op.Client, Op: op.Kind}
		w.Last = lastAct(r, h.Ops, op.Client, r.Steps)
		w.Path, w.Refused, w.Polls = refused(r, op)
		if w.Path == "" {
			if w.Path = watched(r, op); w.Path != "" && goneBeforeWatch(r, op.Client, w.Path) {
				w.Why = "it was gone before the watch was set, and nobody has made it since"
			} else if slices.ContainsFunc(r.Changes, func(c trace.Change) bool {
				return path.Dir(c.Path) == w.Path && existedAt(r, w.Path, r.Steps+1)
			}) {
				w.Why = setBy(r, op.Client, w.Path)
			}
		}
		if w.Path == "" {
			w.Path, w.Polls = polled(r, op)
		}
		if w.Path == "" && !slices.ContainsFunc(r.Sessions, func(s view.Session) bool {
			return r.SessionClient[s.ID] == op.Client
		}) {
			w.Why = "a session: it has none"
		}
		waits = append(waits, w)
	}
	return waits
}

// few requests of one kind are no loop.
const few = 5

// watched is the path of the watch that keeps a call: the one that its client has set last. A watch
// on the newest ephemeral that the call has made is one for its loss, and counts only alone.
func watched(r *trace.Result, op linearizability.Op) (path string) {
	own := ""
	for _, c := range r.Changes {
		if c.Kind == trace.NodeCreated && c.Client == op.Client && c.Owner != 0 &&
			c.Step >= op.Call {
			own = c.Path
		}
	}
	latest := int64(-1)
	for _, w := range r.Watches {
		if r.SessionClient[w.Session] != op.Client {
			continue
		}
		if set := setAt(r, op.Client, w); path == "" || path == own ||
			w.Path != own && set >= latest {
			path, latest = w.Path, set
		}
	}
	return path
}

// goneBeforeWatch reports whether a znode for which a client waits was deleted before the client
// has set its last watch on it: then it waits for somebody to make it.
func goneBeforeWatch(r *trace.Result, client, path string) (gone bool) {
	for _, c := range r.Changes {
		if c.Path == path && c.Kind != trace.DataChanged {
			gone = c.Kind == trace.NodeDeleted && c.Step < setAt(r, client, view.Watch{Path: path})
		}
	}
	return gone
}

// setBy tells by which request a client has set its last watch on a znode: one by exists or getData
// tells of no child, and one by a list may come after a child that it does not wait for.
func setBy(r *trace.Result, client, at string) (text string) {
	for _, q := range r.Requests {
		if q.Client == client && q.Path == at && watches(r, q) {
			text = fmt.Sprintf("the watch of %s is from step %d: %s", client, q.Step, requestText(r, q))
		}
	}
	return text
}

// setAt is the step at which a client has set a watch.
func setAt(r *trace.Result, client string, w view.Watch) (step int64) {
	for _, q := range r.Requests {
		if q.Client == client && q.Path == w.Path && lists(q.Op) == w.Children && watches(r, q) {
			step = q.Step
		}
	}
	return step
}

// watches reports whether a request asks for a watch, too.
func watches(r *trace.Result, q trace.RequestPoint) bool {
	return readsNode(q.Op) && strings.Contains(r.Trace.Entry(q.Step).Text, "+watch ")
}

// polled is the znode that a call reads again and again, and the number of these reads: all
// requests of its client since the last write of the call that the server has not refused. A few
// reads are no polling.
func polled(r *trace.Result, op linearizability.Op) (path string, times int) {
	for _, q := range r.Requests {
		switch {
		case q.Client != op.Client || q.Step < op.Call:
		case readsNode(q.Op):
			path, times = q.Path, times+1
		case !answers.MatchString(r.Trace.Entry(q.Step).Text):
			path, times = "", 0
		}
	}
	if times <= few {
		return "", 0
	}
	return path, times
}

func readsNode(op string) bool { return op == "exists" || op == "getData" || lists(op) }

func lists(op string) bool { return strings.HasPrefix(op, "getChildren") }

// refused is a write that a call repeats without end, because the server refuses it: its path, with
// the answer, and the number of tries. In between the call at most looks at the znode. A call that
// lists the znode after NodeExists has only made sure that it is there.
func refused(r *trace.Result, op linearizability.Op) (at, answer string, times int) {
	for _, q := range r.Requests {
		if q.Client != op.Client || q.Step < op.Call {
			continue
		}
		switch to, why := refusal(r, q); {
		case readsNode(q.Op):
			if q.Path != at || lists(q.Op) &&
				strings.HasSuffix(answer, "NodeExists") {
				at, answer, times = "", "", 0
			}
		case why != "" && to == at && why == answer:
			times++
		default:
			at, answer, times = to, why, 1
		}
	}
	if answer == "" || times <= few {
		return "", "", 0
	}
	return at, answer, times
}

var refusals = regexp.MustCompile(`: (?:failed, )?(NodeExists|NotEmpty|BadVersion)\b`)

var parts = regexp.MustCompile(`\b(create|delete|setData|check) (/[^,)]*)`)

// refusal is the path of a write that the server has refused because of a znode, and the answer. A
// multi has the path of its first part that can be answered so.
func refusal(r *trace.Result, q trace.RequestPoint) (at, answer string) {
	text := r.Trace.Entry(q.Step).Text
	m := refusals.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	at = q.Path
	if part, found := refusedPart(r, q, m[1]); q.Op == multi && found {
		at = part
	}
	return at, q.Op + ": " + m[1]
}

// refusedPart is the path of the first part of a multi that can have had an answer. A create is
// refused because of a znode that is there, and NoNode is about one that is not.
func refusedPart(r *trace.Result, q trace.RequestPoint, answer string) (at string, found bool) {
	for _, part := range parts.FindAllStringSubmatch(r.Trace.Entry(q.Step).Text, -1) {
		at, creates := part[2], part[1] == "create"
		switch there := existedAt(r, at, q.Step); answer {
		case "NodeExists":
			found = creates && (there || len(r.Changes) == 0)
		case "NoNode":
			found = !creates && !there || creates && !existedAt(r, path.Dir(at), q.Step)
		default:
			found = !creates
		}
		if found {
			return at, true
		}
	}
	return "", false
}

// existedAt reports whether a znode was there at a step.
func existedAt(r *trace.Result, at string, step int64) (there bool) {
	for _, c := range r.Changes {
		if c.Path == at && c.Step < step && c.Kind != trace.DataChanged {
			there = c.Kind == trace.NodeCreated
		}
	}
	return there || at == "/"
}

// ttlOver says why the server deletes a TTL node.
const ttlOver = "its TTL was over"

// whyDeleted says why the server deleted a znode: the last request that can have made it tells.
func whyDeleted(r *trace.Result, deleted trace.Change) (why string) {
	if deleted.Owner != 0 {
		return "its session ended"
	}
	made := int64(-1)
	for _, c := range r.Changes {
		if c.Kind == trace.NodeCreated && c.Path == deleted.Path && c.Step < deleted.Step {
			made = c.Step
		}
	}
	for _, q := range slices.Backward(r.Requests) {
		if q.Step > made || !strings.HasPrefix(q.Op, "create") ||
			!strings.HasPrefix(deleted.Path, q.Path) {
			continue
		}
		switch {
		case q.Op == "createContainer" && q.Path == deleted.Path:
			return "which removes empty containers"
		case q.Op == "createTTL":
			return ttlOver
		}
		return ""
	}
	return ""
}

// madeWithTTL reports whether the request that has made a znode was a createTTL.
func madeWithTTL(r *trace.Result, made trace.Change) bool {
	for _, q := range slices.Backward(r.Requests) {
		if q.Step > made.Step || q.Client != made.Client || !strings.HasPrefix(q.Op, "create") {
			continue
		}
		number, isPath := strings.CutPrefix(made.Path, q.Path) // of a sequential znode
		if isPath && !strings.Contains(number, "/") {
			return q.Op == "createTTL"
		}
	}
	return false
}
