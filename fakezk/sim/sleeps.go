package sim

import (
	"cmp"
	"slices"
)

// scheduleWakeUps schedules the wake-ups of one step's sleepers in an order that does not depend on
// their arrival. Sleepers of one client with the same name and time wake together.
func (s *loop) scheduleWakeUps(sleepers []sleeper) {
	slices.SortStableFunc(sleepers, compareSleepers)
	for _, z := range sleepers {
		z.process.counted.Acts(s.agenda.Elapsed())
	}
	for len(sleepers) > 0 {
		n := 1
		for n < len(sleepers) && compareSleepers(sleepers[n], sleepers[0]) == 0 {
			n++
		}
		group := sleepers[:n:n]
		wake := func() {
			for _, z := range group {
				z.wake()
			}
		}
		if s.turns.on() {
			s.turns.sleep(group, wake)
		} else {
			s.agenda.Schedule(group[0].at, wake)
		}
		sleepers = sleepers[n:]
	}
}

func compareSleepers(a, b sleeper) int {
	return cmp.Or(cmp.Compare(a.process.index, b.process.index), cmp.Compare(a.at, b.at),
		cmp.Compare(a.name, b.name))
}
