package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// Change is a change at the server. Its Step and Time are not known, only the time of the server's
// clock in whole milliseconds: it happened within this millisecond.
type Change struct {
	linearizability.ServerEvent
	Clock time.Time
}

// tick is the precision of the clock of a Change.
const tick = time.Millisecond

// WithServer returns the history with the changes of the object at the server, in their order. They
// are put between the events, so [File.Line] has the lines of the steps. offset is what was added
// to the server's clock, 0 if the clocks agree.
//
// The place of a change is the earliest one that its time and the calls allow. A znode whose czxid
// is the token of a call was created in this call. A request of a client lies within a call of the
// client, if there is one at that time. So no verdict rests on the order within a millisecond.
//
// A grant that was recorded without its session has that of the client that made the znode of its
// token. The tokens also show how far the clocks differ, if they do. It is an error if no offset of
// the clocks explains all tokens.
func (f File) WithServer(changes []Change) (with File, offset time.Duration, err error) {
	if f.History.Server != nil {
		return f, 0, errors.New("the history has the server's side already")
	}
	creates := Creates(f.History.Ops, changes)
	f.History.Ops = WithSessions(f.History.Ops, creates)
	p := newPlacement(f, creates)
	if len(f.made) == 0 { // else Align has found it
		if offset, err = p.findOffset(changes); err != nil {
			return f, 0, err
		}
	}
	p.offset = offset
	p.placeAll(changes)
	lines := make([]origin, f.History.End+int64(len(changes))+1)
	for step := int64(1); step <= f.History.End; step++ {
		lines[p.moved(step)] = origin{line: step}
		if f.lines != nil {
			lines[p.moved(step)] = f.lines[step]
		}
	}
	f.History, f.lines = p.merged(), lines
	return f, offset, nil
}

// WithSessions are the operations with the sessions that their tokens show: the session that made
// the znode. See [Creates].
func WithSessions(list []linearizability.Op, creates map[int64]Change) []linearizability.Op {
	list = slices.Clone(list)
	for i, op := range list {
		if grants(op) && op.Session == 0 {
			list[i].Session = creates[op.Token].Session
		}
	}
	return list
}

// Creates returns the changes that created the znodes of grants, by their tokens. It is empty if
// the tokens are not czxids. Small numbers of a counter may be czxids by chance, but not all of
// them: each token that lies within the changes must be one, and no other session than that of the
// grant has made its znode.
func Creates(list []linearizability.Op, changes []Change) map[int64]Change {
	all, creates := map[int64]Change{}, map[int64]Change{}
	for _, c := range changes {
		if c.Kind == linearizability.NodeCreated {
			all[c.Czxid] = c
		}
	}
	for _, op := range list {
		if !grants(op) || len(changes) == 0 || op.Token < changes[0].Zxid ||
			op.Token > changes[len(changes)-1].Zxid {
			continue
		}
		create, known := all[op.Token]
		if !known || op.Session != 0 && create.Session != op.Session {
			return nil
		}
		creates[op.Token] = create
	}
	return creates
}

// placement puts changes between the events of a history. A place n is behind the event of step n.
type placement struct {
	file    File
	times   []time.Duration            // of each step, from 1
	granted map[int64]int              // the first operation of each czxid
	makers  map[int64]int              // the operation that made a change, if Align knows it
	clients map[int64]string           // of sessions that one client uses
	own     map[int64][]int            // operations by session, in the order of their calls
	used    map[int64]map[string]int64 // step of the last call that a change of the kind took
	offset  time.Duration
	changes []Change
	places  []int64
}

func newPlacement(f File, creates map[int64]Change) *placement {
	p := &placement{
		file: f, times: make([]time.Duration, f.History.End+1), granted: map[int64]int{},
		makers: map[int64]int{}, clients: map[int64]string{}, own: map[int64][]int{},
		used: map[int64]map[string]int64{},
	}
	for i, op := range f.History.Ops {
		p.times[op.Call] = op.CallTime
		if op.Return >= 0 {
			p.times[op.Return] = op.ReturnTime
		}
		_, again := p.granted[op.Token]
		if _, known := creates[op.Token]; known && grants(op) && !again {
			p.granted[op.Token] = i
		}
	}
	for i, zxid := range f.made {
		p.makers[zxid] = i
	}
	p.findClients()
	for _, n := range f.History.Notices {
		p.times[n.Step] = n.Time
	}
	p.times[len(p.times)-1] = f.History.EndTime
	for i := range p.times[1:] {
		p.times[i+1] = max(p.times[i+1], p.times[i])
	}
	return p
}

// findClients finds the client of each session, if only one uses it, and the operations that may
// have been made in each session: all those of the clients that use it.
func (p *placement) findClients() {
	users := map[int64][]string{}
	for _, op := range p.file.History.Ops {
		if op.Session != 0 && !slices.Contains(users[op.Session], op.Client) {
			users[op.Session] = append(users[op.Session], op.Client)
		}
	}
	for session, names := range users {
		if len(names) == 1 {
			p.clients[session] = names[0]
		}
		for i, op := range p.file.History.Ops {
			if slices.Contains(names, op.Client) {
				p.own[session] = append(p.own[session], i)
			}
		}
	}
}

