package classic_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/classic"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

// begin starts a server for an example.
func begin() (*testconn.ExampleT, *fakezk.Server, context.Context) {
	t := &testconn.ExampleT{}
	return t, fakezk.Start(t), context.Background()
}

// The lock is its node: nothing is left behind for each of many names.
func ExampleHerdLock() {
	t, server, ctx := begin()
	defer t.End()
	conn := server.Connect(t)
	lock := classic.NewHerdLock(conn, "/orders/4711")

	fmt.Println(lock.Do(ctx, func(ctx context.Context, token int64) error {
		names, _, err := conn.Children("/orders")
		fmt.Println(slices.Contains(names, "4711"), token > 0)
		return err
	}))
	names, _, err := conn.Children("/orders")
	fmt.Println(len(names), err)
	fmt.Println(lock.Close(ctx))
	// Output:
	// true true
	// <nil>
	// 0 <nil>
	// <nil>
}

// printer prints its notifications.
type printer string

func (p printer) LockAcquired() { fmt.Println(p, "owns the lock") }
func (p printer) LockReleased() { fmt.Println(p, "owns it no longer") }

func ExampleWriteLock() {
	t, server, ctx := begin()
	defer t.End()
	mine := classic.NewWriteLock(server.Connect(t), "/locks/report", printer("mine"))
	other := classic.NewWriteLock(server.Connect(t), "/locks/report", nil)

	owned, err := other.Lock(ctx)
	fmt.Println("other:", owned, err)
	owned, err = mine.Lock(ctx) // does not wait
	fmt.Println("mine:", owned, err)
	fmt.Println(mine.IsOwner(), other.IsOwner())
	fmt.Println(mine.Close(ctx), other.Close(ctx))
	// Output:
	// other: true <nil>
	// mine: false <nil>
	// false true
	// <nil> <nil>
}

func ExampleVersionRWLock() {
	t, server, ctx := begin()
	defer t.End()
	mine := classic.NewVersionRWLock(server.Connect(t), "/locks/catalogue")
	other := classic.NewVersionRWLock(server.Connect(t), "/locks/catalogue")

	fmt.Println(mine.RLock(ctx), other.RLock(ctx))
	fmt.Println(mine.RUnlock(ctx))
	got, err := mine.TryLock(ctx)
	fmt.Println("write:", got, err)
	fmt.Println(other.RUnlock(ctx))
	got, err = mine.TryLock(ctx)
	fmt.Println("write:", got, err)
	fmt.Println(mine.Close(ctx), other.Close(ctx))
	// Output:
	// <nil> <nil>
	// <nil>
	// write: false <nil>
	// <nil>
	// write: true <nil>
	// <nil> <nil>
}

func ExampleTurnQueue() {
	t, server, ctx := begin()
	defer t.End()
	first := classic.NewTurnQueue(server.Connect(t), "/turns", recipes.Data([]byte("first")))
	second := classic.NewTurnQueue(server.Connect(t), "/turns", recipes.Data([]byte("second")))
	if err := first.Lock(ctx); err != nil { // joins; it is its turn
		fmt.Println(err)
		return
	}
	turn := make(chan error)
	go func() { turn <- second.Lock(ctx) }()
	for members := 0; members < 2; {
		line, err := second.Line(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		members = len(line)
	}
	fmt.Println("first leaves:", first.Unlock(ctx))
	fmt.Println("second has its turn:", <-turn)
	line, err := first.Line(ctx)
	fmt.Println(len(line), string(line[0].Data), err)
	fmt.Println(second.Close(ctx))
	// Output:
	// first leaves: <nil>
	// second has its turn: <nil>
	// 1 second <nil>
	// <nil>
}
