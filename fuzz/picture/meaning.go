package picture

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// meaning says what a violation means from now on, for a reader who does not know ZooKeeper. It is
// "" if nothing is violated. It is made of the facts of the run, so that it fits any object.
func meaning(o *scenario.Outcome) string {
	property := o.Property()
	switch of := meanings[property]; {
	case property == "":
		return ""
	case of != nil:
		return of(findingOf(o))
	}
	return fmt.Sprintf("The code breaks “%s”, a promise that its own test names. Its users can meet "+
		"the same.", property)
}

// meanings are those of each property.
var meanings = map[string]func(finding) string{
	linearizability.Safety: finding.owners, linearizability.Belief: finding.owners,
	linearizability.Linearizability: finding.returned, linearizability.Answers: finding.returned,
	linearizability.View: finding.returned, linearizability.Presence: finding.presence,
	linearizability.Delivery: finding.delivery, linearizability.Liveness: finding.stuck,
	linearizability.Orphans: finding.left, scenario.InvariantProperty: finding.invariant,
	linearizability.Fencing: finding.returned, linearizability.Order: finding.returned,
	linearizability.Herd: func(f finding) string {
		return fmt.Sprintf("One release wakes %d waiters, of which one can go on. Each client "+
			"more is one more to wake: with many, each release makes the server slow for all.",
			f.Report.MaxHerd)
	},
	"panic": func(f finding) string {
		who, _, _ := strings.Cut(f.Summary(), ":")
		return "The process of " + who + " crashes, and all that it does ends at once. What it " +
			"has taken stays taken for some time."
	},
	"frozen": func(finding) string {
		return "The goroutine never goes on, and all that wait for it wait with it."
	},
	"property": func(finding) string {
		return "The service has not done what the test expects of it. Its users can meet the same."
	},
}

// finding is a violation, and the call that its verdict is about.
type finding struct {
	*scenario.Outcome
	steps   []int64        // that the verdict names
	changes []trace.Change // at these steps
	// call is the last one of those that the verdict names, or the one that made the last of the
	// changes; the zero Op if there is none.
	call linearizability.Op
}

func findingOf(o *scenario.Outcome) finding {
	v, _ := o.Report.Verdict(o.Property())
	f := finding{Outcome: o, steps: v.Steps}
	if len(f.steps) == 0 {
		f.steps = scenario.NamedSteps(wrongPart(o.Summary()))
	}
	for _, c := range o.Result.Changes {
		if slices.Contains(f.steps, c.Step) {
			f.changes = append(f.changes, c)
		}
	}
	latest := int64(0)
	for _, op := range o.History.Ops {
		named := slices.Contains(f.steps, op.Call) || slices.Contains(f.steps, op.Return)
		if step := max(op.Call, op.Return); named && step > latest {
			latest, f.call = step, op
		}
		if latest == 0 && slices.ContainsFunc(f.changes, func(c trace.Change) bool {
			return during(op, c)
		}) {
			f.call = op
		}
	}
	return f
}

// during reports whether a client has made a change in a call.
func during(op linearizability.Op, c trace.Change) bool {
	return op.Client == c.Client && op.Call < c.Step && (op.Pending() || c.Step < op.Return)
}

// said is the call with its client, and when it was.
func (f finding) said() string {
	if f.call.Client == "" {
		return "A call"
	}
	text := fmt.Sprintf("%s's %s(%s)", f.call.Client, f.call.Kind, f.call.Input)
	return f.Result.Trace.Rename(text) + f.span(f.call.Call, f.call.Return)
}

// span is a time in steps.
func (f finding) span(from, to int64) string {
	if to < 0 || to > int64(f.Result.Trace.Len()) {
		return fmt.Sprintf(" (from step %d to the end)", from)
	}
	return fmt.Sprintf(" (steps %d to %d)", from, to)
}

// owned are the things that clients own, by the calls that get them, and what it means if two do.
var owned = map[string]struct{ thing, two string }{
	ops.Lock:    {"the lock", "both may write what it protects, and neither gets an error."},
	ops.Hold:    {"the lock", "both may write what it protects, and neither gets an error."},
	ops.Acquire: {"a lease", "more clients than allowed work at once, and none gets an error."},
	ops.Lead:    {"the leadership", "both act as the one leader, and neither gets an error."},
}

