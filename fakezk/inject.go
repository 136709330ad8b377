package fakezk

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/fakezk/internal/carry"
	"github.com/zksim/zksim/fakezk/internal/engine"
)

// FaultStatus is a fault that Inject armed, and how far it has come.
type FaultStatus struct {
	// Fault is as it was given, but for a session's id, which became its name.
	Fault fault.Fault
	// Matched is how many requests or events it has selected, up to the one whose
	// turn it was; 0 for a fault bound to a time.
	Matched int
	// Fired says that it has acted on something.
	Fired bool
}

// maxArmed bounds the faults that a server remembers.
const maxArmed = 1000

// Inject arms a fault on the running server. It means what it means in the Plan
// of a World, with these readings:
//
//   - Request and Event count from now on, and At is the time from now, in real
//     time or in that of the bubble of the server.
//   - Client selects a session: S1 is the first that was created on this server,
//     S2 the second (Sessions tells the names); 0x and hexadecimal digits is the
//     id of a live one. A session that is still to come may be named. Empty means
//     any session for Request and Event, and all connections for At.
//   - Conn counts the connections of the session on which it was granted or
//     taken up again, from 1.
//   - A server knows whose dial it is from the handshake. So a connection of a
//     session whose dials fail is reset at its handshake, and one whose dials hang
//     stays silent until that is over and is then served. Only where the fault
//     hits everybody, dials of Dialer fail at once.
//   - A four-letter word is on hold, lost or refused as a handshake is that asks
//     for a new session. No request coordinate counts it.
//   - An event that a fault on a request loses is counted too.
//
// A connection on hold loses nothing and keeps its order; a client that closes
// it is heard of in its turn, and one that closes its direction of a TCP
// connection still gets what is on hold for it. A connection is reset when it
// holds more than 64 MiB from the client, or more than Options.MaxQueued to it.
// Stop, Restart, DropConnections and Close end what is on hold and do not wait
// for it.
//
// Faults that fired stay on the list that Faults returns, until ClearFaults; at
// most 1000 fit. The error says what is wrong with the fault, as Validate does,
// or with its Client.
func (s *Server) Inject(f fault.Fault) error {
	if err := f.Validate(); err != nil {
		return fmt.Errorf("fakezk: inject: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("fakezk: inject: fault %q: %w", f, ErrStopped)
	}
	if f.Client != "" {
		name, err := s.roster.resolve(f.Client)
		if err != nil {
			return fmt.Errorf("fakezk: inject: fault %q: %w", f, err)
		}
		f.Client = name
	}
	in := s.injection()
	if len(in.armed) >= maxArmed {
		return fmt.Errorf("fakezk: inject: fault %q: %d faults are on the list already; call ClearFaults", f, maxArmed)
	}
	in.arm(f, time.Now())
	return nil
}

// ClearFaults disarms all faults and ends what they do at once: what is on hold
// flows, in order; connections in a black hole are reset; dials succeed;
// ephemerals that late-reap left go. It ends StallConnections too.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clearFaults(time.Now())
	s.schedule()
}

func (s *Server) clearFaults(now time.Time) {
	if s.inject != nil {
		s.inject.clear(now)
	}
	s.deliver(s.engine.ReapEnded(now))
}

// Faults lists the faults that Inject armed since the last ClearFaults, in that
// order.
func (s *Server) Faults() []FaultStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inject == nil {
		return nil
	}
	list := make([]FaultStatus, len(s.inject.armed))
	for i, f := range s.inject.armed {
		list[i] = FaultStatus{Fault: f.Fault, Matched: f.Seen, Fired: f.Fired}
	}
	return list
}

// StallConnections holds all bytes, both ways, of the connections of the given
// sessions, or of all connections if none is given, for a while; then they flow
// in order. Connections made later are not concerned. ClearFaults ends it.
func (s *Server) StallConnections(d time.Duration, sessions ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, l := range s.linksOf(sessions) {
		s.injection().stall(l, now.Add(d))
	}
}

