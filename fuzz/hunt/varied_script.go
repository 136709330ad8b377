package hunt

import (
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/mix"
)

// variedScript is the script of a scenario with a seed. It differs from that of the run without
// faults in numbers that the latter leaves open. In one scenario of four, two or three goroutines
// of each client share an object that is made for that. In one of eight there are three servers.
func variedScript(base *scenario.Outcome, seed uint64) scenario.Script {
	s := base.Scenario.Script
	if base.Scenario.On != nil {
		return s
	}
	const goroutines, servers = 0x676f, 0x7365 // labels of the draws
	if n := mix.Hash(seed, goroutines) % 8; n < 2 && s.Goroutines == 0 && base.Shared {
		s.Goroutines = 2 + int(n)
	}
	if mix.Hash(seed, servers)%8 == 0 && s.Servers == 0 {
		s.Servers = 3
	}
	return s
}

// of is the space for a scenario whose script may have other numbers than the run without faults.
// Each of n goroutines makes as many requests as one.
func (p planSpace) of(s scenario.Scenario) planSpace {
	more := p
	more.kinds = s.Kinds()
	n := s.Script.Goroutines
	if n <= 1 {
		return more
	}
	more.requests, more.events = map[string]int{}, map[string]int{}
	for _, client := range p.clients {
		more.requests[client] = n * p.requests[client]
		more.events[client] = n * p.events[client]
	}
	more.messages *= n
	return more
}
