package recipes_test

import (
	"fmt"

	"github.com/zksim/zksim/recipes"
)

func ExampleCounter() {
	t, server, ctx := begin()
	defer t.End()
	mine := recipes.NewCounter(server.Connect(t), "/counters/visits")
	other := recipes.NewCounter(server.Connect(t), "/counters/visits")
	fmt.Println(mine.Add(ctx, 1))
	fmt.Println(other.Add(ctx, 10))
	fmt.Println(mine.Get(ctx))
	// Output:
	// 1 <nil>
	// 11 <nil>
	// 11 <nil>
}

func ExampleSharedValue() {
	t, server, ctx := begin()
	defer t.End()
	mine := recipes.NewSharedValue(server.Connect(t), "/values/owner")
	other := recipes.NewSharedValue(server.Connect(t), "/values/owner")
	seen, err := mine.Set(ctx, []byte("ann"))
	if err != nil {
		fmt.Println(err)
		return
	}
	now, done, err := other.CompareAndSet(ctx, seen, []byte("bob"))
	fmt.Println(string(now.Data), now.Version, done, err)
	now, done, err = mine.CompareAndSet(ctx, seen, []byte("eve"))
	fmt.Println(string(now.Data), now.Version, done, err)
	now, err = mine.Next(ctx, seen)
	fmt.Println(string(now.Data), err)
	// Output:
	// bob 1 true <nil>
	// bob 1 false <nil>
	// bob <nil>
}

func ExampleIDGenerator() {
	t, server, ctx := begin()
	defer t.End()
	mine := recipes.NewIDGenerator(server.Connect(t), "/ids/orders", 100)
	other := recipes.NewIDGenerator(server.Connect(t), "/ids/orders", 100)
	fmt.Println(mine.Next(ctx))
	fmt.Println(other.Next(ctx))
	fmt.Println(mine.Next(ctx)) // without a request
	// Output:
	// 1 <nil>
	// 101 <nil>
	// 2 <nil>
}

func ExampleTreeCache() {
	t, server, ctx := begin()
	defer t.End()
	writer := recipes.NewSharedValue(server.Connect(t), "/app/limits/users")
	if _, err := writer.Set(ctx, []byte("10")); err != nil {
		fmt.Println(err)
		return
	}

	cache := recipes.NewTreeCache(server.Connect(t), "/app")
	fmt.Println(cache.Start(), cache.Ready(ctx))
	limit, ok := cache.Get("/app/limits/users") // without a request
	fmt.Println(string(limit.Data), ok, cache.Stale())

	changes := cache.Changes() // begins with what is there
	if _, err := writer.Set(ctx, []byte("20")); err != nil {
		fmt.Println(err)
		return
	}
	for {
		change, err := changes.Next(ctx)
		if err != nil || string(change.Node.Data) == "20" {
			fmt.Println(change.Node.Path, string(change.Node.Data), err)
			break
		}
	}
	fmt.Println(cache.Close(ctx))
	// Output:
	// <nil> <nil>
	// 10 true false
	// /app/limits/users 20 <nil>
	// <nil>
}

func ExampleNodeCache() {
	t, server, ctx := begin()
	defer t.End()
	cache := recipes.NewNodeCache(server.Connect(t), "/motd")
	fmt.Println(cache.Start(), cache.Ready(ctx))
	_, ok := cache.Get()
	fmt.Println(ok, cache.Stale())
	fmt.Println(cache.Close(ctx))
	// Output:
	// <nil> <nil>
	// false false
	// <nil>
}

func ExampleChildrenCache() {
	t, server, ctx := begin()
	defer t.End()
	conn := server.Connect(t)
	for _, name := range []string{"b", "a"} {
		if err := recipes.EnsurePath(ctx, conn, "/dir/"+name+"/deep"); err != nil {
			fmt.Println(err)
			return
		}
	}

	cache := recipes.NewChildrenCache(conn, "/dir")
	fmt.Println(cache.Start(), cache.Ready(ctx))
	for _, n := range cache.Nodes() {
		fmt.Println(n.Name(), n.Stat.NumChildren)
	}
	fmt.Println(cache.Close(ctx))
	// Output:
	// <nil> <nil>
	// a 1
	// b 1
	// <nil>
}

func ExampleConfigCenter() {
	t, server, ctx := begin()
	defer t.End()
	admin := recipes.NewConfigCenter(server.Connect(t), "/config")
	fmt.Println(admin.Create(ctx, "limit", []byte("10")))

	config := recipes.NewConfigCenter(server.Connect(t), "/config")
	fmt.Println(config.Start(), config.Ready(ctx))
	limit, ok := config.Get("limit") // without a request
	fmt.Println(string(limit.Value), limit.Version, ok, config.Stale())

	fmt.Println(admin.Update(ctx, "limit", []byte("20"), limit.Version))
	fmt.Println(admin.Update(ctx, "limit", []byte("30"), limit.Version))
	fmt.Println(config.Close(ctx))
	// Output:
	// <nil>
	// <nil> <nil>
	// 10 0 true false
	// <nil>
	// update limit in configuration centre /config: zk: version conflict
	// <nil>
}
