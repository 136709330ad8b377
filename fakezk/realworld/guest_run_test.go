package realworld

import (
	"context"
	"fmt"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/fakezk"
	"github.com/zksim/zksim/fakezk/internal/engine"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/wire"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
)

// TestAGuestKeepsTheNamesOfItsClients: what follows the node of the run is what the client has
// written. A sequential node below "/q/" has no name but its number.
func TestAGuestKeepsTheNamesOfItsClients(t *testing.T) {
	t.Parallel()
	const r guestRoot = "/zksim-x"
	for path, want := range map[string]string{
		"/":    "/zksim-x/tree",
		"/q":   "/zksim-x/tree/q",
		"/q/":  "/zksim-x/tree/q/",
		"":     "",
		"q":    "q",
		"/q/r": "/zksim-x/tree/q/r",
	} {
		check.Equal(t, r.inside(path), want, "%q", path)
		check.Equal(t, r.outside(want), path, "%q", want)
	}

	create := &proto.Create{Code: proto.OpCreate, Path: "/q/", Flags: zk.FlagSequence}
	frame := wire.AppendRequest(nil, 1, create)[4:]
	q := &request{Request: engine.Request{Body: create}}
	q.Header = proto.RequestHeader{Xid: 1, Op: proto.OpCreate}
	sent, err := wire.DecodeRequest(proto.OpCreate, r.packetOf(q, frame)[4+8:])
	check.OK(t, err)
	check.Equal(t, proto.PathOf(sent), "/zksim-x/tree/q/", "path of a sequential node")
}

// sentByGuest is what the server gets of a frame.
func sentByGuest(frame []byte) []byte {
	q := &request{}
	if h, _, err := wire.DecodeHeader(frame); err == nil {
		q.Header = h
	}
	return guestRoot("/zksim-x").packetOf(q, frame)[4:]
}

// TestAGuestStaysBelowItsRoot with each kind of request.
func TestAGuestStaysBelowItsRoot(t *testing.T) {
	t.Parallel()
	const theirs = "/zookeeper/config"
	for _, req := range []proto.Request{
		&proto.Create{Code: proto.OpCreate2, Path: theirs},
		&proto.SetData{Path: theirs},
		&proto.SetACL{Path: theirs},
		&proto.Delete{Path: theirs},
		&proto.GetData{Path: theirs},
		&proto.Multi{Ops: []proto.Request{&proto.SetData{Path: theirs}}},
		&proto.MultiRead{Ops: []proto.Request{&proto.GetData{Path: theirs}}},
		&proto.AddWatch{Path: theirs},
		&proto.Watches{Code: proto.OpCheckWatches, Path: theirs},
		&proto.Watches{Code: proto.OpRemoveWatches, Path: theirs},
		&proto.GetEphemerals{Prefix: theirs},
		&proto.GetAllChildrenNumber{Path: theirs},
	} {
		sent := sentByGuest(wire.AppendRequest(nil, 1, req)[4:])
		got, err := wire.DecodeRequest(req.Op(), sent[8:])
		check.OK(t, err)
		check.Equal(t, proto.PathOf(got), "/zksim-x/tree"+theirs, req.Op().String())
	}
}

// TestAGuestReadsItsOwnRootAsTheEmptyPath: a server gives its root as that, too. It refuses to
// change it, so it gets the path of a write as it is.
func TestAGuestReadsItsOwnRootAsTheEmptyPath(t *testing.T) {
	t.Parallel()
	const root = "/zksim-x/tree"
	for _, test := range []struct {
		req  proto.Request
		want string
	}{
		{&proto.GetData{}, root},
		{&proto.Exists{}, root},
		{&proto.GetChildren{Code: proto.OpGetChildren2}, root},
		{&proto.GetACL{}, root},
		{&proto.GetAllChildrenNumber{}, root},
		{&proto.AddWatch{}, root},
		{&proto.MultiRead{Ops: []proto.Request{&proto.GetChildren{Code: proto.OpGetChildren}}},
			root},
		{&proto.GetEphemerals{}, root},
		{&proto.GetEphemerals{Prefix: "\x00"}, root},
		{&proto.GetEphemerals{Prefix: "\t/ "}, root},
		{&proto.SetData{}, ""},
		{&proto.Multi{Ops: []proto.Request{&proto.Delete{}}}, ""},
	} {
		sent := sentByGuest(wire.AppendRequest(nil, 1, test.req)[4:])
		got, err := wire.DecodeRequest(test.req.Op(), sent[8:])
		check.OK(t, err)
		check.Equal(t, proto.PathOf(got), test.want, test.req.Op().String())
	}
	watches := wire.AppendRequest(nil, 1, &proto.SetWatches{Code: proto.OpSetWatches,
		ChildWatches: []string{""}})[4:]
	got, err := wire.DecodeRequest(proto.OpSetWatches, sentByGuest(watches)[8:])
	check.OK(t, err)
	check.Equal(t, got.(*proto.SetWatches).ChildWatches[0], root, "setWatches")
}

