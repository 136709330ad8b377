package sim

import "github.com/zksim/zksim/fakezk/trace"

// noteStates notes the states of the servers that the last event has changed. One server has no
// states.
func (s *replicas) noteStates() {
	if s.number == 1 {
		return
	}
	if s.states == nil {
		s.states = make([]trace.ServerState, s.number)
	}
	for i := range s.states {
		if state := s.state(i); state != s.states[i] {
			s.states[i] = state
			s.record.Server(state)
		}
	}
}

// state is the present state of a server.
func (s *replicas) state(server int) trace.ServerState {
	now := s.agenda.Now()
	return trace.ServerState{
		Server:   server + 1,
		Zxid:     s.engine.StoreOf(server).LastZxid(),
		Leads:    server == s.engine.Leader(),
		Believes: s.faults.BelievesUntil(server) > 0 && s.faults.IsApart(server),
		Down:     s.faults.IsDown(server, now),
		Paused:   s.faults.PausedUntil(server, now) > 0,
		CutOff:   s.faults.IsCutOff(server, now),
		Lags:     s.faults.LagsUntil(server) > now,
	}
}
