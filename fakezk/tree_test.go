package fakezk

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"
	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/view"
	"github.com/zksim/zksim/internal/check"
	"pgregory.net/rapid"
)

var (
	everybody = []view.ACL{{Perms: 31, Scheme: "world", ID: "anyone"}}
	readers   = []view.ACL{{Perms: 1, Scheme: "world", ID: "anyone"},
		{Perms: 31, Scheme: "digest", ID: "alice:5LSpvMcMtdGHu1vzEO2OvzYD8rg="}}
)

// anySpecs draws nodes with all their parents, in order of path.
var anySpecs = rapid.Custom(func(t *rapid.T) []view.NodeSpec {
	paths := map[string]int32{"/": 0} // path -> children
	for range rapid.IntRange(0, 12).Draw(t, "nodes") {
		parent := rapid.SampledFrom(sortedKeys(paths)).Draw(t, "parent")
		child := strings.TrimSuffix(parent, "/") +
			"/" + rapid.SampledFrom([]string{"a", "b", "é", "next", "next-",
			"a-0000000001"}).Draw(t, "name")
		if _, ok := paths[child]; !ok {
			paths[child] = 0
			paths[parent]++
		}
	}
	var specs []view.NodeSpec
	for _, path := range sortedKeys(paths) {
		n := view.NodeSpec{Path: path,
			ACL: rapid.SampledFrom([][]view.ACL{everybody, readers}).Draw(t, "acl")}
		n.Data = rapid.SampledFrom([][]byte{nil, {}, []byte("x"), {0, 255}}).Draw(t, "data")
		n.Next = paths[path] + rapid.SampledFrom([]int32{0, 0, 1, 77}).Draw(t, "further")
		if path != "/" {
			n.Kind = rapid.SampledFrom([]view.NodeKind{view.PersistentNode, view.ContainerNode,
				view.TTLNode}).Draw(t, "kind")
		}
		if n.Kind == view.TTLNode {
			n.TTL = time.Duration(rapid.Int64Range(1, 1<<40-1).Draw(t, "ttl")) * time.Millisecond
		}
		specs = append(specs, n)
	}
	return specs
})

func sortedKeys(m map[string]int32) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func TestLoadAndSnapshotAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		specs := anySpecs.Draw(t, "tree")
		s := New(Options{})
		shuffled := rapid.Permutation(specs).Draw(t, "order")
		mustDo(t, s.Load(shuffled))
		check.Diff(t, s.Snapshot(), specs)
		for _, n := range s.Tree() {
			i := slices.IndexFunc(specs, func(spec view.NodeSpec) bool {
				return spec.Path == n.Path
			})
			if spec := specs[i]; n.Kind != spec.Kind || n.TTL != spec.TTL ||
				(n.ACL == nil) != slices.Equal(spec.ACL, everybody) {
				t.Errorf("node %+v of %+v", n, spec)
			}
		}
		mustDo(t, s.Close())
	})
}

func TestSequenceNumbersGoOnAfterLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := Start(t), Start(t)
		c := first.Connect(t)
		mustCreate(t, c, "/queue", 0)
		for range 3 {
			path, err := c.Create("/queue/n-", nil, zk.FlagSequence, openACL)
			if err == nil {
				err = c.Delete(path, -1)
			}
			check.OK(t, err)
		}
		mustCreate(t, c, "/queue/e", zk.FlagEphemeral)
		mustDo(t, second.Load(first.Snapshot()))
		for _, s := range []*Server{first, second} {
			if path, err := s.Connect(t).Create("/queue/n-", nil, zk.FlagSequence,
				openACL); path != "/queue/n-0000000004" || err != nil {
				t.Errorf("%s, %v", path, err)
			}
		}
	})
}

func TestLoadedContainersAndTTLNodesGoInTheirTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		err := s.Load([]view.NodeSpec{
			{
				Path: "/used", Kind: view.ContainerNode, Next: 1,
			}, {Path: "/unused", Kind: view.ContainerNode},
			{Path: "/short", Kind: view.TTLNode, TTL: time.Millisecond},
			{Path: "/long", Kind: view.TTLNode, TTL: time.Hour},
		})
		check.OK(t, err)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		var left []string
		for _, n := range s.Tree() {
			left = append(left, n.Path+" "+n.Kind.String())
		}
		if want := []string{
			"/ persistent", "/long ttl", "/unused container",
		}; !slices.Equal(left, want) {
			t.Errorf("left %q, want %q", left, want)
		}
	})
}

