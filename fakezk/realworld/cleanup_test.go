package realworld

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/fault"
	"github.com/zksim/zksim/internal/check"
)

// silentServer takes connections and never answers.
func silentServer(t *testing.T) Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	t.Cleanup(func() { l.Close() }) // nothing was accepted from it
	return At(l.Addr().String())
}

// guestOn is a guest that has made its nodes on a server.
func guestOn(t *testing.T, server *fakezk.Server, servers ...Server) *guest {
	t.Helper()
	g := newRun(World{
		Servers: []Server{At(server.Listen(t))}, SessionTimeout: time.Second,
	}).guest
	check.OK(t, g.createNodes())
	g.servers.list = append(servers, g.servers.list...)
	return g
}

// rootsOn are the nodes of guests that are left on a server.
func rootsOn(s *fakezk.Server) (roots []string) {
	for _, n := range s.Tree() {
		if strings.HasPrefix(n.Path, rootPrefix) {
			roots = append(roots, n.Path)
		}
	}
	return roots
}

// TestEachServerGetsATry when a guest cleans up: one that does not answer, and one that refuses
// connections, leave time for a third.
func TestEachServerGetsATry(t *testing.T) {
	t.Parallel()
	server := fakezk.Start(t)
	g := guestOn(t, server, silentServer(t), At("127.0.0.1:1"))
	g.sessions[1] = &session{}
	check.OK(t, g.deleteNodes())
	check.List(t, rootsOn(server), nil, "nodes that are left")
}

// TestADeletionOutlivesItsConnection: what is left is deleted on another one.
func TestADeletionOutlivesItsConnection(t *testing.T) {
	t.Parallel()
	server := fakezk.Start(t)
	g := guestOn(t, server)
	cut := fault.Fault{Kind: fault.Cut, Op: "delete", Path: g.root.tree(), Request: 1}
	check.OK(t, server.Inject(cut))
	check.OK(t, g.deleteNodes())
	check.Equal(t, server.Faults()[0].Fired, true, "the connection was lost")
	check.List(t, rootsOn(server), nil, "nodes that are left")
}

// TestANodeIsMadeOnceDespiteALostAnswer: the second try finds what the first has made.
func TestANodeIsMadeOnceDespiteALostAnswer(t *testing.T) {
	t.Parallel()
	server := fakezk.Start(t)
	check.OK(t, server.Inject(fault.Fault{Kind: fault.DropReply, Op: "create", Request: 1}))
	g := guestOn(t, server)
	check.List(t, rootsOn(server),
		[]string{string(g.root), string(g.root) + sessionsNode, g.root.tree()})
}

// TestNodesThatNobodyMayDeleteAreNamed, with the reason, and all others are deleted.
func TestNodesThatNobodyMayDeleteAreNamed(t *testing.T) {
	t.Parallel()
	server := fakezk.Start(t)
	g := guestOn(t, server)
	conn := server.Connect(t)
	tree := g.root.tree()
	create := func(path string, rights int32) {
		_, err := conn.Create(tree+path, nil, 0, zk.WorldACL(rights))
		check.OK(t, err)
	}
	create("/unlisted", zk.PermCreate)
	create("/unlisted/child", zk.PermAll)
	create("/kept", zk.PermCreate|zk.PermRead)
	create("/kept/child", zk.PermAll)
	create("/unread", 0)
	create("/plain", zk.PermAll)
	err := g.deleteNodes()
	var left *LeftError
	ok := errors.As(err, &left)
	check.Equal(t, ok, true, "a LeftError: %v", err)
	check.Contains(t, err.Error(), tree+"/unlisted: "+zk.ErrNoAuth.Error())
	check.Contains(t, err.Error(), tree+"/kept/child: "+zk.ErrNoAuth.Error())
	check.List(t, rootsOn(server), []string{string(g.root), tree, tree + "/kept", tree + "/kept/child",
		tree + "/unlisted", tree + "/unlisted/child"}, "nodes that are left")
}

