package saved_test

import (
	"fmt"

	"github.com/zksim/zksim/fuzz/builtin"
	"github.com/zksim/zksim/fuzz/saved"
)

// A scenario file is a test: it has the expected outcome.
func ExampleParse() {
	file, err := saved.Parse("lost.yaml", []byte(`
workload: queue
implementation: recipes.ApacheQueue
clients: 1
rounds: 1
seed: 1
plan:
  - drop-reply client=a op=delete request=1
expect: violated
property: delivery
`), builtin.Find)
	if err != nil {
		panic(err)
	}
	replay, err := file.Check(false)
	if err != nil {
		panic(err)
	}
	fmt.Println(replay.Outcome.Property(), "is violated; problems:", len(replay.Problems))

	_, err = saved.Parse("bad.yaml", []byte("workload: queue\nclients: many\n"), builtin.Find)
	fmt.Println(err)
	// Output:
	// delivery is violated; problems: 0
	// bad.yaml:2:10: clients: found text; expected a whole number
}