// TestAGuestSendsNothingUnseen: no reconfig, and of a frame that cannot be decoded nothing but the
// header.
func TestAGuestSendsNothingUnseen(t *testing.T) {
	t.Parallel()
	reconfig := wire.AppendRequest(nil, 1, &proto.Reconfig{Leaving: "1"})[4:]
	h, body, err := wire.DecodeHeader(sentByGuest(reconfig))
	check.OK(t, err)
	check.Equal(t, h, proto.RequestHeader{Xid: 1, Op: proto.OpDelete})
	got, err := wire.DecodeRequest(h.Op, body)
	check.OK(t, err)
	check.Equal(t, proto.PathOf(got), "/zksim-x/none", "in place of a reconfig")

	for _, frame := range [][]byte{
		{0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 9, '/'},            // a setData that ends early
		{0, 0, 0, 1, 0, 0, 0, 99, 0, 0, 0, 1, '/'},           // an unknown operation
		append([]byte{0, 0, 0, 1, 0, 0, 0, 14}, reconfig...), // a multi of garbage
		{0, 0, 0},
	} {
		check.Equal(t, string(sentByGuest(frame)), string(frame[:min(8, len(frame))]))
	}
}

// TestAGuestGivesUpOnSessions of servers that do not answer, and says for how long it has tried.
func TestAGuestGivesUpOnSessions(t *testing.T) {
	t.Parallel()
	g := newRun(World{Servers: []Server{At("127.0.0.1:1")}}).guest
	g.root, g.endNote = "/zksim-x", func() {}
	g.sessions[1], g.sessions[2] = &session{}, &session{}
	err := g.deleteNodes()
	want := regexp.MustCompile(`^/zksim-x is left on 127\.0\.0\.1:1: deleteall /zksim-x in \S+ ` +
		`deletes it \(tried for [0-9.]+s: 127\.0\.0\.1:1: dial tcp .*: connection refused\)$`)
	if err == nil || !want.MatchString(err.Error()) {
		t.Errorf("%v; want %s", err, want)
	}
}

func TestNoLeaderIsToldWithTheServers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &servers{list: []Server{At("127.0.0.1:1"), At("127.0.0.1:2")}}
	_, _, err := s.leader(ctx)
	check.Contains(t, fmt.Sprint(err), "no server of 127.0.0.1:1,127.0.0.1:2 leads")
}

// moving is a server whose address becomes another one.
type moving struct {
	Server
	next  string
	moved atomic.Bool
}

func (m *moving) Address() string {
	if m.moved.Load() {
		return m.next
	}
	return m.Server.Address()
}

// TestServersThatHaveDivergedAreNamed: one of two addresses of a server becomes that of another
// server. Some servers of a real ensemble can differ for ever (ZOOKEEPER-5010).
func TestServersThatHaveDivergedAreNamed(t *testing.T) {
	t.Parallel()
	one, two := fakezk.Start(t), fakezk.Start(t)
	const ours = "/ours"
	move := func() {}
	w := guestWorld(t, one, func(_ context.Context, c *Client) {
		_, err := c.Conn().Create(ours, nil, 0, zk.WorldACL(zk.PermAll))
		check.OK(t, err)
		move()
	})
	result, err := w.Run(t.Context())
	check.OK(t, err)
	check.Equal(t, result.Diverged, "")
	w.Servers = append(w.Servers, w.Servers[0])
	result, err = w.Run(t.Context())
	check.OK(t, err)
	check.Equal(t, result.Diverged, "", "two addresses of one server")
	second := &moving{Server: w.Servers[0], next: two.Listen(t)}
	w.Servers[1], move = second, func() { second.moved.Store(true) }
	result, err = w.Run(t.Context())
	check.OK(t, err)
	check.Contains(t, result.Diverged, "server 1 has a node /, made at zxid ")
	check.Contains(t, result.Diverged, ", that server 2 does not have")
}

// TestServersOfNoEnsembleAreRefused before a client begins, and the node of the run is deleted.
func TestServersOfNoEnsembleAreRefused(t *testing.T) {
	t.Parallel()
	one, two := fakezk.Start(t), fakezk.Start(t)
	w := guestWorld(t, one, func(context.Context, *Client) { t.Error("a client has begun") })
	w.Servers = append(w.Servers, At(two.Listen(t)))
	_, err := w.Run(t.Context())
	check.Contains(t, fmt.Sprint(err), w.Servers[0].Address()+","+w.Servers[1].Address()+
		" are not of one ensemble: at the beginning of the run, server 1 has a node /, made at zxid ")
	for _, s := range []*fakezk.Server{one, two} {
		check.Equal(t, len(s.Tree()), len(fakezk.Start(t).Tree()), "nodes that are left")
	}
}

func TestDifferenceOfTwoServers(t *testing.T) {
	t.Parallel()
	a, b := view.Node{Path: "/a", Czxid: 1, Mzxid: 1}, view.Node{Path: "/b", Czxid: 2, Mzxid: 2}
	again, changed := a, a
	again.Czxid, changed.Mzxid = 3, 3
	for _, c := range []struct {
		one, two []view.Node
		want     string
	}{
		{[]view.Node{a, b}, []view.Node{a, b}, ""},
		{[]view.Node{a, b}, []view.Node{a},
			"server 1 has a node /b, made at zxid 2, that server 3 does not have"},
		{[]view.Node{a}, []view.Node{a, b},
			"server 3 has a node /b, made at zxid 2, that server 1 does not have"},
		{[]view.Node{a}, []view.Node{again},
			"server 1 has a node /a, made at zxid 1, that server 3 does not have"},
		{[]view.Node{a}, []view.Node{changed}, "/a has different data at servers 1 and 3"},
	} {
		check.Equal(t, difference(0, c.one, 2, c.two), c.want)
	}
}
