package hunt

import (
	"slices"
	"testing"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/mix"
	"pgregory.net/rapid"
)

// calmLocks is a run of locks without faults.
func calmLocks(t *testing.T) *scenario.Outcome {
	t.Helper()
	w, err := builtin.Find("lock", "")
	check.OK(t, err)
	base, err := scenario.Scenario{
		Workload: w, Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1,
	}.Run()
	check.OK(t, err)
	return base
}

func inputs(t *testing.T) Inputs {
	t.Helper()
	in, err := NewInputs(calmLocks(t))
	check.OK(t, err)
	return in
}

// TestEveryInputOfTheEngineIsAScenario: however short or long, none is skipped, and it
// means the same each time.
func TestEveryInputOfTheEngineIsAScenario(t *testing.T) {
	in := inputs(t)
	for _, length := range []int{0, 1, 15, 16, 17, 24, 31, 48, 512, 8192} {
		for n := range uint64(20) {
			data := make([]byte, length)
			for i := range data {
				data[i] = byte(mix.Hash(n, uint64(i)))
			}
			s := in.Scenario(data)
			if again := in.Scenario(data); again.String() != s.String() ||
				!slices.Equal(again.Plan, s.Plan) {
				t.Errorf("%x is %s, plan %v, and then %s, plan %v", data, s, s.Plan,
					again, again.Plan)
			}
			if most := min(4, max(0, (length-9)/8)); len(s.Plan) > most ||
				length >= 24 && len(s.Plan) == 0 {
				t.Errorf("%d bytes are %d faults; want 1 to %d", length, len(s.Plan), most)
			}
			if n > 0 {
				continue // to play one is enough
			}
			if _, err := s.Run(); err != nil {
				t.Errorf("%x: %v", data, err)
			}
		}
	}
}

// TestBytesOfOneFaultChangeThatFault, so that the engine finds its way step by step.
func TestBytesOfOneFaultChangeThatFault(t *testing.T) {
	in := inputs(t)
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 40, 40).Draw(t, "data")
		s := in.Scenario(data)
		if len(s.Plan) != 3 {
			return // two of them are equal
		}
		data[24+rapid.IntRange(0, 7).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		other := in.Scenario(data)
		if len(other.Plan) == 3 && (other.Seed != s.Seed || other.Plan[0] != s.Plan[0] ||
			other.Plan[2] != s.Plan[2]) {
			t.Errorf("%v became %v", s.Plan, other.Plan)
		}
	})
}

// TestInputsAreManyScenarios, the negative control: they are not all the same.
func TestInputsAreManyScenarios(t *testing.T) {
	in := inputs(t)
	kinds, schedules := map[any]bool{}, map[any]bool{}
	for n := range uint64(100) {
		data := make([]byte, 24)
		for i := range data {
			data[i] = byte(mix.Hash(n, uint64(i)))
		}
		s := in.Scenario(data)
		kinds[s.Plan[0].Kind], schedules[s.Schedule.Kind] = true, true
	}
	if len(kinds) < 10 || len(schedules) != 2 {
		t.Errorf("100 inputs have faults of %d kinds and schedules of %d", len(kinds),
			len(schedules))
	}
}
