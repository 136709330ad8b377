package recipes_test

import (
	"fmt"
	"time"

	"github.com/zksim/zksim/recipes"
)

func ExamplePriorityQueue() {
	t, server, ctx := begin()
	defer t.End()
	q := recipes.NewPriorityQueue(server.Connect(t), "/queues/repairs")
	fmt.Println(q.Offer(ctx, []byte("paint the door"), 9))
	fmt.Println(q.Offer(ctx, []byte("stop the leak"), 1))
	for range 2 {
		job, err := q.Take(ctx)
		fmt.Println(string(job), err)
	}
	// Output:
	// <nil>
	// <nil>
	// stop the leak <nil>
	// paint the door <nil>
}

func ExampleDelayQueue() {
	t, server, ctx := begin()
	defer t.End()
	q := recipes.NewDelayQueue(server.Connect(t), "/queues/reminders")
	fmt.Println(q.Offer(ctx, []byte("in a moment"), time.Now().Add(50*time.Millisecond)))
	fmt.Println(q.Offer(ctx, []byte("next year"), time.Now().AddDate(1, 0, 0)))
	reminder, err := q.Take(ctx)
	fmt.Println(string(reminder), err)
	_, ok, err := q.Poll(ctx)
	fmt.Println(ok, err)
	// Output:
	// <nil>
	// <nil>
	// in a moment <nil>
	// false <nil>
}

func ExampleLockQueue() {
	t, server, ctx := begin()
	defer t.End()
	q := recipes.NewLockQueue(server.Connect(t), "/queues/orders")
	if err := q.Offer(ctx, []byte("two shirts")); err != nil {
		fmt.Println(err)
		return
	}
	order, err := q.Take(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(order.Data()), "attempt", order.Attempt())
	fmt.Println(order.Release(ctx)) // could not be done now

	order, err = q.Take(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(order.Data()), "attempt", order.Attempt())
	fmt.Println(order.Ack(ctx))

	_, ok, err := q.Poll(ctx)
	fmt.Println(ok, err)
	fmt.Println(q.Close(ctx))
	// Output:
	// two shirts attempt 1
	// <nil>
	// two shirts attempt 2
	// <nil>
	// false <nil>
	// <nil>
}

func ExampleIDQueue() {
	t, server, ctx := begin()
	defer t.End()
	q := recipes.NewIDQueue(server.Connect(t), "/queues/rides")
	fmt.Println(q.Offer(ctx, "alice", []byte("to the station")))
	fmt.Println(q.Offer(ctx, "bob", []byte("to the airport")))
	fmt.Println(q.Remove(ctx, "alice")) // has changed her mind
	ride, err := q.Take(ctx)
	fmt.Println(string(ride), err)
	// Output:
	// <nil>
	// <nil>
	// 1 <nil>
	// to the airport <nil>
}
