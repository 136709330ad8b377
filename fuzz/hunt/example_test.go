package hunt_test

import (
	"context"
	"fmt"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/hunt"
	"github.com/zksim/zksim/fuzz/scenario"
)

func ExampleRunSweep() {
	w, err := builtin.Find("lock", "recipes.Lock")
	if err != nil {
		panic(err)
	}
	s := scenario.Scenario{Workload: w, Script: scenario.Script{Clients: 1, Rounds: 1}, Seed: 1}
	sweep, err := hunt.RunSweep(context.Background(), s, hunt.Part{}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("survived all:", sweep.Points > 0 && sweep.Survived == sweep.Points)
	// Output: survived all: true
}
