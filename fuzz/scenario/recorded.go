package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/linearizability"
)

// Recorded turns a history that was recorded elsewhere into an outcome, for its story and its
// picture. kind is the kind of the object, and source the name of the recording. No two events of
// the history may have the same step. Its trace has one line for each step, with the line of the
// recording behind it where place, which may be nil, has one.
func Recorded(
	kind, source string, h linearizability.History, r linearizability.Report,
	place func(step int64) string,
) *Outcome {
	t := recordedTrace{lines: make([]trace.Line, h.End), result: &trace.Result{
		SessionClient: map[int64]string{}, Elapsed: h.EndTime, Steps: h.End,
	}}
	for _, op := range h.Ops {
		t.addOp(op)
	}
	for _, n := range h.Notices {
		t.addNotice(n)
	}
	for _, e := range h.Server {
		t.addChange(e)
	}
	t.end(place)
	return &Outcome{
		Scenario: Scenario{
			Workload: Workload{Name: kind, Impl: source}, recorded: clientsOf(h),
		},
		Result: t.result, History: h, Report: r, Playing: h.EndTime,
	}
}

// Observed is the outcome of a run of a test that judges itself. Requests and connections of the
// observer, a client that belongs to the test, are no part of its story.
func Observed(
	s Scenario, observer string, result *trace.Result, v linearizability.Verdict,
) *Outcome {
	s.observed = true
	return &Outcome{
		Scenario: s, Result: result, observer: observer,
		Report: linearizability.Report{Verdicts: []linearizability.Verdict{v}},
	}
}

// elsewhere is the scenario of a run that was recorded or is judged elsewhere, in one line.
func (s Scenario) elsewhere() string {
	if s.recorded != nil {
		return fmt.Sprintf("%s, recorded in %s", s.Workload.Name, s.Workload.Impl)
	}
	text := fmt.Sprintf("%s %s, seed of the world: %#x", s.Workload.Name, s.Workload.Impl, s.Seed)
	if s.Script.Servers > 1 {
		text += fmt.Sprintf(", servers: %d", s.Script.Servers)
	}
	return text // in the words of the draw
}

// IsOwn reports whether a line is of a request or a connection of the test itself.
func (o *Outcome) IsOwn(e trace.Entry) bool {
	said := strings.HasPrefix(e.Text, "an action ") || strings.HasPrefix(e.Text, "the test ")
	return o.observer != "" && e.Actor == o.observer && !said
}

// Clients are the names of the clients of the run, in order.
func (o *Outcome) Clients() []string {
	if o.Scenario.recorded != nil {
		return o.Scenario.recorded
	}
	return o.Scenario.Script.ClientNames()
}

// clientsOf are the clients of a history that was recorded elsewhere, sorted.
func clientsOf(h linearizability.History) []string {
	names := []string{}
	for _, op := range h.Ops {
		names = append(names, op.Client)
	}
	for _, n := range h.Notices {
		names = append(names, n.Client)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// recordedTrace is the trace of a history: the line of each step.
type recordedTrace struct {
	lines  []trace.Line
	result *trace.Result
}

// NoEvent is the text of the lines of a [Recorded] outcome that have no event.
const NoEvent = "no event"

func (t recordedTrace) line(step int64, at time.Duration, actor, text string) {
	if step >= 1 && step <= int64(len(t.lines)) {
		t.lines[step-1] = trace.Line{Time: at, Actor: actor, Format: "%s", Args: []any{text}}
	}
}

func (t recordedTrace) addOp(op linearizability.Op) {
	call := strings.TrimSpace(op.Kind + " " + op.Input)
	t.line(op.Call, op.CallTime, op.Client, "calls "+call)
	if op.Session != 0 {
		t.result.SessionClient[op.Session] = op.Client
	}
	if op.Return < 0 {
		return
	}
	text := op.Kind + " returns"
	switch {
	case op.Outcome != linearizability.OpOK:
		text = fmt.Sprintf("%s fails (%s): %s", op.Kind, op.Outcome, op.Err)
	case op.Empty:
		text += " nothing"
	case op.Output != "":
		text += " " + op.Output
	}
	if op.Token != 0 {
		text += fmt.Sprintf(", token %d", op.Token)
	}
	t.line(op.Return, op.ReturnTime, op.Client, text)
}

func (t recordedTrace) addNotice(n linearizability.Notice) {
	t.line(n.Step, n.Time, n.Client, "is told: "+n.Kind.String())
	for kind, judged := range noticeKinds {
		if judged == n.Kind {
			t.result.Notices = append(t.result.Notices,
				trace.Notice{Client: n.Client, Kind: kind, Step: n.Step, Time: n.Time,
					Session: n.Session})
		}
	}
}

func (t recordedTrace) addChange(e linearizability.ServerEvent) {
	c := trace.Change{
		Step: e.Step, Time: e.Time, Path: e.Path, Data: []byte(e.Data), Zxid: e.Zxid,
		Czxid: e.Czxid, Session: e.Session, Client: e.Client, Owner: e.Owner, Notified: e.Notified,
	}
	for kind, judged := range changeKinds {
		if judged == e.Kind {
			c.Kind = kind
		}
	}
	subject := e.Path
	if c.Kind == trace.SessionStarted || c.Kind == trace.SessionEnded {
		subject = fmt.Sprintf("0x%016x", uint64(cmp.Or(e.Owner, e.Session)))
		if e.Client != "" {
			t.result.SessionClient[cmp.Or(e.Owner, e.Session)] = e.Client
		}
	}
	if e.Session != 0 {
		subject += " for " + cmp.Or(e.Client, fmt.Sprintf("0x%016x", uint64(e.Session)))
	}
	t.line(e.Step, e.Time, "server", fmt.Sprintf("%s %s, zxid %d", c.Kind, subject, e.Zxid))
	t.result.Changes = append(t.result.Changes, c)
}

// end fills the lines without an event, adds the lines of the recording, and sorts the facts.
func (t recordedTrace) end(place func(step int64) string) {
	at := time.Duration(0)
	for i := range t.lines {
		l := &t.lines[i]
		if l.At = trace.NewMoment(int64(i)+1, 0, 0); l.Actor == "" {
			l.Time, l.Actor, l.Format = at, "file", NoEvent
		}
		at = l.Time
		if place == nil {
			continue
		}
		if at := place(int64(i) + 1); at != "" {
			l.Format, l.Args = "%s (%s)", append(l.Args, at)
		}
	}
	t.result.Trace = trace.New(t.lines)
	slices.SortStableFunc(t.result.Notices, func(a, b trace.Notice) int {
		return cmp.Compare(a.Step, b.Step)
	})
	slices.SortStableFunc(t.result.Changes, func(a, b trace.Change) int {
		return cmp.Compare(a.Step, b.Step)
	})
}
