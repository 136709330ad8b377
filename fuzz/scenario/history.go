package scenario

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/linearizability"
)

// history combines the records of the players with the log of the server. Moments become lines of
// the trace.
func history(r *trace.Result, players []*Player) linearizability.History {
	h := linearizability.History{
		Server:  serverEvents(r),
		End:     int64(r.Trace.Len()),
		EndTime: r.Elapsed,
	}
	for _, p := range players {
		h.Ops = append(h.Ops, p.ops(r)...)
		h.Notices = append(h.Notices, p.losses(r, h.End)...)
	}
	h.Notices = append(h.Notices, unansweredAtEnds(r)...)
	for _, n := range r.Notices {
		if kind, ok := noticeKinds[n.Kind]; ok {
			h.Notices = append(h.Notices, linearizability.Notice{Client: n.Client, Step: n.Step,
				Time: n.Time, Kind: kind, Session: n.Session})
		}
	}
	return h
}

func isDeath(n trace.Notice) bool { return n.Kind == trace.Died }

// died is the end of a client's process.
func died(r *trace.Result, client string) (n trace.Notice, ok bool) {
	i := slices.IndexFunc(r.Notices, func(n trace.Notice) bool {
		return n.Client == client && isDeath(n)
	})
	if i < 0 {
		return n, false
	}
	return r.Notices[i], true
}

// ops are the calls of a player, in its own order. The outcome of a call during which the process
// has died is unknown.
func (r *Record) ops(result *trace.Result) []linearizability.Op {
	var ops []linearizability.Op
	death, dead := died(result, r.writer.Of())
	for _, op := range r.calls.History(nil).Ops {
		if op, begun := numbered(result, op); begun {
			if dead && op.Outcome == linearizability.OpPending {
				op.Outcome, op.Err = linearizability.OpUnknown, linearizability.ProcessDied
				op.Return, op.ReturnTime = death.Step, death.Time
			}
			ops = append(ops, op)
		}
	}
	return ops
}

// losses are the losses of holds that a player learned of up to the end. The order of the lines
// of goroutines that learn of losses at one time is chance, so the smaller token gets the earlier
// line.
func (r *Record) losses(result *trace.Result, end int64) []linearizability.Notice {
	var losses []linearizability.Notice
	for _, n := range r.lossNotes.History(nil).Notices {
		if n.Step = result.Step(trace.Moment(n.Step)); n.Step <= end {
			losses = append(losses, n)
		}
	}
	for i := range losses {
		for j := i; j > 0 && losses[j].Time == losses[j-1].Time &&
			losses[j].Token < losses[j-1].Token; j-- {
			losses[j].Token, losses[j-1].Token = losses[j-1].Token, losses[j].Token
		}
	}
	return withUnanswered(result, losses)
}

// noticeKinds are the notices that the judge needs. A disconnected holder still holds, but it may
// lack a signal of loss. A waiter may wait longer until the client is connected again.
var noticeKinds = map[trace.NoticeKind]linearizability.NoticeKind{
	trace.Disconnected:   linearizability.Disconnected,
	trace.Connected:      linearizability.Connected,
	trace.SessionExpired: linearizability.SessionExpired,
	trace.Paused:         linearizability.Paused,
	trace.Resumed:        linearizability.Resumed,
	trace.Died:           linearizability.Died,
}

// numbered turns the moments of an operation into lines of the trace. A call that returned only
// when the World was torn down is pending. Its return does not count, since goroutines that end
// together return in any order. A call that began then is left out.
func numbered(r *trace.Result, op linearizability.Op) (linearizability.Op, bool) {
	if trace.Moment(op.Call) == trace.AfterEnd {
		return op, false
	}
	op.Call = r.Step(trace.Moment(op.Call))
	if op.Outcome == linearizability.OpPending || trace.Moment(op.Return) == trace.AfterEnd {
		return linearizability.Op{
			Client: op.Client, Kind: op.Kind, Input: op.Input,
			Call: op.Call, CallTime: op.CallTime, Return: -1,
		}, true
	}
	op.Return = r.Step(trace.Moment(op.Return))
	return op, true
}

