package recipes_test

import (
	"fmt"

	"github.com/zksim/zksim/recipes"
)

func ExampleBarrier() {
	t, server, ctx := begin()
	defer t.End()
	gate := recipes.NewBarrier(server.Connect(t), "/gates/migration")
	if err := gate.Set(ctx); err != nil {
		fmt.Println(err)
		return
	}

	worker := recipes.NewBarrier(server.Connect(t), "/gates/migration")
	passed := make(chan error)
	go func() { passed <- worker.Wait(ctx) }()

	up, err := gate.IsSet(ctx)
	fmt.Println("up:", up, err)
	fmt.Println(gate.Remove(ctx))
	fmt.Println("passed:", <-passed)
	// Output:
	// up: true <nil>
	// <nil>
	// passed: <nil>
}

// Two workers begin together and end together.
func ExampleDoubleBarrier() {
	t, server, ctx := begin()
	defer t.End()
	results := make(chan error)
	for range 2 {
		member := recipes.NewDoubleBarrier(server.Connect(t), "/batches/7", 2)
		go func() {
			if err := member.Enter(ctx); err != nil {
				results <- err
				return
			}
			// the work
			results <- member.Leave(ctx)
		}()
	}
	fmt.Println(<-results, <-results)
	// Output: <nil> <nil>
}

// Workers begin when two of them are there. One that comes later begins at once.
func ExampleThresholdBarrier() {
	t, server, ctx := begin()
	defer t.End()
	quorum := recipes.NewThresholdBarrier(server.Connect(t), "/quorums/report")
	if err := quorum.Set(ctx, 2); err != nil {
		fmt.Println(err)
		return
	}
	results := make(chan error)
	for range 2 {
		worker := recipes.NewThresholdBarrier(server.Connect(t), "/quorums/report")
		go func() { results <- worker.Wait(ctx) }()
	}
	fmt.Println(<-results, <-results)
	fmt.Println("late:", quorum.Wait(ctx))
	// Output:
	// <nil> <nil>
	// late: <nil>
}
