package fakezk

import (
	"fmt"
	"time"

	"github.com/zksim/zksim/fakezk/fault"
)

// FaultStatus is a fault that Inject armed, and its progress.
type FaultStatus struct {
	// Number counts the faults that Inject armed on the server, from 1.
	Number int
	// Fault is the one given to Inject, with the name of a session in place of its id.
	Fault fault.Fault
	// Matched is the number of requests or events that it has selected so far, including the one it
	// acted on; 0 for a fault bound to a time.
	Matched int
	// Fired says that it has acted on something.
	Fired bool
}

// String has the fault and its progress in one line, as in "drop-reply op=create request=1: fired".
func (f FaultStatus) String() string {
	switch {
	case f.Fired:
		return f.Fault.String() + ": fired"
	case f.Fault.Request > 0:
		return fmt.Sprintf("%s: not fired, %d requests matched", f.Fault, f.Matched)
	case f.Fault.Event > 0:
		return fmt.Sprintf("%s: not fired, %d notifications matched", f.Fault, f.Matched)
	}
	return f.Fault.String() + ": not fired"
}

// maxArmed bounds the faults that a server remembers.
const maxArmed = 1000

// Inject arms a fault on the running server. It means the same as in the Plan of a World, with
// these differences:
//
//   - Request and Event count from now on, and At is the time from now, in real
//     time or in that of the bubble of the server.
//   - Client selects a session: S1 is the first that was created on this server, S2 the second
//     (Sessions tells the names); 0x and hexadecimal digits is the id of a live one. Sessions of
//     DialerAs have its name. The name of a later session is allowed. Empty means any session for
//     Request and Event, and all connections for At.
//   - Conn is the number of the session's connection, from 1. A connection counts if the session
//     was granted or taken up again on it.
//   - A server learns from the handshake to which session a dial belongs. So a fault that lets the
//     dials of a session fail resets its connection at the handshake. A fault that lets them hang
//     keeps the connection silent until the fault is over; then it is served. Dials of Dialer fail
//     at once only if the fault hits all sessions.
//   - A four-letter word is held, lost or refused like a handshake for a new session. No request
//     coordinate counts it.
//   - An event is counted even if a fault on a request loses it.
//
// A connection on hold loses nothing and keeps its order. If the client closes it, the close takes
// effect after the messages held before it. A client that closes its direction of a TCP connection
// still gets the bytes held for it. A connection is reset when it holds more than 64 MiB from the
// client, or more than Options.MaxQueued to it. Stop, Restart, DropConnections and Close end
// connections on hold without waiting for their messages.
//
// Faults that fired stay in the list of Faults until ClearFaults. The list has room for 1000. The
// error names the mistake in the fault, as Validate does, or in its Client.
func (s *Server) Inject(f fault.Fault) error {
	if err := f.Validate(); err != nil {
		return fmt.Errorf("fakezk: inject: %w", err)
	}
	if f.Kind.NeedsWorld() {
		return fmt.Errorf("fakezk: inject: fault %q: %s acts in the process of a client, which "+
			"only a simulated World has; on a Server use %s", f, f.Kind, insteadOf(f.Kind))
	}
	if f.Kind.NeedsEnsemble() && s.opts.Servers == 1 {
		return fmt.Errorf("fakezk: inject: fault %q: needs an ensemble; see Options.Servers", f)
	}
	if f.Server > s.opts.Servers {
		return fmt.Errorf("fakezk: inject: fault %q: there is no server %d", f, f.Server)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.front.closed {
		return fmt.Errorf("fakezk: inject: fault %q: %w", f, ErrStopped)
	}
	if f.Client != "" {
		name, err := s.names.resolve(f.Client)
		if err != nil {
			return fmt.Errorf("fakezk: inject: fault %q: %w", f, err)
		}
		f.Client = name
	}
	if len(s.faults.list()) >= maxArmed {
		return fmt.Errorf(
			"fakezk: inject: fault %q: %d faults are on the list already; call ClearFaults",
			f, maxArmed)
	}
	s.recorder.call("inject", "", "%s", f)
	s.faults.arm(f)
	return nil
}

// insteadOf is what does on a Server what a kind of fault does to the client in a World.
func insteadOf(k fault.Kind) string {
	if k == fault.Pause {
		return "delay or stall"
	}
	return "expire or blackhole, or end the process of the client"
}

// ClearFaults disarms all faults and ends their effects at once: held messages flow, in order;
// connections in a black hole are reset; dials succeed; ephemerals kept by late-reap are deleted.
// It ends StallConnections too.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorder.call("clear", "", "")
	s.faults.clear()
	s.expiry.schedule()
}

// Faults lists the faults that Inject armed since the last ClearFaults, in that order.
func (s *Server) Faults() []FaultStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.list()
}

// StallConnections holds all bytes, both ways, of the connections of the given sessions for the
// time d; then they flow in order. If no session is given, it holds those of all connections. Later
// connections are not held. ClearFaults ends it.
func (s *Server) StallConnections(d time.Duration, sessions ...int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorder.call("stall", "", "%s of %s", d, s.recorder.sessionsText(sessions))
	s.faults.stall(d, sessions)
}