var changeKinds = map[trace.ChangeKind]linearizability.ServerEventKind{
	trace.NodeCreated:    linearizability.NodeCreated,
	trace.NodeDeleted:    linearizability.NodeDeleted,
	trace.DataChanged:    linearizability.DataChanged,
	trace.SessionStarted: linearizability.SessionStarted,
	trace.SessionEnded:   linearizability.SessionEnded,
}

func serverEvents(r *trace.Result) []linearizability.ServerEvent {
	events := make([]linearizability.ServerEvent, 0, len(r.Changes))
	for _, c := range r.Changes {
		ev := linearizability.ServerEvent{
			Step: c.Step, Time: c.Time, Kind: changeKinds[c.Kind], Path: c.Path,
			Data: string(c.Data),
			Zxid: c.Zxid, Czxid: c.Czxid, Session: c.Session, Owner: c.Owner, Client: c.Client,
			Notified: c.Notified,
		}
		ev.TTL = c.Kind == trace.NodeCreated && c.Owner == 0 && madeWithTTL(r, c)
		if c.Kind == trace.NodeDeleted && c.Session == 0 && c.Owner == 0 {
			ev.Why = whyDeleted(r, c)
		}
		if ev.Client == "" {
			ev.Client = r.SessionClient[c.Owner]
		}
		events = append(events, ev)
	}
	return events
}

// rest describes the world at rest.
func rest(r *trace.Result, h linearizability.History,
	players []*Player) *linearizability.Leftovers {
	out := &linearizability.Leftovers{
		Nodes:    []linearizability.NodeAtRest{},
		Sessions: []linearizability.SessionAtRest{},
		Watches:  []linearizability.WatchAtRest{},
		Waiting:  waits(r, h),
	}
	if !slices.ContainsFunc(r.Notices, isDeath) {
		out.Leaked = leaks(r) // a dead process cannot end its goroutines
	}
	for _, n := range r.Nodes {
		out.Nodes = append(out.Nodes, linearizability.NodeAtRest{
			Path: n.Path, Data: string(n.Data), Owner: n.Owner,
			OwnerClient: r.SessionClient[n.Owner], Czxid: n.Czxid,
			LostDelete: lostDelete(r, n), OfDead: madeByDead(r, n),
		})
	}
	for _, s := range r.Sessions {
		out.Sessions = append(out.Sessions,
			linearizability.SessionAtRest{ID: s.ID, Client: r.SessionClient[s.ID]})
	}
	if !slices.ContainsFunc(players, func(p *Player) bool { return p.open }) {
		out.Watches = watchesAtRest(r, h)
	}
	for _, p := range players {
		if !slices.Contains(r.Busy, p.client.Of()) {
			continue
		}
		if why := failsForEver(r, p.ops(r)); why != "" {
			out.Wedged = append(out.Wedged,
				fmt.Sprintf("client %s gets no further: %s", p.Name(), why))
		}
	}
	return out
}

// watchesAtRest are the watches on nodes that exist, of clients that have not given up. A client
// that connects anew sets its watches again, also one whose event it has missed: nobody left that.
func watchesAtRest(r *trace.Result, h linearizability.History) []linearizability.WatchAtRest {
	list := []linearizability.WatchAtRest{}
	left := gaveUp(h)
	for _, w := range r.Watches {
		client := r.SessionClient[w.Session]
		if !left[client] && exists(r, w.Path) && !isSetAgain(r, client, w) {
			list = append(list, linearizability.WatchAtRest{Client: client, Path: w.Path})
		}
	}
	return list
}

// isSetAgain reports whether a client has missed the event of a watch, and has set it anew after it
// had connected again: the node has changed since the code has set the watch.
func isSetAgain(r *trace.Result, client string, w view.Watch) bool {
	set := setAt(r, client, w)
	return slices.ContainsFunc(r.Changes, func(c trace.Change) bool {
		return c.Step > set && (c.Path == w.Path || w.Children && path.Dir(c.Path) == w.Path)
	}) && slices.ContainsFunc(r.Requests, func(q trace.RequestPoint) bool {
		return q.Client == client && q.Step > set && strings.HasPrefix(q.Op, "setWatches")
	})
}

// lostDelete is the step at which a fault lost a delete of a node, so that the node still exists; 0
// if none did.
func lostDelete(r *trace.Result, n view.Node) int64 {
	var lost int64
	for _, s := range r.Strikes {
		if s.Op == "delete" && s.Path == n.Path && s.Step > createdAt(r, n) {
			lost = s.Step
		}
	}
	return lost
}

