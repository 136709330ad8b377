package builtin

import (
	"testing"

	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/saved"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/linearizability"
)

// FuzzRecipes plays our recipes: the first byte chooses one, and the others are its scenario.
// Unlike a target of fuzz.Fuzz it calls f.Fuzz itself, so that OSS-Fuzz and ClusterFuzz take it.
func FuzzRecipes(f *testing.F) {
	sound := Workloads().Sound()
	inputs := make([]*hunt.Inputs, len(sound))
	for i := range sound {
		f.Add(append([]byte{byte(i)}, "a scenario of a few faults"...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		i := int(data[0]) % len(sound)
		if inputs[i] == nil {
			base, err := saved.Play(scenario.Scenario{
				Workload: sound[i], Script: scenario.Script{Clients: 2, Rounds: 1}, Seed: 1})
			check.OK(t, err)
			made, err := hunt.NewInputs(base)
			check.OK(t, err)
			inputs[i] = &made
		}
		o, err := saved.Play(inputs[i].Scenario(data[1:]))
		check.OK(t, err)
		if o.Status() == linearizability.Violated {
			t.Fatal(o.Story())
		}
	})
}
