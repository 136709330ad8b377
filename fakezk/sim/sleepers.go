package sim

import (
	"cmp"
	"slices"
	"time"
)

// sleeper is a client's goroutine that wants to be woken.
type sleeper struct {
	client *Client
	name   string // of a Goroutine, with its request; see AwaitTurn
	at     time.Duration
	woken  chan struct{}
}

// addSleeper and scriptEnded append, in any goroutine, to the lists that collect reads.
func (s *simulation) addSleeper(z sleeper) {
	s.mu.Lock()
	s.sleepers = append(s.sleepers, z)
	s.mu.Unlock()
	s.wakeUp()
}

func (s *simulation) scriptEnded(c *Client) {
	s.mu.Lock()
	s.ended = append(s.ended, c)
	s.mu.Unlock()
	s.wakeUp()
}

// scriptIsOver counts a script that has ended, by itself or with its process.
func (s *simulation) scriptIsOver(c *Client) {
	if !c.done {
		c.done = true
		s.running--
	}
}

// scheduleWakeUps schedules the wake-ups of one step's sleepers in an order that does not depend on
// their arrival. Sleepers of one client with the same name and time wake together.
func (s *simulation) scheduleWakeUps(sleepers []sleeper) {
	slices.SortStableFunc(sleepers, compareSleepers)
	for _, z := range sleepers {
		z.client.counted.Acts(s.agenda.Elapsed())
	}
	for len(sleepers) > 0 {
		n := 1
		for n < len(sleepers) && compareSleepers(sleepers[n], sleepers[0]) == 0 {
			n++
		}
		group := sleepers[:n:n]
		s.agenda.Schedule(group[0].at, func() {
			for _, z := range group {
				close(z.woken)
				z.client.markWoken()
			}
		})
		sleepers = sleepers[n:]
	}
}

// markWoken notes that the World wakes the client at this instant.
func (c *Client) markWoken() {
	c.sim.agenda.Woke()
	c.counted.Woken(c.sim.agenda.Elapsed())
}

func compareSleepers(a, b sleeper) int {
	return cmp.Or(cmp.Compare(a.client.index, b.client.index), cmp.Compare(a.at, b.at),
		cmp.Compare(a.name, b.name))
}

func (s *simulation) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