// TestADeletionEndsAlthoughNodesAreAdded below the node.
func TestADeletionEndsAlthoughNodesAreAdded(t *testing.T) {
	t.Parallel()
	server := fakezk.Start(t)
	g := guestOn(t, server)
	conn, _, err := zk.Connect(g.servers.addresses(), time.Second, zk.WithLogInfo(false))
	check.OK(t, err)
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			// it fails when the parent is deleted
			_, _ = conn.Create(g.root.tree()+"/", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
		}
	}()
	err = g.deleteNodes() // nil if it is the quicker one
	cancel()
	<-ended
	if err != nil {
		check.Contains(t, err.Error(), "not deleted: "+g.root.tree()+": somebody adds nodes")
	}
}

// TestManyNodesThatAreLeftAreCounted: an error names the first ones.
func TestManyNodesThatAreLeftAreCounted(t *testing.T) {
	t.Parallel()
	var d deletion
	for _, path := range strings.Fields("/a /b /c /d /e /f /g") {
		check.OK(t, d.note(path, zk.ErrNoAuth))
	}
	check.Contains(t, d.kept().Error(), "not deleted: /a: zk: not authenticated; /b: ")
	check.Contains(t, d.kept().Error(), "; /e: zk: not authenticated; and 2 more")
}

// TestAGuestThatMadeNothingLeavesNothing: its error names no node, and it does not try to delete
// one.
func TestAGuestThatMadeNothingLeavesNothing(t *testing.T) {
	t.Parallel()
	server := fakezk.Start(t)
	conn := server.Connect(t)
	_, err := conn.SetACL("/", zk.WorldACL(zk.PermRead), -1)
	check.OK(t, err)
	address := server.Listen(t)
	for servers, want := range map[Server]string{
		At(address):       address + ": create /zksim-",
		At("127.0.0.1:1"): "tried for ",
	} {
		_, err := World{Servers: []Server{servers}}.Run(t.Context())
		if err == nil {
			t.Fatal("no error")
		}
		check.Contains(t, err.Error(), "fakezk: real world: "+want)
		var left *LeftError
		errors.As(err, &left)
		check.Equal(t, left, nil, "%v", err)
	}
}

// TestALaterTryHidesNoReason: it has less time.
func TestALaterTryHidesNoReason(t *testing.T) {
	t.Parallel()
	s := newRun(World{Servers: []Server{At("a:1")}}).servers
	ctx, cancel := context.WithTimeout(t.Context(), 2*roundPause)
	defer cancel()
	reasons := []error{errors.New("it is on fire"), noAnswerWithin(time.Second)}
	tries := 0
	err := s.atSomeServer(ctx, func(string, time.Duration) error {
		tries++
		return unreachable{reasons[min(tries, len(reasons))-1]}
	})
	check.Contains(t, err.Error(), ": a:1: it is on fire")
	check.Equal(t, tries > 1, true, "more than one try")
}

// TestAnUnreadableNodeIsNamed: the record of the nodes would have a gap.
func TestAnUnreadableNodeIsNamed(t *testing.T) {
	t.Parallel()
	server := fakezk.Start(t)
	_, err := guestWorld(t, server, func(_ context.Context, c *Client) {
		_, err := c.Conn().Create("/secret", nil, 0, zk.WorldACL(zk.PermCreate))
		check.OK(t, err)
	}).Run(t.Context())
	check.Is(t, err, zk.ErrNoAuth)
	check.Contains(t, err.Error(), "read the node /secret at the end of the run")
	check.List(t, rootsOn(server), nil, "nodes that are left")
}

// TestAnInterruptIsToldOnce, and the nodes are deleted.
func TestAnInterruptIsToldOnce(t *testing.T) {
	t.Parallel()
	server := fakezk.Start(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := guestWorld(t, server, func(ctx context.Context, c *Client) {
		_, _, err := c.Conn().Exists("/")
		check.OK(t, err)
		cancel(errors.New("no time"))
		<-ctx.Done()
	}).Run(ctx)
	check.Is(t, err, context.Canceled)
	check.Equal(t, err.Error(), "fakezk: real world: context canceled: no time")
	check.List(t, rootsOn(server), nil, "nodes that are left")
}

// guestWorld is a World on a server of somebody else.
func guestWorld(t *testing.T, s *fakezk.Server, run func(context.Context, *Client)) World {
	t.Helper()
	return World{Servers: []Server{At(s.Listen(t))}, Pace: 8, SessionTimeout: 4 * time.Second,
		Settle: time.Second, Clients: []Actor{{Name: "a", Run: run}}}
}
