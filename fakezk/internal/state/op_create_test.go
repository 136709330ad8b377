package state

import (
	"math"
	"slices"
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

// createFixture has the nodes /a, /ro (without CREATE) and the ephemeral /e.
func createFixture(t testing.TB) *Store {
	s := newStore(t)
	must(t, s, guest(),
		create("/a"), createACL("/ro", world(proto.PermRead)),
		createFlags("/e", proto.FlagEphemeral))
	return s
}

const ttlOK = 1000 // a valid ttl

// createChecks are requests for createFixture with two errors, of which the server returns
// one, and valid requests.
var createChecks = []struct {
	name string
	req  *proto.Create
	want proto.ErrCode
}{
	{"unknown flag before everything", createAs(proto.OpCreate, "bad", 7, 0), proto.BadArguments},
	{"negative flag", createFlags("/x", -1), proto.BadArguments},
	{"ttl flag on create", createFlags("/x", proto.FlagTTL), proto.BadArguments},
	{
		"ttl flag on create2",
		createAs(proto.OpCreate2, "/x", proto.FlagPersistentSequentialTTL, 0),
		proto.BadArguments,
	},
	{
		"ttl flag on createContainer",
		createAs(proto.OpCreateContainer, "/x", proto.FlagTTL, 0), proto.BadArguments,
	},
	{"createTTL without the flag", createAs(proto.OpCreateTTL, "/x", 0, ttlOK), proto.BadArguments},
	{
		"createTTL without the flag, negative ttl",
		createAs(proto.OpCreateTTL, "/x", 0, -1), proto.BadArguments,
	},
	{"ttl 0", createAs(proto.OpCreateTTL, "/x", proto.FlagTTL, 0), proto.BadArguments},
	{"ttl too long", createAs(proto.OpCreateTTL, "/x", proto.FlagTTL, 1<<40), proto.BadArguments},
	{"longest ttl", createAs(proto.OpCreateTTL, "/x", proto.FlagTTL, 1<<40-1), proto.OK},
	{"no slash before ACL", createACL("x", nil), proto.BadArguments},
	{"NUL before ACL", createACL("/x\x00", nil), proto.BadArguments},
	{"empty path", create(""), proto.BadArguments},
	{"ACL before parent", createACL("/no/x", nil), proto.InvalidACL},
	{"parent before full validation", create("/no/.."), proto.NoNode},
	{"relative", create("rel/x"), proto.NoNode},
	{"permission before full validation", create("/ro/.."), proto.NoAuth},
	{"validation before ephemeral parent", create("/e/.."), proto.BadArguments},
	{"child of an ephemeral", create("/e/x"), proto.NoChildrenForEphemerals},
	{"sequential child of an ephemeral", createFlags("/e/x", 3), proto.NoChildrenForEphemerals},
	{"trailing slash", create("/a/"), proto.BadArguments},
	{"double slash", create("//x"), proto.BadArguments},
	{"emoji", create("/\U0001F600"), proto.BadArguments},
	{"invalid UTF-8", create("/\xff"), proto.BadArguments},
	{"exists", create("/a"), proto.NodeExists},
	{"root", create("/"), proto.NodeExists},
	{"under /zookeeper", create("/zookeeper/x"), proto.OK},
	{"under config", create("/zookeeper/config/x"), proto.NoAuth},
	{"CJK and dots", create("/漢...a..b .."), proto.OK},
}

func TestCreateChecksInTheServersOrder(t *testing.T) {
	for _, test := range createChecks {
		t.Run(test.name, func(t *testing.T) {
			s := createFixture(t)
			before := imageOf(s)
			r := do(t, s, guest(), test.req)
			if r.Err != test.want {
				t.Fatalf("%s: got %s, want %s", describe(test.req), r.Err, test.want)
			}
			if r.Err != proto.OK {
				before.drawZxid()
				wantSame(t, "after a refused create", before, imageOf(s))
			}
		})
	}
}

func TestSequentialNamesAreValidatedWithTheirNumber(t *testing.T) {
	s := createFixture(t)
	var got []string
	for _, path := range []string{"/a/", "/a/.", "/a/..", "/a/n-"} {
		r := do(t, s, guest(), createFlags(path, proto.FlagPersistentSequential))
		got = append(got, r.Reply.(proto.PathReply).Path)
	}
	want := []string{"/a/0000000000", "/a/.0000000001", "/a/..0000000002", "/a/n-0000000003"}
	check.Diff(t, got, want)
}

func TestSequenceNumbersCountCreations(t *testing.T) {
	s := createFixture(t)
	next := func() string {
		r := do(t, s, guest(), createFlags("/a/n", proto.FlagPersistentSequential))
		if r.Err != proto.OK {
			return r.Err.String()
		}
		return r.Reply.(proto.PathReply).Path
	}
	steps := []struct {
		before proto.Request
		want   string
	}{
		{nil, "/a/n0000000000"},
		{create("/a/plain"), "/a/n0000000002"},
		{remove("/a/plain"), "/a/n0000000003"},
		{set("/a", "x", -1), "/a/n0000000004"},
		{create("/a/plain/no"), "/a/n0000000005"}, // refused: NoNode
		{multi(create("/a/y"), remove("/no")), "/a/n0000000006"},
		{create("/a/n0000000008"), "NodeExists"},
		{nil, "NodeExists"},
		{create("/a/z"), "/a/n0000000009"},
	}
	for _, step := range steps {
		if step.before != nil {
			do(t, s, guest(), step.before)
		}
		if got := next(); got != step.want {
			t.Fatalf("after %v: got %s, want %s", step.before, got, step.want)
		}
	}
}

// TestSequenceNumberStopsAtItsLargest compares with a real server after 2147483647 children: it
// repeats that number, except in a multi, which overflows, and the parent's pzxid stays.
func TestSequenceNumberStopsAtItsLargest(t *testing.T) {
	s := createFixture(t)
	n, _ := s.tree.find("/a")
	n.counter = math.MaxInt32 - 1
	next := func(path string) string {
		r := do(t, s, guest(), createFlags(path, proto.FlagPersistentSequential))
		if r.Err != proto.OK {
			return r.Err.String()
		}
		return r.Reply.(proto.PathReply).Path
	}
	check.Equal(t, next("/a/a"), "/a/a2147483646")
	pzxid := s.LastZxid()
	for _, path := range []string{"/a/a", "/a/b"} {
		check.Equal(t, next(path), path+"2147483647")
	}
	check.Equal(t, next("/a/a"), "NodeExists")
	if st := stat(t, s, "/a"); st.Cversion != -5 || st.NumChildren != 3 || st.Pzxid != pzxid {
		t.Errorf("%+v", st)
	}
	r := do(t, s, guest(), multi(createFlags("/a/e", 2), createFlags("/a/f", 2),
		createFlags("/a/g", 2)))
	for i, want := range []string{"/a/e2147483647", "/a/f-2147483648", "/a/g-2147483647"} {
		check.Equal(t, r.Reply.(proto.MultiReply).Results[i].Reply.(proto.PathReply).Path, want)
	}
	check.Equal(t, next("/a/h"), "/a/h2147483647")
}

func TestCreateVariants(t *testing.T) {
	tests := []struct {
		name     string
		req      *proto.Create
		kind     Kind
		owner    int64
		path     string
		withStat bool
	}{
		{"create", createFlags("/x", 0), KindPlain, 0, "/x", false},
		{"create2", createAs(proto.OpCreate2, "/x", 0, 0), KindPlain, 0, "/x", true},
		{"ephemeral", createFlags("/x", 1), KindPlain, s1, "/x", false},
		{"ephemeral sequential", createFlags("/x", 3), KindPlain, s1, "/x0000000003", false},
		{"container flag on create", createFlags("/x", 4), KindPlain, 0, "/x", false},
		{"container", createAs(proto.OpCreateContainer, "/x", 4, 0), KindContainer, 0, "/x", true},
		{
			"container with flag 0", createAs(proto.OpCreateContainer, "/x", 0, 0),
			KindContainer, 0, "/x", true,
		},
		{
			"container is never ephemeral", createAs(proto.OpCreateContainer, "/x", 1, 0),
			KindContainer, 0, "/x", true,
		},
		{
			"container with a number", createAs(proto.OpCreateContainer, "/x", 3, 0),
			KindContainer, 0, "/x0000000003", true,
		},
		{"ttl", createAs(proto.OpCreateTTL, "/x", 5, 9), KindTTL, 0, "/x", true},
		{
			"ttl with a number", createAs(proto.OpCreateTTL, "/x", 6, 9), KindTTL, 0,
			"/x0000000003", true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := createFixture(t)
			r := do(t, s, guest(), test.req)
			if r.Err != proto.OK {
				t.Fatal(r.Err)
			}
			st := stat(t, s, test.path)
			var want proto.Reply = proto.PathReply{Path: test.path}
			if test.withStat {
				want = proto.PathStatReply{Path: test.path, Stat: st}
			}
			check.Diff(t, r.Reply, want, "reply")
			n, _ := s.tree.find(test.path)
			if n.kind != test.kind || st.EphemeralOwner != test.owner || n.ttlMs != test.req.TTL {
				t.Errorf("kind %d ttl %d stat %+v", n.kind, n.ttlMs, st)
			}
			check.Equal(t, slices.Contains(s.Ephemerals(s1), test.path), test.owner != 0,
				"ephemerals of the session: %q", s.Ephemerals(s1))
		})
	}
}

func TestEphemeralNeedsASession(t *testing.T) {
	s := newStore(t)
	tests := []struct {
		session int64
		flags   int32
		want    proto.ErrCode
	}{
		{s1, 1, proto.OK}, {0, 1, proto.SessionExpired}, {0, 0, proto.OK},
		{0x99, 1, proto.SessionExpired}, {0x99, 0, proto.SessionExpired},
	}
	for i, test := range tests {
		path := "/x" + string(rune('a'+i))
		r := do(t, s, Caller{Session: test.session}, createFlags(path, test.flags))
		check.Equal(t, r.Err, test.want, "session %#x flags %d", test.session, test.flags)
	}
}

func TestCreateFiresCreatedThenChildrenChanged(t *testing.T) {
	s := createFixture(t)
	r := do(t, s, asAlice(), createACL("/a/x", aliceOnly))
	want := []Event{
		{Type: proto.EventCreated, Path: "/a/x", ACL: aliceOnly},
		{Type: proto.EventChildrenChanged, Path: "/a", ACL: worldAll},
	}
	check.Diff(t, r.Events, want)
	check.Equal(t, events(do(t, s, guest(), create("/b"))), "Created /b, ChildrenChanged /")
}