// findOffset finds the duration to add to the server's clock. The znode of a grant was created
// between its call and its return.
func (p *placement) findOffset(changes []Change) (time.Duration, error) {
	least, most := time.Duration(-1<<62), time.Duration(1<<62)
	for _, c := range changes {
		i, known := p.granted[c.Czxid]
		if c.Kind != linearizability.NodeCreated || !known {
			continue
		}
		op, at := p.file.History.Ops[i], c.Clock.Sub(p.file.Began)
		least = max(least, op.CallTime-at-tick)
		most = min(most, op.ReturnTime-at)
	}
	switch {
	case least > most:
		return 0, fmt.Errorf("by the tokens at least %s are to be added to the server's clock at one "+
			"time, and at most %s at another: the log belongs to another run, or a clock was set",
			least.Round(tick), most.Round(tick))
	case least <= 0 && most >= 0:
		return 0, nil
	}
	return (least + most) / 2, nil
}

// placeAll finds the places of the changes from the beginning of the recording on.
func (p *placement) placeAll(changes []Change) {
	for _, c := range changes {
		if c.Client == "" {
			c.Client = p.clients[cmp.Or(c.Session, c.Owner)]
		}
		if c.Time = c.Clock.Sub(p.file.Began) + p.offset; c.Time+tick > 0 {
			p.changes = append(p.changes, c)
		}
	}
	latest := p.latest()
	place := int64(0)
	for i, c := range p.changes {
		place = max(place, min(p.earliest(c), latest[i]))
		p.places = append(p.places, place)
	}
}

// latest is, for each change, the last place at which the tokens of calls allow it: that of a grant
// is before the return of its call, and a change is not behind later ones.
func (p *placement) latest() []int64 {
	list := make([]int64, len(p.changes))
	last := p.file.History.End
	for i := len(p.changes) - 1; i >= 0; i-- {
		c := p.changes[i]
		if n, known := p.granted[c.Czxid]; known && c.Kind == linearizability.NodeCreated {
			last = min(last, p.file.History.Ops[n].Return-1)
		}
		if n, known := p.makers[c.Zxid]; known {
			last = min(last, p.file.History.Ops[n].Return-1)
		}
		list[i] = last
	}
	return list
}

// earliest is the first place that the time of a change and the calls allow.
func (p *placement) earliest(c Change) int64 {
	from := p.before(c.Time)
	if n, known := p.granted[c.Czxid]; known && c.Kind == linearizability.NodeCreated {
		return max(from, p.file.History.Ops[n].Call)
	}
	if n, known := p.makers[c.Zxid]; known {
		return max(from, p.file.History.Ops[n].Call)
	}
	if call := p.callOf(c, from, p.before(c.Time+tick)); call != 0 {
		return max(from, call)
	}
	return from
}

// before is the number of steps before a time.
func (p *placement) before(at time.Duration) int64 {
	n, _ := slices.BinarySearch(p.times[1:], at)
	return int64(n)
}

// removals are the calls that delete znodes.
var removals = []string{
	ops.Unlock, ops.Release, ops.Resign, ops.Poll, ops.Take, ops.Ack, ops.Discard, ops.Remove,
	ops.Leave, ops.Evict, ops.Close,
}

// reads are the calls that change nothing.
var reads = []string{
	ops.Use, ops.Leader, ops.Peek, ops.Read, ops.Get, ops.IsSet, ops.View, ops.Pick, ops.Ready,
	ops.Look, ops.Settle,
}

// callOf is the step of the call that made a change between two places, 0 if there is none. Of
// several calls a delete belongs to the last removal, or else to the last one, and another change
// to the first one that has not made a change of this kind.
func (p *placement) callOf(c Change, from, to int64) (call int64) {
	if c.Session == 0 {
		return 0
	}
	kind := c.Kind.String() + c.Path
	if p.used[c.Session] == nil {
		p.used[c.Session] = map[string]int64{}
	}
	removes := false
	for _, i := range p.own[c.Session] {
		op := p.file.History.Ops[i]
		if op.Call > to || op.Return >= 0 && op.Return <= from || slices.Contains(reads, op.Kind) {
			continue
		}
		if removal := slices.Contains(removals, op.Kind); removal || !removes {
			call, removes = op.Call, removal && c.Kind == linearizability.NodeDeleted
		}
		if c.Kind != linearizability.NodeDeleted && call > p.used[c.Session][kind] {
			break
		}
	}
	p.used[c.Session][kind] = max(p.used[c.Session][kind], call)
	return call
}

// merged is the history with the changes at their places, and steps for all.
func (p *placement) merged() linearizability.History {
	h := p.file.History
	h.Ops, h.Notices = slices.Clone(h.Ops), slices.Clone(h.Notices)
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.Call = p.moved(op.Call); op.Return >= 0 {
			op.Return = p.moved(op.Return)
		}
	}
	for i := range h.Notices {
		h.Notices[i].Step = p.moved(h.Notices[i].Step)
	}
	h.Server = []linearizability.ServerEvent{}
	for i, c := range p.changes {
		e := c.ServerEvent
		e.Step = p.places[i] + int64(i) + 1
		e.Time = max(c.Time, p.times[p.places[i]])
		if next := p.places[i] + 1; next < int64(len(p.times)) {
			e.Time = min(e.Time, p.times[next])
		}
		h.Server = append(h.Server, e)
		h.EndTime = max(h.EndTime, e.Time)
	}
	h.End = h.End + int64(len(p.changes))
	return h
}

// moved is the step of an event with the changes before it.
func (p *placement) moved(step int64) int64 {
	n, _ := slices.BinarySearch(p.places, step)
	return step + int64(n)
}
