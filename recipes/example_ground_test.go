package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/recipes"
	"github.com/zksim/zksim/recipes/internal/testconn"
)

func ExampleCreateProtected() {
	t, server, ctx := begin()
	defer t.End()
	conn := server.Connect(t)

	node, err := recipes.CreateProtected(ctx, conn, "/members", "member-", []byte("host"),
		recipes.EphemeralSequential, recipes.Containers())
	if err != nil {
		fmt.Println(err)
		return
	}
	seq, ok := recipes.Sequence(node.Path, "member-")
	fmt.Println(path.Dir(node.Path), seq, ok, node.Stat.EphemeralOwner == conn.SessionID())
	fmt.Println(recipes.GuaranteedDelete(ctx, conn, node.Path))
	// Output:
	// /members 0 true true
	// <nil>
}

func ExampleGuaranteedDelete() {
	t := &testconn.ExampleT{}
	defer t.End()
	conn := fakezk.Start(t).Connect(t)

	err := recipes.GuaranteedDelete(context.Background(), conn, "/never/there")
	fmt.Println(err)
	// Output: <nil>
}

func ExampleEnsurePath() {
	t := &testconn.ExampleT{}
	defer t.End()
	conn := fakezk.Start(t).Connect(t)

	fmt.Println(recipes.EnsurePath(context.Background(), conn, "/app/locks/report"))
	found, _, err := conn.Exists("/app/locks")
	fmt.Println(found, err)
	// Output:
	// <nil>
	// true <nil>
}

// Two applications use the same paths.
func ExampleChroot() {
	t, server, ctx := begin()
	defer t.End()
	conn := server.Connect(t)
	billing := recipes.NewLock(recipes.Chroot(conn, "/apps/billing"), "/locks/report")
	mail := recipes.NewLock(recipes.Chroot(conn, "/apps/mail"), "/locks/report")

	fmt.Println(billing.Lock(ctx), mail.Lock(ctx))
	fmt.Println(path.Dir(mail.Path()))
	names, _, err := conn.Children("/apps/mail/locks/report")
	fmt.Println(len(names), err)
	fmt.Println(billing.Close(ctx), mail.Close(ctx))
	// Output:
	// <nil> <nil>
	// /locks/report
	// 1 <nil>
	// <nil> <nil>
}

// Two users share a lock: ann by the password of AddAuth, bob by SASL, which clients in Java and
// Python have. Other clients are refused.
func ExampleACL() {
	t := &testconn.ExampleT{}
	defer t.End()
	ctx := context.Background()
	server := fakezk.Start(t, fakezk.Options{SASLUsers: map[string]string{"bob": "secret"}})
	users := append(zk.DigestACL(zk.PermAll, "ann", "password"),
		zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: "bob"})

	ann := server.Connect(t)
	if err := ann.AddAuth("digest", []byte("ann:password")); err != nil {
		fmt.Println(err)
		return
	}
	lock := recipes.NewLock(ann, "/locks/report", recipes.ACL(users...))
	fmt.Println(lock.Lock(ctx))
	stranger := recipes.NewLock(server.Connect(t), "/locks/report")
	_, err := stranger.TryLock(ctx)
	fmt.Println(errors.Is(err, zk.ErrNoAuth))
	fmt.Println(lock.Close(ctx))
	// Output:
	// <nil>
	// true
	// <nil>
}

func ExampleNewConnMonitor() {
	t, server, ctx := begin()
	defer t.End()
	conn := server.Connect(t)
	if err := recipes.EnsurePath(ctx, conn, "/any"); err != nil { // now it is connected
		fmt.Println(err)
		return
	}

	monitor := recipes.NewConnMonitor(conn, 10*time.Second)
	status := <-monitor.Changes(ctx)
	fmt.Println(status.State, status.Epoch)
	lost := monitor.Lost()
	fmt.Println(monitor.Close(ctx))
	<-lost
	// Output:
	// connected 1
	// <nil>
}

func ExampleRetry() {
	policy := recipes.RetryExponential(100*time.Millisecond, 5*time.Second)
	policy = recipes.RetryTries(policy, 20)
	policy = recipes.RetryUntil(policy, time.Minute)
	policy = recipes.RetryIf(policy,
		func(err error) bool { return !errors.Is(err, zk.ErrSessionExpired) })

	t := &testconn.ExampleT{}
	defer t.End()
	lock := recipes.NewLock(fakezk.Start(t).Connect(t), "/l", recipes.Retry(policy))
	fmt.Println(lock.Lock(context.Background()))
	fmt.Println(lock.Close(context.Background()))
	// Output:
	// <nil>
	// <nil>
}

func ExampleRetryFixed() {
	policy := recipes.RetryFixed(time.Second, 3)
	for tries := 1; ; tries++ {
		pause, again := policy.Next(tries, 0, zk.ErrConnectionClosed)
		if !again {
			break
		}
		fmt.Println(tries, pause)
	}
	// Output:
	// 1 1s
	// 2 1s
}

func ExampleOutcomeOf() {
	fmt.Println(recipes.OutcomeOf(nil))
	fmt.Println(recipes.OutcomeOf(zk.ErrNodeExists))
	fmt.Println(recipes.OutcomeOf(zk.ErrConnectionClosed))
	// Output:
	// applied
	// not applied
	// unknown
}

func ExampleSortBySequence() {
	fmt.Println(recipes.SortBySequence([]string{"n--2147483648", "readme", "n-2147483647"}, "n-"))
	// Output:
	// [n-2147483647 n--2147483648]
}