func TestSnapshotLeavesOutWhatARestartWould(t *testing.T) {
	inBubble(t, func(t *testing.T, s *Server) {
		c := s.Connect(t)
		mustCreate(t, c, "/a", 0)
		mustCreate(t, c, "/e", zk.FlagEphemeral)
		mustCreate(t, c, "/zookeeper/quota/a", 0)
		if _, err := c.Create("/zookeeper/quota/a/zookeeper_limits", []byte("count=9,bytes=-1"), 0,
			openACL); err != nil {
			t.Fatal(err)
		}
		want := []view.NodeSpec{
			{Path: "/", Data: []byte{}, ACL: everybody, Next: 2},
			{Path: "/a", ACL: everybody},
			{Path: "/zookeeper/quota/a", ACL: everybody, Next: 1},
			{
				Path: "/zookeeper/quota/a/zookeeper_limits", Data: []byte("count=9,bytes=-1"),
				ACL: everybody,
			},
		}
		check.Diff(t, s.Snapshot(), want)
		tree := s.Tree()
		if e := tree[2]; e.Path != "/e" || e.Kind != view.EphemeralNode ||
			e.Owner != c.SessionID() {
			t.Errorf("%+v", e)
		}
		other := Start(t)
		mustDo(t, other.Load(s.Snapshot()))
		check.Diff(t, other.Snapshot(), want)
	})
}

func TestSnapshotIsACopy(t *testing.T) {
	s := Start(t)
	data := []byte("data")
	mustDo(t, s.Load([]view.NodeSpec{{Path: "/a", Data: data, ACL: readers}}))
	data[0] = 'D'
	s.Snapshot()[1].Data[1] = 'A'
	if n := s.Tree()[1]; string(n.Data) != "data" {
		t.Errorf("%q", n.Data)
	}
}

func TestLoadIsAllOrNothing(t *testing.T) {
	s := Start(t)
	mustDo(t, s.Put("/there", nil))
	before, zxid := s.Snapshot(), s.engine.Store().LastZxid()
	tests := []struct {
		bad  view.NodeSpec
		want string
	}{
		{view.NodeSpec{Path: "/there"}, `load: node "/there": NodeExists`},
		{view.NodeSpec{Path: ""}, `node "": expected a path of / or names`},
		{view.NodeSpec{Path: "x"}, `node "x": expected a path`},
		{view.NodeSpec{Path: "/x/"}, `node "/x/": expected a path`},
		{view.NodeSpec{Path: "/x//y"}, `node "/x//y": expected a path`},
		{view.NodeSpec{Path: "/x/../y"}, `node "/x/../y": create its parent /x/..: BadArguments`},
		{view.NodeSpec{Path: "/x/\x01"}, `node "/x/\x01": BadArguments`},
		{view.NodeSpec{Path: "/ok/a"}, `node "/ok/a": it is given twice`},
		{view.NodeSpec{Path: "/"}, `node "/": it is given twice`},
		{view.NodeSpec{Path: "/zookeeper/quota"}, `it is the server's own`},
		{view.NodeSpec{Path: "/x", Kind: view.EphemeralNode},
			`node "/x": kind 1: expected persistent, container or ttl`},
		{view.NodeSpec{Path: "/x", Kind: 9}, `node "/x": kind 9: expected`},
		{view.NodeSpec{Path: "/x", TTL: 1}, `only a node of kind ttl has one`},
		{view.NodeSpec{Path: "/x", Kind: view.TTLNode}, `ttl 0s: expected whole milliseconds`},
		{view.NodeSpec{Path: "/x", Kind: view.TTLNode, TTL: 1500 * time.Microsecond},
			`ttl 1.5ms: expected whole milliseconds`},
		{view.NodeSpec{Path: "/x", Kind: view.TTLNode, TTL: 1 << 40 * time.Millisecond},
			`node "/x": BadArguments`},
		{
			view.NodeSpec{
				Path: "/x", ACL: []view.ACL{{Perms: 1, Scheme: "auth"}},
			}, `node "/x": InvalidACL`,
		},
		{view.NodeSpec{Path: "/x", Next: -1}, `node "/x": next -1: expected 0 to 2147483647`},
		{view.NodeSpec{Path: "/x", Next: math.MinInt32},
			`node "/x": next -2147483648: expected 0 to 2147483647`},
	}
	for _, test := range tests {
		err := s.Load([]view.NodeSpec{{Path: "/", Data: []byte("root")}, {Path: "/ok/a", Next: 5},
			test.bad})
		check.Contains(t, fmt.Sprint(err), test.want, "%+v", test.bad)
		if diff := cmp.Diff(before, s.Snapshot()); diff != "" ||
			s.engine.Store().LastZxid() != zxid {
			t.Fatalf("%+v: something changed: %s", test.bad, diff)
		}
	}
	bad := []view.NodeSpec{{Path: "/x", Kind: 9}, {Path: "/there"}}
	check.Contains(t, fmt.Sprint(s.Load(bad)), `node "/there": NodeExists`,
		"not the first in order of path")
	bad = []view.NodeSpec{{Path: "/", ACL: []view.ACL{{Scheme: "auth"}}}}
	check.Contains(t, fmt.Sprint(s.Load(bad)), `node "/": InvalidACL`)
	bad = []view.NodeSpec{{Path: "/", Kind: view.ContainerNode}}
	check.Contains(t, fmt.Sprint(s.Load(bad)), `kind container: the root is persistent`)
	if err := s.Load([]view.NodeSpec{{Path: "/", Data: []byte("root")},
		{Path: "/ok/a", Next: 5}}); err != nil {
		t.Error(err)
	}
}

