package carry

import (
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
)

// An outage is a time in which the dials of a client, or of all clients, fail or hang: that of a
// Refuse or Blackhole.
type outage struct {
	fault  *Armed
	client int64 // 0 means all clients
	until  time.Duration
}

// RefusalPause keeps a client that dials in a loop from filling the trace.
const RefusalPause = 100 * time.Millisecond

// Answer is the result of a dial.
type Answer int

// The answers to a dial.
const (
	Accepted Answer = iota
	Refused
	Hangs // until a time
)

// Dial returns the result of a client's dial of a server and, if the dial hangs, the time until
// which it does. The client is 0 if it is not known.
func (n *Network) Dial(
	client int64, server int, now time.Duration,
) (answer Answer, until time.Duration, struck []Action) {
	if until, struck = n.hit(fault.Blackhole, client, server, now); until > 0 {
		return Hangs, until, struck
	}
	refused, struck := n.Refuses(client, server, now)
	if refused {
		return Refused, 0, struck
	}
	return Accepted, 0, nil
}

// Refuses reports whether a dial fails at once.
func (n *Network) Refuses(client int64, server int, now time.Duration) (bool, []Action) {
	until, actions := n.hit(fault.Refuse, client, server, now)
	return until > 0 || n.IsDown(server, now), actions
}

// IsDown reports whether a server is down, and so ends no session.
func (n *Servers) IsDown(server int, now time.Duration) bool { return now < n.backAt[server] }

// TakeDown takes a server down until a time: its connections end and dials fail. One that is down
// already may stay so for longer, and one that is cut off stays so until it reaches the others. One
// that stands still does so no more, and one that is apart is with the others when it is back.
func (n *Network) TakeDown(server int, until time.Duration) []Action {
	return append(n.goDown(server), n.endAll(server, until)...)
}

// TakeDownOthers takes those servers down that are not apart.
func (n *Network) TakeDownOthers(until time.Duration) (actions []Action) {
	for server := range n.ensemble.Servers {
		if !n.apart[server] {
			actions = append(actions, n.TakeDown(server, until)...)
		}
	}
	return actions
}

// goDown ends that a server is apart, if it is, and lets it forget its requests.
func (n *Servers) goDown(server int) []Action {
	delete(n.apart, server)
	delete(n.believes, server)
	return []Action{act(func(d Driver) { d.Down(server) })}
}

// endAll ends the connections of a server that goes down.
func (n *Network) endAll(server int, until time.Duration) (ends []Action) {
	delete(n.paused, server)
	n.backAt[server] = max(n.backAt[server], n.cutOff[server].until, until)
	for _, c := range n.Conns() {
		if c.Server == server && c.known() {
			ends = append(ends, c.endSoon(errReset)...)
		}
	}
	return ends
}

// BackAt is when a server that is down is back; 0 if it is not down.
func (n *Servers) BackAt(server int, now time.Duration) time.Duration {
	if !n.IsDown(server, now) {
		return 0
	}
	return n.backAt[server]
}

// Revive brings a server back at once, which is not behind then.
func (n *Servers) Revive(server int) {
	delete(n.backAt, server)
	delete(n.lagging, server)
}

// hit lets the outages of a kind act on a dial. They last until a time, 0 if there are none.
func (n *Network) hit(
	kind fault.Kind, client int64, server int, now time.Duration,
) (until time.Duration, struck []Action) {
	for _, o := range n.outages {
		if o.fault.Kind == kind && now < o.until && (o.client == 0 || o.client == client) &&
			o.fault.concerns(server) {
			until = max(until, o.until)
			struck = append(struck, n.Fired(o.fault)...)
		}
	}
	return until, struck
}

// concerns reports whether the fault is one of a server, or of all.
func (f *Armed) concerns(server int) bool { return f.Server == 0 || f.Server == server+1 }

// addOutage begins an outage, and reports whether one of its kind was on already.
func (n *Network) addOutage(f *Armed, client int64, now time.Duration) (already bool) {
	n.outages = slices.DeleteFunc(n.outages, func(o outage) bool { return o.until <= now })
	already = slices.ContainsFunc(n.outages, func(o outage) bool {
		return o.fault.Kind == f.Kind && (o.client == 0 || client == 0 || o.client == client) &&
			(f.Server == 0 || o.fault.concerns(f.Server-1))
	})
	n.outages = append(n.outages, outage{f, client, now + f.For})
	return already
}
