package recipes_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// begin starts a server for an example.
func begin() (*testconn.ExampleT, *fakezk.Server, context.Context) {
	t := &testconn.ExampleT{}
	return t, fakezk.Start(t), context.Background()
}

func ExampleLock() {
	t, server, ctx := begin()
	defer t.End()
	mine := recipes.NewLock(server.Connect(t), "/locks/report")
	other := recipes.NewLock(server.Connect(t), "/locks/report")

	if err := mine.Lock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	got, err := other.TryLock(ctx)
	fmt.Println("other:", got, err)

	first := mine.Token()
	if err := mine.Unlock(ctx); err != nil {
		fmt.Println(err)
		return
	}
	got, err = other.TryLock(ctx)
	fmt.Println("other:", got, err)
	fmt.Println("token has grown:", other.Token() > first)
	fmt.Println(other.Close(ctx))
	// Output:
	// other: false <nil>
	// other: true <nil>
	// token has grown: true
	// <nil>
}

// The context of the work ends with the hold, here with the session of the owner.
func ExampleLock_Do() {
	t, server, ctx := begin()
	defer t.End()
	conn := server.Connect(t)
	lock := recipes.NewLock(conn, "/locks/report")

	fmt.Println(lock.Do(ctx, func(ctx context.Context, token int64) error {
		fmt.Println("works with a token:", token == lock.Token())
		return nil
	}))
	fmt.Println(lock.Do(ctx, func(ctx context.Context, _ int64) error {
		if err := server.ExpireSession(conn.SessionID()); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}))
	fmt.Println(lock.Close(ctx))
	// Output:
	// works with a token: true
	// <nil>
	// work under /locks/report: lock was lost while it was held
	// <nil>
}

// Counters of a lock; expvar.Publish("lock", &counts) shows them.
func ExampleObserve() {
	t, server, ctx := begin()
	defer t.End()
	var counts recipes.EventCounts
	lock := recipes.NewLock(server.Connect(t), "/locks/report",
		recipes.Observe(counts.Count), recipes.Observe(recipes.LogEvents(slog.Default())))

	fmt.Println(lock.Lock(ctx))
	fmt.Println(lock.Close(ctx))
	fmt.Println(&counts)
	// Output:
	// <nil>
	// <nil>
	// {"wait": 0, "grant": 1, "release": 1, "loss": 0, "retry": 0, "answer": 0}
}

func ExampleQueue() {
	t, server, ctx := begin()
	defer t.End()
	producer := recipes.NewQueue(server.Connect(t), "/queues/mail")
	for _, letter := range []string{"first", "second"} {
		if err := producer.Offer(ctx, []byte(letter)); err != nil {
			fmt.Println(err)
			return
		}
	}

	consumer := recipes.NewQueue(server.Connect(t), "/queues/mail")
	for range 2 {
		letter, err := consumer.Take(ctx)
		fmt.Println(string(letter), err)
	}
	_, ok, err := consumer.Poll(ctx)
	fmt.Println(ok, err)
	// Output:
	// first <nil>
	// second <nil>
	// false <nil>
}
