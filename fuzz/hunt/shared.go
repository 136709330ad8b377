package hunt

import (
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/mix"
)

// sharedScript is the script of a scenario with a seed. In one scenario of four, two or three
// goroutines of each client share an object that is made for that, unless the script of the run
// without faults has a number of goroutines.
func sharedScript(base *scenario.Outcome, seed uint64) scenario.Script {
	s := base.Scenario.Script
	if s.Goroutines > 0 || !base.Shared || base.Scenario.On != nil {
		return s
	}
	const label = 0x676f // of the draw
	if n := mix.Hash(seed, label) % 8; n < 2 {
		s.Goroutines = 2 + int(n)
	}
	return s
}

// times is the space for n goroutines of each client, which make n times as many requests.
func (p planSpace) times(n int) planSpace {
	if n <= 1 {
		return p
	}
	more := p
	more.requests, more.events = map[string]int{}, map[string]int{}
	for _, client := range p.clients {
		more.requests[client] = n * p.requests[client]
		more.events[client] = n * p.events[client]
	}
	more.messages *= n
	return more
}