// owners is the meaning of a violated safety or belief.
func (f finding) owners() string {
	h, ok := f.wrongHold()
	got, from, lost := owned[f.grant(h).Kind], h.From, h.Held < h.Believed
	if lost {
		from = max(h.From, h.Held)
	}
	other := f.beside(h, from)
	both := f.span(max(from, other.From), min(h.Believed, max(other.Held, other.Believed)))
	how := "has lost it"
	if h.Held == 0 {
		how = "never got it"
	}
	text := fmt.Sprintf("%s goes on as the owner of %s%s, but %s at the server. ",
		h.Client, got.thing, f.span(from, h.Believed), how)
	switch {
	case !ok || !lost && other.Client == "":
		return f.returned()
	case !lost && other.Client == h.Client:
		return "Two parts of " + h.Client + " own " + got.thing + " at once" + both + ": " + got.two
	case !lost:
		return other.Client + " and " + h.Client + " own " + got.thing + " at the same time" +
			both + ": " + got.two
	case other.Client == "":
		return text + "Another client can get it meanwhile: then " + got.two
	}
	return text + other.Client + " owns it, too" + both + ": " + got.two
}

// wrongHold is the hold that the verdict is about, of several the last one. A hold of a client that
// goes on too long, or that has nothing at the server, lasts until the client's next call.
func (f finding) wrongHold() (h linearizability.Hold, ok bool) {
	unknown := owned[f.call.Kind].thing != "" && f.call.OK() // for the report
	for _, held := range f.Report.Holds {
		if slices.Contains(f.steps, held.From) || slices.Contains(f.steps, held.Held) {
			h, ok = held, true
		}
		unknown = unknown && held.From != f.call.Return
	}
	if unknown {
		h, ok = linearizability.Hold{Client: f.call.Client, From: f.call.Return}, true
	}
	if unknown || f.Property() == linearizability.Belief && h.Held < h.Believed {
		h = f.goneOn(h)
	}
	return h, ok
}

// goneOn is a hold that lasts until its client calls something but to use it, is told of the loss
// by the object and heeds that, or dies. Without the server's side it has ended when the client was
// told.
func (f finding) goneOn(h linearizability.Hold) linearizability.Hold {
	until := int64(f.Result.Trace.Len()) + 1
	for _, op := range f.History.Ops {
		if op.Client == h.Client && op.Call > h.From && op.Kind != ops.Use {
			until = min(until, op.Call)
		}
	}
	for _, n := range f.History.Notices {
		lost := n.Kind == linearizability.LockLost
		switch heeded := f.call.Kind != ops.Use; {
		case n.Client != h.Client || n.Step <= h.From:
		case lost && heeded || n.Kind == linearizability.Died:
			until = min(until, n.Step)
		case lost || n.Kind == linearizability.SessionExpired:
			if f.History.Server == nil && h.Held <= h.From {
				h.Held = n.Step
			}
		}
	}
	h.Believed = max(h.Believed, until)
	return h
}

// grant is the call that got a hold.
func (f finding) grant(h linearizability.Hold) linearizability.Op {
	for _, op := range f.History.Ops {
		if owned[op.Kind].thing != "" && op.Client == h.Client && op.Return == h.From {
			return op
		}
	}
	return linearizability.Op{Kind: ops.Lock}
}

// beside is another hold that must not be while a client believes in its own, or the zero Hold.
// Leases and readers may be several.
func (f finding) beside(h linearizability.Hold, from int64) linearizability.Hold {
	for _, other := range f.Report.Holds {
		a, b := f.grant(h), f.grant(other)
		several := a.Kind == ops.Acquire || a.Input == ops.ReadMode && b.Input == ops.ReadMode
		at := other.From < h.Believed && max(other.Held, other.Believed) > from
		bad := slices.Contains(f.steps, other.From) || !several && other.Client != h.Client
		if other.From != h.From && at && bad {
			return other
		}
	}
	return linearizability.Hold{}
}

// wrong is the meaning of calls that return what they must not, by the property or by the call.
var wrong = map[string]string{
	linearizability.Fencing: " gets a wrong token. A store that checks tokens refuses the owner " +
		"of today, or takes a write of an earlier one.",
	linearizability.Order: " comes out of its turn: code that relies on the order is wrong, " +
		"and no error tells it.",
	ops.Look: " shows what is no longer so as if it were: its caller acts on it, " +
		"and no error tells it.",
	ops.Next: " is given a number that another call has got, too: two things bear " +
		"it, and no error tells anybody.",

	ops.Enter: tooEarly, ops.Wait: tooEarly, ops.Take: outOfOrder, ops.Poll: outOfOrder,
	ops.Add: notDone, ops.Write: notDone, ops.CAS: notDone, ops.Set: notDone, ops.Remove: notDone,
	ops.Offer: notDone, ops.Discard: notDone,
}