// madeByDead reports whether a process that has died made a persistent node: the other clients may
// not know of it.
func madeByDead(r *trace.Result, n view.Node) bool {
	return n.Owner == 0 && slices.ContainsFunc(r.Changes, func(c trace.Change) bool {
		_, dead := died(r, c.Client)
		return dead && c.Kind == trace.NodeCreated && c.Czxid == n.Czxid && c.Path == n.Path
	})
}

// createdAt is the step at which a node was created.
func createdAt(r *trace.Result, n view.Node) int64 {
	for _, c := range r.Changes {
		if c.Kind == trace.NodeCreated && c.Czxid == n.Czxid && c.Path == n.Path {
			return c.Step
		}
	}
	return 0
}

// exists reports whether a znode is left. A watch on an absent znode was set by an exists request.
// The recipes of the ZooKeeper guide set one when a predecessor has just gone, and cannot take it
// back.
func exists(r *trace.Result, path string) bool {
	return slices.ContainsFunc(r.Nodes, func(n view.Node) bool { return n.Path == path })
}

// hopeless is the time after which a client counts as stuck if all of its calls have failed.
const hopeless = baseLimit / 2

// cutShort is the reason why the run was cut short, or "". A run was cut short if it ran out of
// steps, or if the World ended while scripts were busy and some operation had succeeded not long
// before.
func cutShort(r *trace.Result, h linearizability.History, limit time.Duration) string {
	switch {
	case r.OutOfSteps:
		return outOfSteps(r)
	case makesProgress(r, h, limit):
		return fmt.Sprintf("the run was cut short after %s of virtual time, "+
			"while its clients still got on", virtualTime(min(limit, r.Elapsed)))
	}
	return ""
}

// outOfSteps says that a run was not tried to its end.
func outOfSteps(r *trace.Result) string {
	return fmt.Sprintf("the run was cut short after %d steps and %s of virtual time", r.Steps,
		virtualTime(r.Elapsed))
}

func makesProgress(r *trace.Result, h linearizability.History, limit time.Duration) bool {
	return len(r.Busy) > 0 && slices.ContainsFunc(h.Ops, func(op linearizability.Op) bool {
		return op.Outcome == linearizability.OpOK && op.ReturnTime > min(limit, r.Elapsed)-hopeless
	})
}

// failsForEver describes the failures of a goroutine whose calls have all failed for a long time,
// up to the end of the run: the goroutine does not wait, but it is stuck. Otherwise it returns "".
func failsForEver(r *trace.Result, ops []linearizability.Op) string {
	var first, last linearizability.Op
	attempts := 0
	for _, op := range ops {
		switch {
		case op.Outcome == linearizability.OpFailed || op.Outcome == linearizability.OpUnknown:
			if attempts++; attempts == 1 {
				first = op
			}
			last = op
		case op.Outcome == linearizability.OpPending: // one more attempt
		default:
			attempts = 0
		}
	}
	if attempts < 2 || last.ReturnTime-first.CallTime < hopeless {
		return ""
	}
	began := ""
	if first.Err != last.Err {
		began = fmt.Sprintf(", when its %s failed with: %s", first.Kind, first.Err)
	} else if act := lastAct(r, nil, first.Client, first.Call); act != "" && first.Call > 1 {
		began = ", after " + act
	}
	text := fmt.Sprintf("its %s has failed %d times in a row since step %d%s; the last time with: %s",
		last.Kind, attempts, first.Call, began, last.Err)
	if refused := lastRefused(r, last); refused != "" {
		text += " (" + refused + ")"
	}
	return text
}

// gaveUp names the clients that gave up a wait: those with a failed call, and those whose session
// ended, so that the wait began again. The go-zookeeper client cannot remove a watch, so these
// clients may leave some.
func gaveUp(h linearizability.History) map[string]bool {
	clients := map[string]bool{}
	for _, op := range h.Ops {
		if op.Outcome == linearizability.OpFailed || op.Outcome == linearizability.OpUnknown {
			clients[op.Client] = true
		}
	}
	for _, n := range h.Notices {
		if n.Kind == linearizability.SessionExpired || n.Kind == linearizability.Died {
			clients[n.Client] = true
		}
	}
	return clients
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
