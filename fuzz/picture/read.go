package picture

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
)

// reader turns an outcome into the data of a page.
type reader struct {
	*scenario.Outcome
	end     int64 // one behind the last line
	sent    []trace.Message
	senders []trace.Sender
	placeOf map[int]runtime.Frame // of the sender of a request, by its index in sent
	sources *sources
}

// runOf is the data of the page of an outcome.
func runOf(o *scenario.Outcome) run {
	r := reader{o, int64(o.Result.Trace.Len()) + 1, o.Result.Messages(), o.Senders(),
		map[int]runtime.Frame{}, &sources{lines: map[string][][]byte{}}}
	r.findSenders()
	s := o.Scenario
	page := run{
		Title:  fmt.Sprintf("%s: %s %s", headline(o), s.Workload.Name, s.Workload.Impl),
		Status: o.Status().String(), Headline: headline(o), Summary: o.Summary(),
		Meaning: meaning(o), Scenario: s.String(), Plan: r.plan(), Verdicts: r.verdicts(),
		Measured: append([]string{}, o.Measurements()...),
		Clients:  r.clients(), Servers: r.servers(), States: r.states(),
		Lines: r.lines(), Messages: r.messages(), Calls: r.calls(),
		Sessions: r.sessions(), CutOff: r.cutOff(), Holds: r.holds(), Zombies: r.zombies(),
		Strikes: r.strikes(), Changes: r.changes(), Blamed: r.blamed(), Order: r.order(),
	}
	page.Places = append([]place{}, r.sources.places...)
	if isRecorded(o) && o.History.Server == nil {
		page.Servers = 0
	}
	if v, _ := o.Report.Verdict(linearizability.Belief); page.Summary == "" && len(stepsOf(v)) > 0 {
		page.Summary = v.Summary // a zombie window: no lock prevents it, and it does harm
	}
	return page
}

// headline is the verdict in a few words.
func headline(o *scenario.Outcome) string {
	switch p := o.Property(); {
	case p != "":
		return p + " is violated"
	case o.Status() == linearizability.OK:
		return "nothing is violated"
	}
	return "the verdict is " + o.Status().String()
}

func micros(d time.Duration) int64 { return d.Round(time.Microsecond).Microseconds() }

// rename replaces the ids of sessions and GUIDs by their names in the trace.
func (r reader) rename(text string) string { return r.Result.Trace.Rename(text) }

// session is the name of a session in the trace, "" for 0.
func (r reader) session(id int64) string {
	if id == 0 {
		return ""
	}
	return r.rename(fmt.Sprintf("0x%016x", uint64(id)))
}

func (r reader) verdicts() []verdict {
	list := []verdict{}
	for _, v := range r.Verdicts() {
		list = append(list, verdict{
			v.Property, v.Status.String(), v.Summary, stepsOf(v),
		})
	}
	return list
}

