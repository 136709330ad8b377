package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zksim/zksim/recipes"
)

func ExampleLeaderLatch() {
	t, server, ctx := begin()
	defer t.End()
	first := recipes.NewLeaderLatch(server.Connect(t), "/services/report", "host-1")
	second := recipes.NewLeaderLatch(server.Connect(t), "/services/report", "host-2")
	for _, latch := range []*recipes.LeaderLatch{first, second} {
		if err := latch.Start(); err != nil {
			fmt.Println(err)
			return
		}
		if latch == first {
			term, err := first.Await(ctx) // so that it is the first
			fmt.Println("leads:", first.HasLeadership(), err, "fenced by an epoch:",
				term.Epoch() > 0)
		}
	}
	leader, ok, err := second.Leader(ctx)
	fmt.Println(leader.ID, ok, err)

	fmt.Println(first.Close(ctx))
	term, err := second.Await(ctx)
	fmt.Println("epoch has grown:", term.Epoch() > leader.Epoch, err)
	fmt.Println(second.Close(ctx))
	// Output:
	// leads: true <nil> fenced by an epoch: true
	// host-1 true <nil>
	// <nil>
	// epoch has grown: true <nil>
	// <nil>
}

// A listener is told when leadership begins and when it ends, for as long as the latch is open:
// here by an expired session, and by Close.
func ExampleLeaderLatch_listener() {
	t, server, ctx := begin()
	defer t.End()
	conn := server.Connect(t)

	latch := recipes.NewLeaderLatch(conn, "/services/report", "host-1")
	if err := latch.Start(); err != nil {
		fmt.Println(err)
		return
	}
	leads, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			term, err := latch.Await(ctx)
			if errors.Is(err, recipes.ErrClosed) {
				return
			}
			if err != nil { // the server refuses; the latch goes on trying
				time.Sleep(time.Second)
				continue
			}
			fmt.Println("starts leading")
			leads <- struct{}{}
			<-term.Lost()
			fmt.Println("stops leading")
		}
	}()
	<-leads
	if err := server.ExpireSession(conn.SessionID()); err != nil {
		fmt.Println(err)
	}
	<-leads
	fmt.Println(latch.Close(ctx))
	<-over
	// Unordered output:
	// starts leading
	// stops leading
	// starts leading
	// <nil>
	// stops leading
}

// The methods of a Leader are its listener: leadership begins with the call of TakeLeadership, and
// should end when its context is done. The cause of the context tells the reason.
func ExampleLeaderSelector_listener() {
	t, server, ctx := begin()
	defer t.End()
	leads := make(chan struct{})
	s := recipes.NewLeaderSelector(server.Connect(t), "/master", "host-1", recipes.LeaderFunc(func(
		ctx context.Context,
	) {
		fmt.Println("starts leading, fenced by an epoch:", recipes.LeaderEpoch(ctx) > 0)
		leads <- struct{}{}
		<-ctx.Done()
		fmt.Println("stops leading:", context.Cause(ctx))
	})).AutoRequeue()
	if err := s.Start(); err != nil {
		fmt.Println(err)
		return
	}
	<-leads
	fmt.Println("interrupted:", s.Interrupt())
	<-leads
	fmt.Println("closed:", s.Close(ctx))
	// Unordered output:
	// starts leading, fenced by an epoch: true
	// interrupted: true
	// stops leading: leader was interrupted
	// starts leading, fenced by an epoch: true
	// stops leading: recipe is closed
	// closed: <nil>
}

// awaitLast waits until a candidate is the last in the queue.
func awaitLast(s *recipes.LeaderSelector, name string) {
	for {
		list, err := s.Participants(context.Background())
		if err != nil {
			fmt.Println(err)
			return
		}
		if len(list) > 0 && list[len(list)-1].ID == name {
			return
		}
	}
}

// Three candidates take turns. Each prints that it leads, and returns to let the next one lead.
func ExampleLeaderSelector() {
	t, server, ctx := begin()
	defer t.End()
	turns := make(chan string)
	var selectors []*recipes.LeaderSelector
	for i := 1; i <= 3; i++ {
		name := fmt.Sprint("candidate ", i)
		s := recipes.NewLeaderSelector(server.Connect(t), "/master", name, recipes.LeaderFunc(func(
			ctx context.Context,
		) {
			select {
			case turns <- name:
			case <-ctx.Done(): // lost, interrupted or closed
			}
		})).AutoRequeue()
		if err := s.Start(); err != nil {
			fmt.Println(err)
			return
		}
		selectors = append(selectors, s)
		awaitLast(s, name) // one after the other
	}
	for range 6 {
		name := <-turns
		fmt.Println(name)
		awaitLast(selectors[0], name) // it queues again
	}
	for _, s := range selectors {
		if err := s.Close(ctx); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// candidate 1
	// candidate 2
	// candidate 3
	// candidate 1
	// candidate 2
	// candidate 3
}