const (
	tooEarly = " returns too early: it goes on with work for which the others are not ready, " +
		"and no error tells it."
	outOfOrder = " gets what it must not have yet: work is done in a wrong order or twice, and " +
		"no error tells anybody."
	notDone = " reports success, and has not done what it reports: what somebody has written " +
		"is lost or wrong, and no error tells anybody."
)

// returned is the meaning of a call that returns what it must not.
func (f finding) returned() string {
	_, told, _ := strings.Cut(callText(f.call), " -> ")
	switch text := cmp.Or(wrong[f.Property()], wrong[f.call.Kind]); {
	case len(f.Report.Duplicated) > 0:
		return f.delivery()
	case f.call.Output == ops.Refused:
		return f.said() + " is refused, and at no moment of it was there a reason: its caller " +
			"gives up what it could have done."
	case text == "" && told != "" && f.Property() != linearizability.Safety:
		return fmt.Sprintf("%s is answered “%.60s”, and at no moment of it was that so%s. What %s "+
			"does next rests on a wrong answer, and no error tells it.", f.said(),
			f.Result.Trace.Rename(told), f.leads(), f.call.Client)
	default:
		return f.said() + cmp.Or(text, " does what it must not: others rely on what is not so, "+
			"and no error tells anybody.")
	}
}

// leads says who led all the time of a call that asks for it, or that nobody did, since no client
// had an ephemeral. It is "" if the facts do not tell.
func (f finding) leads() string {
	if f.call.Kind != ops.Leader {
		return ""
	}
	for _, h := range f.Report.Holds {
		if h.From <= f.call.Call && f.call.Return < h.Held {
			return ": " + h.Client + " led then"
		}
	}
	there := map[string]bool{}
	for _, c := range f.Result.Changes {
		switch {
		case c.Kind == trace.NodeCreated && c.Owner != 0 && c.Step <= f.call.Return:
			there[c.Path] = true
		case c.Kind == trace.NodeDeleted && c.Step <= f.call.Call:
			delete(there, c.Path)
		}
	}
	if len(there) > 0 {
		return ""
	}
	return ": nobody led then"
}

// presence is the meaning of a member that is listed and has left, or the other way round.
func (f finding) presence() string {
	for _, c := range f.changes {
		switch from := fmt.Sprintf(" in the list from step %d on, although it ", c.Step); c.Kind {
		case trace.NodeCreated:
			return path.Base(c.Path) + " is" + from + "has left: others go on to send it work, " +
				"and nobody does it."
		case trace.NodeDeleted:
			return path.Base(c.Path) + " is not" + from + "works and was told that it is: others " +
				"do not find it, and it gets no work."
		}
	}
	return "Others see an instance that has left, or do not see one that is there."
}

// delivery is the meaning of what is lost, or there twice.
func (f finding) delivery() string {
	switch lost, twice := f.Report.Lost, f.Report.Duplicated; {
	case len(lost) > 0 && f.call.Kind == ops.Offer && f.call.OK():
		return fmt.Sprintf("%s is gone: nobody will ever work on it, although %s was told at "+
			"step %d that it is in the queue.", lost[0], f.call.Client, f.call.Return)
	case len(lost) > 0:
		return lost[0] + " is gone: nobody will ever work on it, and no error tells anybody."
	case len(twice) > 0:
		return twice[0] + " can be taken twice: the same work is done twice, and no error tells " +
			"anybody."
	case len(f.changes) > 1 && f.call.Client != "":
		return f.said() + " is one call and takes effect more than once: what it changes is " +
			"wrong from now on, and no error tells anybody."
	case len(f.changes) > 0 && f.changes[0].Session == 0:
		return fmt.Sprintf("At step %d the server itself ends what no client has ended: all that "+
			"wait for its end go on too early, and no error tells them.", f.changes[0].Step)
	}
	return "Something that a client does is lost, or happens twice, or without a client, and no " +
		"error tells anybody."
}

// invariant is the meaning of a broken rule of a test. The summary begins with the rule.
func (f finding) invariant() string {
	rule, _, _ := strings.Cut(f.Summary(), ": ")
	if f.call.Err != "" {
		return fmt.Sprintf("%s fails with “%s”: its caller is told that it did not happen. "+
			"The rule of the test is “%s”.",
			f.said(), f.Result.Trace.Rename(f.call.Err), rule)
	}
	by := ""
	if f.call.Client != "" {
		by = " by " + f.said()
	}
	return "The test's rule “" + rule + "” is broken" + by + ". What relies on it can go wrong " +
		"from here on, and no error tells anybody."
}