// stepsOf are the steps of a verdict, and others that its summary quotes from another verdict.
func stepsOf(v linearizability.Verdict) []int64 {
	steps := append([]int64{}, v.Steps...)
	for _, step := range scenario.NamedSteps(v.Summary) {
		if !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	return steps
}

// clients are the lanes, with the goroutines that have written a line.
func (r reader) clients() []client {
	list := []client{}
	at := map[string]int{}
	for i, name := range r.Outcome.Clients() {
		list = append(list, client{Name: name, Goroutines: []string{name}})
		at[name] = i
	}
	for n := int64(1); n < r.end; n++ {
		actor := r.Result.Trace.Entry(n).Actor
		of, _, further := strings.Cut(actor, ".")
		if i, known := at[of]; known && further && at[actor] == 0 {
			list[i].Goroutines = append(list[i].Goroutines, actor)
			at[actor] = -1
		}
	}
	return list
}

func (r reader) lines() []line {
	list := make([]line, 0, r.end)
	for n := int64(1); n < r.end; n++ {
		e := r.Result.Trace.Entry(n)
		l := line{Time: micros(e.Time), Actor: e.Actor, Text: e.Text}
		if strings.HasPrefix(e.Text, "dial ") && strings.HasSuffix(e.Text, " refused") {
			l.Fold = foldRefused // no value of the result tells of it
		}
		if e.Text == scenario.NoEvent {
			l.Fold = foldNoEvent
		}
		if r.IsOwn(e) {
			l.Fold = foldOwn
		}
		sent, read := r.Result.Trace.ZnodeData(n)
		l.Sent, l.Read = r.data(sent), r.data(read)
		list = append(list, l)
	}
	for _, p := range r.Result.Requests {
		if r.servers() > 1 || p.Server > 1 {
			list[p.Step-1].Server = p.Server
		}
	}
	for _, step := range r.pings() {
		list[step-1].Fold = foldPing
	}
	own := map[int64]bool{}
	for _, v := range r.Verdicts() {
		for _, step := range stepsOf(v) {
			own[step] = true
		}
	}
	for _, s := range r.Result.Strikes {
		own[s.Step] = true
	}
	foldRepetitions(list, own)
	return list
}

// pings are the lines at which pings and the replies to them arrived.
func (r reader) pings() []int64 {
	var steps []int64
	pings := map[int64]bool{}
	for _, m := range r.sent {
		if m.Lost || m.Step < 1 || m.Step >= r.end {
			continue
		}
		if m.Up && m.Op == "ping" || !m.Up && m.Op == "" && pings[m.From] {
			steps = append(steps, m.Step)
			pings[m.Step] = true
		}
	}
	return steps
}

func (r reader) messages() []message {
	list := []message{}
	for i, m := range r.sent {
		list = append(list, message{
			m.Client, m.Conn, r.numberOf(m), m.Up, m.Op, micros(m.Sent), m.From, m.Step, m.Lost,
			r.sources.at(r.placeOf[i]),
		})
	}
	return list
}

func (r reader) calls() []call {
	list := []call{}
	under := map[string][]int64{} // the ends of the calls of each goroutine
	for _, op := range r.History.Ops {
		c := call{
			Client: op.Client, Goroutine: r.Result.Trace.Entry(op.Call).Actor, Kind: op.Kind,
			Name: r.rename(op.Kind + "(" + op.Input + ")"), Text: r.rename(callText(op)),
			Outcome: op.Outcome.String(), From: op.Call, To: op.Return,
			Took: micros(op.ReturnTime - op.CallTime), Deadline: micros(op.Deadline),
			Err: r.rename(op.Err),
		}
		if op.Outcome == linearizability.OpPending {
			c.To, c.Took = r.end, -1
		}
		if pc := r.Result.Trace.Caller(op.Call); pc != 0 {
			frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
			c.At = r.sources.at(frame)
		} else {
			c.First = r.sources.at(r.firstOf(c))
		}
		open := slices.DeleteFunc(under[c.Goroutine], func(end int64) bool { return end <= c.From })
		c.Depth = len(open)
		under[c.Goroutine] = append(open, c.To)
		list = append(list, c)
	}
	return list
}

// callText is a call with its result, without its outcome.
func callText(op linearizability.Op) string {
	text := op.Kind + "(" + op.Input + ")"
	switch {
	case op.Empty:
		return text + " -> nothing there"
	case op.Output != "":
		return text + " -> " + op.Output
	case op.Token != 0:
		return fmt.Sprintf("%s -> token %d", text, op.Token)
	}
	return text
}

// sessions are bars from the start of each session to its end at the server.
func (r reader) sessions() []span {
	list := []span{}
	at := map[int64]int{}
	for _, c := range r.Result.Changes {
		switch c.Kind {
		case trace.SessionStarted:
			at[c.Owner] = len(list)
			list = append(list, span{
				Client: cmp.Or(r.Result.SessionClient[c.Owner], c.Client), Text: r.session(c.Owner),
				From: c.Step, To: r.end,
			})
		case trace.SessionEnded:
			if i, known := at[c.Owner]; known {
				list[i].To = c.Step
			}
		}
	}
	return list
}

// cutOff are bars from the notice of a loss to the next notice of a connection.
func (r reader) cutOff() []span {
	list := []span{}
	open := map[string]int{} // index of the last bar, plus 1
	for _, n := range r.Result.Notices {
		if n.Kind == trace.Paused || n.Kind == trace.Resumed {
			continue // the bar of the fault shows it
		}
		last := open[n.Client]
		if last > 0 {
			list[last-1].To = n.Step
		}
		delete(open, n.Client)
		if n.Kind != trace.Connected {
			list = append(list, span{n.Client, string(n.Kind), n.Step, r.end})
			open[n.Client] = len(list)
		}
	}
	return list
}

// holds are those of the judge. The one that the verdict is about lasts for as long as its client
// goes on.
func (r reader) holds() []hold {
	all := slices.Clone(r.Report.Holds)
	if p := r.Property(); p == linearizability.Safety || p == linearizability.Belief {
		wrong, ok := findingOf(r.Outcome).wrongHold()
		i := slices.IndexFunc(all, func(h linearizability.Hold) bool {
			return h.From == wrong.From
		})
		if ok && i >= 0 {
			all[i] = wrong
		} else if ok {
			all = append(all, wrong)
		}
	}
	list := []hold{}
	for _, h := range all {
		list = append(list, hold{
			h.Client, r.session(h.Session), r.rename(h.Path), h.From,
			min(h.Held, r.end), min(h.Believed, r.end),
		})
	}
	return list
}

// zombies are the times in which clients believe in holds that the server has ended or never gave.
// A hold whose end at the server is not known has Held before From, and no window of the judge.
func (r reader) zombies() []span {
	list := []span{}
	for _, h := range r.holds() {
		from := max(h.From, h.Held)
		known := h.Held == 0 || h.Held > h.From || slices.ContainsFunc(r.Report.ZombieWindows,
			func(z linearizability.ZombieWindow) bool {
				return z.Client == h.Client && z.From == from
			})
		if known && from < h.Believed {
			list = append(list, span{h.Client, "still believes that it holds, but for the server it " +
				"does not", from, h.Believed})
		}
	}
	return list
}

func (r reader) strikes() []strike {
	list := []strike{}
	for _, s := range r.Result.Strikes {
		list = append(list, strike{
			s.Fault.String(), s.Client, r.struck(s), strings.TrimSpace(s.Op + " " + r.rename(s.Path)), s.Step,
			r.after(s.Step, s.Fault.For),
		})
	}
	return list
}

// after is the first step at which a time has passed since another step.
func (r reader) after(step int64, d time.Duration) int64 {
	begin := r.Result.Trace.Entry(step).Time
	for step < r.end && r.Result.Trace.Entry(step).Time < begin+d {
		step++
	}
	return step
}

func (r reader) changes() []change {
	list := []change{}
	for _, c := range r.Result.Changes {
		list = append(list, change{
			string(c.Kind), c.Step, r.rename(c.Path), r.data(c.Data),
			c.Zxid, r.session(c.Session), cmp.Or(c.Client, r.Result.SessionClient[c.Owner]),
			r.session(c.Owner),
		})
	}
	return list
}

// data is the data of a znode as text.
func (r reader) data(data []byte) string {
	text := string(data)
	if len(text) > mostData {
		text = fmt.Sprintf("%s... (%d bytes)", text[:mostData], len(text))
	}
	return r.rename(strings.ToValidUTF8(text, "\uFFFD"))
}

// mostData is how much of the data of a znode is shown.
const mostData = 200

func (r reader) order() *order {
	l, ok := r.Report.Linearization()
	if !ok || len(l.Taken)+len(l.Left) == 0 {
		return nil
	}
	return &order{r.ordered(l.Taken), r.ordered(l.Left)}
}

func (r reader) ordered(list []linearizability.Ordered) []ordered {
	all := []ordered{}
	for _, o := range list {
		all = append(all, ordered{
			o.Client, r.rename(o.Text), o.From, min(o.To, r.end), r.rename(o.State),
		})
	}
	return all
}
