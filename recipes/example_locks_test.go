package recipes_test

import (
	"errors"
	"fmt"

	"github.com/zksim/zksim/recipes"
)

func ExampleReentrantLock() {
	t, server, ctx := begin()
	defer t.End()
	mine := recipes.NewReentrantLock(server.Connect(t), "/locks/report")
	other := recipes.NewReentrantLock(server.Connect(t), "/locks/report")

	fmt.Println(mine.Lock(ctx), mine.Lock(ctx))
	fmt.Println(mine.Unlock(ctx))
	got, err := other.TryLock(ctx)
	fmt.Println("other:", got, err)
	fmt.Println(mine.Unlock(ctx))
	got, err = other.TryLock(ctx)
	fmt.Println("other:", got, err)
	fmt.Println(other.Close(ctx))
	// Output:
	// <nil> <nil>
	// <nil>
	// other: false <nil>
	// <nil>
	// other: true <nil>
	// <nil>
}

func ExampleRWLock() {
	t, server, ctx := begin()
	defer t.End()
	mine := recipes.NewRWLock(server.Connect(t), "/locks/catalogue")
	other := recipes.NewRWLock(server.Connect(t), "/locks/catalogue")

	fmt.Println("write:", mine.Lock(ctx))
	fmt.Println("go over to reading:", mine.RLock(ctx), mine.Unlock(ctx))
	fmt.Println("read together:", other.RLock(ctx))
	fmt.Println("a reader cannot write:", errors.Is(other.Lock(ctx), recipes.ErrUpgrade))
	fmt.Println(mine.Close(ctx), other.Close(ctx))
	// Output:
	// write: <nil>
	// go over to reading: <nil> <nil>
	// read together: <nil>
	// a reader cannot write: true
	// <nil> <nil>
}

// The owner of a lock and its waiters. Each handle gives its name by Data.
func ExampleLock_Participants() {
	t, server, ctx := begin()
	defer t.End()
	mine := recipes.NewLock(server.Connect(t), "/locks/report", recipes.Data([]byte("host-1")))
	other := recipes.NewLock(server.Connect(t), "/locks/report", recipes.Data([]byte("host-2")))
	fmt.Println(mine.Lock(ctx))
	locked := make(chan error)
	go func() { locked <- other.Lock(ctx) }()
	for {
		owner, waiters, err := mine.Participants(ctx)
		if err != nil || len(waiters) > 0 {
			fmt.Printf("%s owns the lock, %s waits, %v\n", owner[0].Data, waiters[0].Data, err)
			fmt.Println(owner[0].Token == mine.Token())
			break
		}
	}
	fmt.Println(mine.Close(ctx))
	fmt.Println(<-locked)
	fmt.Println(other.Close(ctx))
	// Output:
	// <nil>
	// host-1 owns the lock, host-2 waits, <nil>
	// true
	// <nil>
	// <nil>
	// <nil>
}

func ExampleSemaphore_AcquireN() {
	t, server, ctx := begin()
	defer t.End()
	licences := recipes.NewSemaphore(server.Connect(t), "/licences", 3)
	leases, err := licences.AcquireN(ctx, 2)
	fmt.Println(len(leases), err)
	fmt.Println(leases[0].Release(ctx))
	_, err = licences.AcquireN(ctx, 4)
	fmt.Println(errors.Is(err, recipes.ErrLeases), err)
	fmt.Println(licences.Close(ctx))
	// Output:
	// 2 <nil>
	// <nil>
	// true acquire semaphore /licences: number of leases differs: 4 are wanted, expected 1 to 3
	// <nil>
}

func ExampleSemaphore() {
	t, server, ctx := begin()
	defer t.End()
	licences := recipes.NewSemaphore(server.Connect(t), "/licences", 2)
	one, err := licences.Acquire(ctx)
	fmt.Println(one != nil, err)
	two, err := licences.Acquire(ctx)
	fmt.Println(two != nil, err)
	_, ok, err := licences.TryAcquire(ctx)
	fmt.Println(ok, err)
	fmt.Println(one.Release(ctx))
	_, ok, err = licences.TryAcquire(ctx)
	fmt.Println(ok, err)
	holders, waiters, err := licences.Participants(ctx)
	fmt.Println(len(holders), len(waiters), err)
	fmt.Println(licences.Close(ctx))
	// Output:
	// true <nil>
	// true <nil>
	// false <nil>
	// <nil>
	// true <nil>
	// 2 0 <nil>
	// <nil>
}

func ExampleMultiLock() {
	t, server, ctx := begin()
	defer t.End()
	transfer := recipes.NewMultiLock(server.Connect(t), []string{"/accounts/b", "/accounts/a"})
	audit := recipes.NewLock(server.Connect(t), "/accounts/b")

	fmt.Println(transfer.Lock(ctx))
	got, err := audit.TryLock(ctx)
	fmt.Println("audit:", got, err)
	fmt.Println(transfer.Unlock(ctx))
	got, err = audit.TryLock(ctx)
	fmt.Println("audit:", got, err)
	fmt.Println(transfer.Close(ctx), audit.Close(ctx))
	// Output:
	// <nil>
	// audit: false <nil>
	// <nil>
	// audit: true <nil>
	// <nil> <nil>
}

func ExampleRevocableLock() {
	t, server, ctx := begin()
	defer t.End()
	batch := recipes.NewRevocableLock(server.Connect(t), "/locks/report")
	urgent := recipes.NewRevocableLock(server.Connect(t), "/locks/report")

	fmt.Println(batch.Lock(ctx))
	asked, err := urgent.Revoke(ctx)
	fmt.Println("asked:", asked, err)
	<-batch.Revoked()
	fmt.Println("give it up:", batch.Unlock(ctx))
	fmt.Println(urgent.Lock(ctx))
	fmt.Println(batch.Close(ctx), urgent.Close(ctx))
	// Output:
	// <nil>
	// asked: true <nil>
	// give it up: <nil>
	// <nil>
	// <nil> <nil>
}