// stuck is the meaning of a violated liveness: who waits for whom, or for what.
func (f finding) stuck() string {
	call, late := f.call, f.call.ReturnTime-f.call.Deadline
	switch r, waits := f.Result.Runaway, cmp.Or(f.waits(), f.fails()); {
	case r != nil:
		return "From now on " + cmp.Or(r.Client, "the code") + " does the same again and again, " +
			"without a pause, and gets no further: it keeps the server and the processor busy."
	case waits != "":
		return "From now on " + waits
	case call.Kind == ops.Settle && call.OK():
		return "From now on " + call.Client + " is shown old data, although no fault hinders it: " +
			"it acts on what is no longer so, and no error tells it."
	case !call.OK() && call.Deadline > 0 && late > time.Second:
		return fmt.Sprintf("%s goes on for %s after the limit that its caller has set: the "+
			"caller is stuck, and so are all that wait for it.", f.said(), late.Round(time.Millisecond))
	}
	text := f.said() + " does not do in time what it is there for, although no fault hinders it."
	if call.Kind == ops.Take {
		return text + " There is work in the queue, and nobody does it."
	}
	return text + " All that wait for it wait, too."
}

// fails is the meaning of calls of a client that fail without end, "" if there are none.
func (f finding) fails() string {
	for _, op := range slices.Backward(f.History.Ops) {
		if slices.Contains(f.Result.Busy, op.Client) && !op.OK() {
			return "each " + op.Kind + " of " + op.Client + " fails, although no fault hinders " +
				"it: to try again does not help."
		}
	}
	return ""
}

// goals are what waiting clients do not get, by their calls.
var goals = map[string]string{
	ops.Lock: "for the lock", ops.Hold: "for the lock", ops.Acquire: "for a lease",
	ops.Lead: "to be elected", ops.Take: "for an element", ops.Enter: "at the barrier",
	ops.Leave: "at the barrier", ops.Wait: "at the barrier", ops.View: "for news",
	ops.Await: "for the decision",
}

// waits is the meaning of calls that never return, "" if there are none.
func (f finding) waits() string {
	var who []string
	for _, op := range f.History.Ops {
		if op.Pending() && !slices.Contains(who, op.Client) {
			who = append(who, op.Client)
		}
	}
	slices.Sort(who)
	last := len(who) - 1
	if last < 0 {
		return ""
	}
	text := who[last] + " waits"
	if last > 0 {
		text = strings.Join(who[:last], ", ") + " and " + who[last] + " wait"
	}
	node, owner := f.blame()
	byWaiter := slices.ContainsFunc(f.Result.Changes, func(c trace.Change) bool {
		return c.Kind == trace.NodeCreated && c.Path == node && slices.ContainsFunc(f.History.Ops,
			func(op linearizability.Op) bool { return op.Pending() && during(op, c) })
	})
	switch kind := f.call.Kind; {
	case byWaiter && owner != "" && owner != f.call.Client:
		return text + " for each other, until the session of one of them ends."
	case node != "" && f.call.Input == "" && (kind == ops.Lock || kind == ops.Hold):
		text = "no client gets this lock"
	case node != "" && kind == ops.Lead:
		text = "no client is elected"
	default:
		text += " in vain " + cmp.Or(goals[kind], "for the end of a call")
	}
	switch {
	case node == "":
		return text + ", although no fault hinders it: nothing will ever end the wait."
	case owner == "":
		return text + " until somebody deletes " + f.Result.Trace.Rename(node) + " by hand."
	}
	return fmt.Sprintf("%s until %s's session ends: nobody else removes what %[2]s has made at "+
		"the server. To end %[2]s's process helps, once its session has timed out.", text, owner)
}

// blame is the path of the znode to blame, which is there at rest, and the client of the session
// that owns it. The client is "" if the znode belongs to none, or if its owner has no name.
func (f finding) blame() (node, owner string) {
	v, _ := f.Report.Verdict(f.Property())
	for _, n := range f.Result.Nodes {
		if v.Znode != "" && n.Path == v.Znode {
			return n.Path, f.Result.SessionClient[n.Owner]
		}
	}
	return "", ""
}

// left is the meaning of a violated orphans.
func (f finding) left() string {
	node, owner := f.blame()
	text := cmp.Or(f.Result.Trace.Rename(node), "Something") + " stays, and nobody needs it"
	if owner != "" {
		text += ", until " + owner + "'s session ends"
	}
	return text + ". Each time adds one more."
}
