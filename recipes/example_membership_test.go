package recipes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func ExamplePersistentNode() {
	t := &testconn.ExampleT{}
	defer t.End()
	server := fakezk.Start(t)
	conn, somebody := server.Connect(t), server.Connect(t)
	ctx := context.Background()

	node := recipes.NewPersistentNode(conn, "/workers/one", []byte("ready"))
	fmt.Println(node.Keep(ctx), node.Present())
	fmt.Println(node.Set(ctx, []byte("busy")))
	data, stat, err := somebody.Get("/workers/one")
	fmt.Println(string(data), stat.EphemeralOwner == conn.SessionID(), err)
	fmt.Println(node.Close(ctx))
	there, _, err := somebody.Exists("/workers/one")
	fmt.Println(there, err)
	// Output:
	// <nil> true
	// <nil>
	// busy true <nil>
	// <nil>
	// false <nil>
}

func ExampleGroup() {
	t, server, ctx := begin()
	defer t.End()
	group := recipes.NewGroup(server.Connect(t), "/group")
	fmt.Println(group.Names(ctx))

	member := recipes.NewGroupMember(server.Connect(t), "/group", "host-1", []byte("10.0.0.1:80"))
	changed := group.Changed()
	if err := member.Join(ctx); err != nil {
		fmt.Println(err)
		return
	}
	<-changed
	fmt.Println(group.Names(ctx))
	members, err := group.Members(ctx)
	for _, m := range members {
		fmt.Println(m.Name, string(m.Data), err)
	}

	changed = group.Changed()
	fmt.Println(member.Close(ctx))
	<-changed
	fmt.Println(group.Names(ctx))
	fmt.Println(group.Close(ctx))
	// Output:
	// [] <nil>
	// [host-1] <nil>
	// host-1 10.0.0.1:80 <nil>
	// <nil>
	// [] <nil>
	// <nil>
}

// A member waits for its name while another session has it.
func ExampleGroupMember() {
	t, server, ctx := begin()
	defer t.End()
	first := recipes.NewGroupMember(server.Connect(t), "/group", "host-1", []byte("10.0.0.1:80"))
	second := recipes.NewGroupMember(server.Connect(t), "/group", "host-1", []byte("10.0.0.2:80"))

	fmt.Println(first.Join(ctx), first.Present())
	joined := make(chan error)
	go func() { joined <- second.Join(ctx) }()
	fmt.Println(first.Close(ctx))
	fmt.Println(<-joined, second.Present())
	fmt.Println(second.Close(ctx))
	// Output:
	// <nil> true
	// <nil>
	// <nil> true
	// <nil>
}

func ExampleRegistration() {
	t, server, ctx := begin()
	defer t.End()
	web := recipes.NewRegistration(server.Connect(t), "/services",
		recipes.Instance{Service: "web", ID: "10.0.0.1:80", Data: []byte("v1")})
	fmt.Println(web.Register(ctx))
	fmt.Println(web.Update(ctx, []byte("v2")))

	registry := recipes.NewServiceRegistry(server.Connect(t), "/services")
	instances, err := registry.Instances(ctx, "web")
	for _, i := range instances {
		fmt.Println(i.ID, string(i.Data), err)
	}
	fmt.Println(web.Close(ctx), registry.Close(ctx))
	// Output:
	// <nil>
	// <nil>
	// 10.0.0.1:80 v2 <nil>
	// <nil> <nil>
}

func ExampleServiceRegistry() {
	t, server, ctx := begin()
	defer t.End()
	provider := server.Connect(t)
	for _, id := range []string{"10.0.0.1:80", "10.0.0.2:80"} {
		web := recipes.NewRegistration(provider, "/services",
			recipes.Instance{Service: "web", ID: id, Data: []byte("v1")})
		if err := web.Register(ctx); err != nil {
			fmt.Println(err)
			return
		}
	}

	registry := recipes.NewServiceRegistry(server.Connect(t), "/services")
	fmt.Println(registry.Services(ctx))
	lookup := recipes.NewServiceLookup(registry, "web", recipes.RoundRobin())
	for range 4 {
		i, err := lookup.Next(ctx)
		fmt.Println(i.ID, string(i.Data), err)
		if i.ID == "10.0.0.2:80" { // it does not answer
			lookup.NoteError(i, time.Minute)
		}
	}
	_, err := recipes.NewServiceLookup(registry, "mail", recipes.RoundRobin()).Next(ctx)
	fmt.Println(err)
	fmt.Println(registry.Close(ctx))
	// Output:
	// [web] <nil>
	// 10.0.0.1:80 v1 <nil>
	// 10.0.0.2:80 v1 <nil>
	// 10.0.0.1:80 v1 <nil>
	// 10.0.0.1:80 v1 <nil>
	// look up mail: the service has no instance
	// <nil>
}
