package recipes_test

import (
	"fmt"
	"time"

	"github.com/zksim/zksim/recipes"
)

// Two accounts agree on a transfer, each in its own process.
func ExampleTwoPhaseCommit() {
	t, server, ctx := begin()
	defer t.End()
	coordinator := recipes.NewTwoPhaseCommit(server.Connect(t), "/transfers/17")
	err := coordinator.Begin(ctx, recipes.Transaction{
		Sites: []string{"ann", "bob"}, Deadline: time.Now().Add(time.Minute), Data: []byte(
			"10 from ann to bob",
		),
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	account := func(site *recipes.TwoPhaseCommit, name string, agrees bool) error {
		if err := site.Vote(ctx, name, agrees); err != nil {
			return err
		}
		if _, err := site.Await(ctx); err != nil {
			return err
		}
		// do what was decided, and then:
		return site.Done(ctx, name)
	}
	done := make(chan error)
	for _, name := range []string{"ann", "bob"} {
		site := recipes.NewTwoPhaseCommit(server.Connect(t), "/transfers/17")
		go func() { done <- account(site, name, true) }()
	}

	decision, err := coordinator.Await(ctx)
	fmt.Println("commit:", decision.Commit, err)
	fmt.Println(<-done, <-done)
	fmt.Println("forgotten:", coordinator.Forget(ctx))
	// Output:
	// commit: true <nil>
	// <nil> <nil>
	// forgotten: <nil>
}
