package trace

import (
	"cmp"
	"iter"
	"slices"
)

// Notes collect the facts of a run besides its trace, each with its moment. The zero value is
// empty. Into turns moments into line numbers.
type Notes struct {
	notices  []noted[Notice]
	requests []noted[RequestPoint]
	events   []noted[EventPoint]
	changes  []noted[Change]
	strikes  []noted[pendingStrike]
	servers  []noted[ServerState]
	messages []pendingMessage
}

type noted[T any] struct {
	at   Moment
	what T
}

type pendingStrike struct {
	Strike
	fired *bool
}

// pendingMessage is a message with its moments. arrived is 0 until it arrives.
type pendingMessage struct {
	Message
	from, arrived Moment
}

// Notice adds a notice of a client.
func (n *Notes) Notice(at Moment, what Notice) {
	n.notices = append(n.notices, noted[Notice]{at, what})
}

// Request adds a request as a coordinate.
func (n *Notes) Request(at Moment, what RequestPoint) {
	n.requests = append(n.requests, noted[RequestPoint]{at, what})
}

// Event adds a notification as a coordinate.
func (n *Notes) Event(at Moment, what EventPoint) {
	n.events = append(n.events, noted[EventPoint]{at, what})
}

// Change adds a change at the server.
func (n *Notes) Change(at Moment, what Change) {
	n.changes = append(n.changes, noted[Change]{at, what})
}

// Server adds a new state of one of several servers.
func (n *Notes) Server(at Moment, what ServerState) {
	n.servers = append(n.servers, noted[ServerState]{at, what})
}

// Notified adds notifications to the counts of a transaction's changes, after another server has
// sent some.
func (n *Notes) Notified(zxid int64, number func(Change) int) {
	for i := len(n.changes) - 1; i >= 0 && n.changes[i].what.Zxid >= zxid; i-- {
		if c := &n.changes[i].what; c.Zxid == zxid {
			c.Notified += number(*c)
		}
	}
}

// Strike adds a fault that acts. It counts only if *fired is true when the run has ended.
func (n *Notes) Strike(at Moment, what Strike, fired *bool) {
	n.strikes = append(n.strikes, noted[pendingStrike]{at, pendingStrike{what, fired}})
}

// Sent adds a message that was sent, and returns its number for Arrived. from is the moment of the
// line that caused it, or of the next line.
func (n *Notes) Sent(from Moment, what Message) int {
	if n.messages == nil {
		n.messages = make([]pendingMessage, 0, 512) // room for most runs
	}
	n.messages = append(n.messages, pendingMessage{Message: what, from: from})
	return len(n.messages)
}

// Arrived says that a message arrived or, if lost is set, that a fault took it.
func (n *Notes) Arrived(number int, at Moment, lost bool) {
	m := &n.messages[number-1]
	m.arrived, m.Lost = at, lost
}

// Into adds the notes to a Result with a complete Trace. Notes of the moment AfterEnd are left out.
func (n *Notes) Into(r *Result) {
	slices.SortStableFunc(n.notices, func(a, b noted[Notice]) int {
		return cmp.Compare(a.at, b.at)
	})
	for step, p := range numbered(r.Trace, n.notices) {
		p.Step = step
		r.Notices = append(r.Notices, p)
	}
	for step, p := range numbered(r.Trace, n.requests) {
		p.Step = step
		r.Requests = append(r.Requests, p)
	}
	for step, p := range numbered(r.Trace, n.events) {
		p.Step = step
		r.Events = append(r.Events, p)
	}
	for step, p := range numbered(r.Trace, n.changes) {
		p.Step = step
		r.Changes = append(r.Changes, p)
	}
	for step, p := range numbered(r.Trace, n.servers) {
		p.Step = step
		r.Servers = append(r.Servers, p)
	}
	r.messages = n.messages
	for step, p := range numbered(r.Trace, n.strikes) {
		if *p.fired {
			p.Step = step
			r.Strikes = append(r.Strikes, p.Strike)
		}
	}
}

// numbered yields notes with their line numbers, except notes of the moment AfterEnd.
func numbered[T any](t Trace, notes []noted[T]) iter.Seq2[int64, T] {
	return func(yield func(int64, T) bool) {
		for _, n := range notes {
			if n.at != AfterEnd && !yield(t.find(n.at), n.what) {
				return
			}
		}
	}
}