// injector lets faults act on a Server. A server has one from the first Inject
// until ClearFaults; it is guarded by the server's mutex. Frames pass through it
// on their way to the engine (take) and back (takeOutput). It starts no goroutine:
// one timer stands for all that is bound to a time.
type injector struct {
	server  *Server
	armed   []*carry.Armed
	waiting []*carry.Armed // those bound to a request or event that has not come
	timed   []timedFault
	outages []serverOutage
	// downTill is when a server that restarts is back.
	downTill time.Time
	// detours are the links that faults have led astray.
	detours map[engine.ConnID]*serverLink
	timer   *time.Timer
	timerAt time.Time
}

type timedFault struct {
	*carry.Armed
	at time.Time
}

// injection is the server's injector, made when it is first needed.
func (s *Server) injection() *injector {
	if s.inject == nil {
		s.inject = &injector{server: s, detours: map[engine.ConnID]*serverLink{}}
	}
	return s.inject
}

func (in *injector) arm(f fault.Fault, now time.Time) {
	state := &carry.Armed{Fault: f}
	in.armed = append(in.armed, state)
	if f.At == 0 {
		in.waiting = append(in.waiting, state)
		return
	}
	in.timed = append(in.timed, timedFault{state, now.Add(f.At)})
	in.wakeAt(now.Add(f.At))
}

// due is the faults whose turn comes with a coordinate.
func (in *injector) due(c fault.Coordinate) []*carry.Armed {
	now := carry.Due(in.waiting, c)
	if len(now) > 0 {
		in.waiting = slices.DeleteFunc(in.waiting, (*carry.Armed).TurnHasCome)
	}
	return now
}

// wakeAt sees to it that wake is called at a time, or before.
func (in *injector) wakeAt(at time.Time) {
	if !in.timerAt.IsZero() && !at.Before(in.timerAt) {
		return
	}
	in.timerAt = at
	if in.timer == nil {
		in.timer = time.AfterFunc(time.Until(at), in.wake)
		return
	}
	in.timer.Reset(time.Until(at))
}

// wake does what is due: faults bound to a time in the order in which they were
// armed, then connections on hold in theirs.
func (in *injector) wake() {
	s := in.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inject != in {
		return // cleared while the timer fired
	}
	now := time.Now()
	in.timerAt = time.Time{}
	in.fireTimed(now)
	for _, l := range in.inOrder() {
		in.release(l, now)
	}
	for _, f := range in.timed {
		in.wakeAt(f.at)
	}
	for _, l := range in.inOrder() {
		if at, ok := l.detour.next(now); ok {
			in.wakeAt(at)
		}
	}
	s.schedule()
}

func (in *injector) fireTimed(now time.Time) {
	timed := in.timed
	in.timed = nil
	for _, f := range timed {
		if now.Before(f.at) {
			in.timed = append(in.timed, f)
			continue
		}
		in.fireAt(f.Armed, now)
	}
}

func (in *injector) inOrder() []*serverLink {
	links := make([]*serverLink, 0, len(in.detours))
	for _, id := range slices.Sorted(maps.Keys(in.detours)) {
		links = append(links, in.detours[id])
	}
	return links
}

// clear disarms everything, lets go what is on hold and ends the injector.
func (in *injector) clear(now time.Time) {
	in.armed, in.waiting, in.timed, in.outages, in.downTill = nil, nil, nil, nil, time.Time{}
	for _, l := range in.inOrder() {
		if l.detour.lost {
			in.reset(l)
			continue
		}
		l.detour.relent(now)
		in.release(l, now)
	}
	in.end()
}

// cut ends the connections that are on a detour, whatever is on hold.
func (in *injector) cut(err error) {
	for _, l := range in.inOrder() {
		in.drop(l)
		in.forget(l)
		l.sink.Fail(err)
	}
}

// end stops the timer and takes the injector off the server.
func (in *injector) end() {
	if in.timer != nil {
		in.timer.Stop()
	}
	in.server.inject = nil
}