func TestLoadedNumbersAndCversions(t *testing.T) {
	s := Start(t)
	for range 3 { // children that "/" has had
		mustDo(t, errors.Join(s.Put("/x", nil), s.Remove("/x")))
	}
	zxid := s.engine.Store().LastZxid()
	err := s.Load([]view.NodeSpec{
		{Path: "/", Data: []byte{}, Next: 2}, {Path: "/few/a"}, {Path: "/few", Next: 1},
		{Path: "/some/a"}, {Path: "/some", Next: 7},
		{Path: "/most", Next: math.MaxInt32}, {Path: "/half", Next: 1 << 30},
	})
	check.OK(t, err)
	check.Equal(t, s.engine.Store().LastZxid()-zxid, 1, "transactions")
	next := map[string]int32{}
	for _, n := range s.Snapshot() {
		next[n.Path] = n.Next
	}
	for _, test := range []struct {
		path           string
		next, cversion int32
	}{
		{"/", 7, 2*7 - 5}, // three before, four now; five are there with /zookeeper
		{"/few", 1, 1}, {"/few/a", 0, 0}, {"/some", 7, 13},
		// wraps around, as Java's does
		{"/most", math.MaxInt32, -2}, {"/half", 1 << 30, math.MinInt32},
	} {
		n, _ := s.engine.Store().Node(test.path)
		if next[test.path] != test.next || n.Stat.Cversion != test.cversion {
			t.Errorf("%s: next %d, cversion %d; want %+v", test.path, next[test.path],
				n.Stat.Cversion, test)
		}
	}
}

// A number is not a child: no quota keeps it back.
func TestLoadedNumbersNeedNoQuota(t *testing.T) {
	s := Start(t, Options{EnforceQuota: true})
	specs := []view.NodeSpec{
		{Path: "/q", Next: 9},
		{Path: "/zookeeper/quota/q/zookeeper_limits",
			Data: []byte("count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=1")},
		{Path: "/zookeeper/quota/q/zookeeper_stats", Data: []byte("count=1,bytes=0")},
	}
	mustDo(t, s.Load(specs))
	for _, n := range s.Snapshot() {
		if n.Path == "/q" && n.Next != 9 {
			t.Errorf("next %d", n.Next)
		}
	}
}

func TestLoadNotifiesWatches(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.watch(st.a, "/x")
		check.OK(st, st.Load([]view.NodeSpec{{Path: "/x"}}))
		st.want(st.a, "event /x")
	})
}

func TestResetMakesAnEmptyServer(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		fresh := Start(st).Snapshot()
		st.a.mustCall(rawCreate("/e", proto.FlagEphemeral))
		err := st.Load([]view.NodeSpec{
			{Path: "/", Data: nil, ACL: readers}, {Path: "/a/b/c"}, {Path: "/zzz"},
			{Path: "/c", Kind: view.ContainerNode},
			{Path: "/zookeeper/quota/a/zookeeper_limits", Data: []byte("count=1,bytes=-1")},
		})
		check.OK(st, err)
		st.inject("restart 1h client=S2 request=1")
		st.b.ask(rawCreate("/1", 0))
		st.inject("late-reap-unlike-3.8 1h at=1ms")
		time.Sleep(time.Second)
		zxid := st.Server.engine.Store().LastZxid()
		st.Reset()
		check.Equal(st, len(st.Sessions())+len(st.Watches())+len(st.Faults()), 0,
			"sessions %v, watches %v, faults %v", st.Sessions(), st.Watches(), st.Faults())
		got := st.Snapshot()
		got[0].Next = 0 // goes on
		check.Diff(st, got, fresh)
		if st.Server.engine.Store().LastZxid() <= zxid {
			st.Error("zxids do not go on")
		}
		if _, resp := rawSession(st, st.Server, rawTimeout); resp.SessionID == 0 ||
			st.Sessions()[0].Name != "S3" {
			st.Errorf("a new session: %+v", st.Sessions())
		}
		st.want(st.reattach(), "reply 0 ok, closed") // a refusal
	})
}

func TestWatchesShowTheirMode(t *testing.T) {
	withFaults(t, func(st *faultTest) {
		st.a.call(&proto.Exists{Path: "/x", Watch: true})
		st.a.mustCall(&proto.AddWatch{Path: "/p", Mode: proto.WatchPersistent})
		st.a.mustCall(&proto.AddWatch{Path: "/r", Mode: proto.WatchPersistentRecursive})
		var got []string
		for _, w := range st.Watches() {
			if !w.Children {
				got = append(got, fmt.Sprint(w.Path, " ", w.Mode))
			}
		}
		if want := []string{"/p persistent", "/r persistent-recursive",
			"/x standard"}; !slices.Equal(got, want) {
			st.Errorf("watches %q, want %q", got, want)
		}
	})
}
