package scenario

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/sim"
	"github.com/zksim/zksim/fakezk/trace"
)

// RunBy is Run under a schedule of turns, of which choose says what comes next. The outcome is nil
// if choose has ended the run; it is an error if that does not end the code. Otherwise its scenario
// has the schedule that repeats it. With hidden counts, replies do not tell how many children a
// node has, unless they list them; see [sim.World].
func (s Scenario) RunBy(choose sim.Chooser, hideCounts bool) (*Outcome, error) {
	if err := s.playable(); err != nil {
		return nil, err
	}
	s.Schedule = sim.Schedule{Kind: sim.Turns}
	world, players := s.world()
	world.HideCounts = hideCounts
	end := 0 // of the numbers that are not 0
	world.Chooser = func(t trace.Turn) int {
		n := choose(t)
		if len(t.Things) > 1 {
			s.Schedule.Numbers = append(s.Schedule.Numbers, n)
		}
		if n > 0 {
			end = len(s.Schedule.Numbers)
		}
		return n
	}
	result, err := world.Run()
	if err != nil {
		return nil, err
	}
	if result.Dropped { // its scripts have ended in the midst
		if told := leaks(result); result.Spins && told != nil {
			err = fmt.Errorf("code must end when its connection is closed: %s", told[0])
		}
		return nil, err
	}
	s.Schedule.Numbers = s.Schedule.Numbers[:end]
	return s.outcome(result, players)
}
