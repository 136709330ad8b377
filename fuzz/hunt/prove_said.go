package hunt

import (
	"maps"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability/ops"
)

// said tells whether a hold, such as that of a lock, begins or ends with what scripts say behind a
// thing, and whether a call does. Whether two holds are at once is for the judge to see, so the end
// of one and the begin of another do not commute. The same goes for a call that is answered at
// once, from memory, and the begins and ends of all calls: no request tells their order. A call
// that returns after a loss of its connection counts like one from memory: its effect may come
// later. A call that fails ends, too.
type said struct {
	Begins bool `json:"begins"`
	Ends   bool `json:"ends"`
	Calls  bool `json:"calls"` // or returns
	AtOnce bool `json:"at_once"`
	Dated  bool `json:"dated,omitempty"` // begins or ends a call that judges compare with changes
}

// holdBegins are the operations whose return begins what a judge compares with what other clients
// hold, and holdEnds those whose call ends it, if there is something to end.
var (
	holdBegins = []string{
		ops.Lock, ops.Acquire, ops.Lead, ops.Take, ops.Poll, ops.Enter, ops.Join,
	}
	holdEnds = []string{ops.Unlock, ops.Release, ops.Resign, ops.Ack, ops.Leave, ops.Close}

	// awaited are the operations of barriers. Judges compare the begin of each with the return of
	// another client's: a wait passes only behind the call of a remove.
	awaited = []string{ops.Enter, ops.Leave, ops.Wait, ops.Set, ops.Remove}

	// dated are the operations whose begins and ends judges compare with the changes of others: was
	// the barrier down at some moment of a wait, and were all votes there at the end of a call that
	// says committed?
	dated = append([]string{ops.Begin, ops.Vote, ops.Await}, awaited...)

	// tellsEnd are the lines with which a client hears that what it holds has ended, or may have.
	tellsEnd = append([]string{scenario.ToldLost}, tellsLoss...)

	// tellsLoss are those that tell of the connection. Only that of the client itself has them, and
	// not one that its code dials.
	tellsLoss = []string{"is told: " + string(trace.Disconnected),
		"is told: " + string(trace.SessionExpired)}
)

func (s *said) join(o said) {
	s.Begins, s.Ends = s.Begins || o.Begins, s.Ends || o.Ends
	s.Calls, s.AtOnce = s.Calls || o.Calls, s.AtOnce || o.AtOnce
	s.Dated = s.Dated || o.Dated
}

func (s said) clashes(o said) bool {
	return s.Begins && o.Ends || s.Ends && o.Begins || s.AtOnce && o.Calls || s.Calls && o.AtOnce
}

// compares reports whether a judge may compare the order of two things of different clients, which
// no client can tell. One of the user may compare all changes, calls and returns.
func (w *walk) compares(a trace.Thing, saidA said, b trace.Thing, saidB said) bool {
	switch {
	case a.Client == b.Client:
		return false
	case w.own:
		return (saidA.Calls || changes(a)) && (saidB.Calls || changes(b))
	case w.ordered && slices.ContainsFunc(a.Creates, func(parent string) bool {
		return slices.Contains(b.Creates, parent)
	}):
		return true
	}
	return dates(a, saidB) || dates(b, saidA)
}

// dates reports whether one of our judges may compare a thing with what the script of another
// client says: the delete of an ephemeral node with calls, such as those of its owner, and any
// change with those of dated kinds.
func dates(t trace.Thing, s said) bool { return t.Steals && s.Calls || changes(t) && s.Dated }

// changes reports whether a history has changes of a thing.
func changes(t trace.Thing) bool { return t.Own || t.Opaque || len(t.Writes)+len(t.Updates) > 0 }

// noteSaid notes what scripts have said behind the last event that was chosen. The events behind it
// have come at once.
func (w *walker) noteSaid(lines []trace.Said) {
	if len(lines) == 0 {
		return
	}
	var s said
	before := maps.Clone(w.open)
	for _, line := range lines { // in any order
		if !slices.Contains(tellsLoss, line.Text) {
			continue
		}
		for call, n := range before {
			if n > 0 && scenario.ClientOf(call.Client) == scenario.ClientOf(line.Client) {
				w.cutOff[call.Client] = true
			}
		}
	}
	for _, line := range lines {
		s.join(w.hear(line, before))
	}
	if w.at > 0 && w.at >= w.known && !w.deaf { // else it is known
		last := w.steps[w.at-1]
		last.said[last.picked].join(s)
	}
}

// hear follows the calls of a run. Before are those that were under way when the first of the lines
// came: a call is answered at once if more calls of its kind return than had begun by then. One
// that was cut off counts like it.
func (w *walker) hear(line trace.Said, before map[trace.Said]int) (s said) {
	client := scenario.ClientOf(line.Client)
	called, calls := strings.CutPrefix(line.Text, "calls ")
	op, returns, ends := cutOutcome(line.Text)
	switch {
	case slices.Contains(tellsEnd, line.Text):
		s.Ends, s.Calls = true, w.own
	case calls:
		op, _, _ = strings.Cut(called, " ")
		s.Calls, s.Dated = true, slices.Contains(dated, op)
		s.Ends = w.all || slices.Contains(awaited, op) ||
			slices.Contains(holdEnds, op) && (w.shared || w.holds[client] > 0)
		w.open[trace.Said{Client: line.Client, Text: op}]++
		if slices.Contains(holdBegins, op) {
			w.holds[client]++ // even if it fails
			delete(w.ended, client)
		}
	case ends:
		call := trace.Said{Client: line.Client}
		call.Text, _, _ = strings.Cut(op, " ") // of a kind such as read it
		w.open[call]--
		before[call]--
		s.AtOnce, s.Calls = before[call] < 0 || returns && w.cutOff[line.Client], true
		delete(w.cutOff, line.Client)
		s.Dated = slices.Contains(dated, call.Text)
		begins := slices.Contains(holdBegins, op)
		s.Begins = w.all || returns && (begins || slices.Contains(awaited, op))
		s.Ends = op == ops.Hold || !returns && begins
		if returns {
			w.noteEnd(client, op)
		}
	}
	return s
}

// cutOutcome finds the kind of a call in the line of its end, and whether it has returned.
func cutOutcome(line string) (op string, returns, ends bool) {
	returned, _, returns := strings.Cut(line, " returns")
	failed, _, fails := strings.Cut(line, " fails")
	if returns && (!fails || len(returned) < len(failed)) {
		return returned, true, true
	}
	return failed, false, fails
}

// noteEnd counts what a client still holds when a call has returned. A call that fails ends
// nothing: it may be made again. So may one that succeeds: of several releases in a row the first
// counts.
func (w *walker) noteEnd(client, op string) {
	switch {
	case op == ops.Close:
		w.holds[client] = 0
	case slices.Contains(holdEnds, op) && !w.ended[client]:
		w.holds[client] = max(0, w.holds[client]-1)
		w.ended[client] = true
	}
}
