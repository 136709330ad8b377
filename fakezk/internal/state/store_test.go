package state

import (
	"testing"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/internal/check"
)

func TestFreshServer(t *testing.T) {
	s := New(Config{})
	type line struct {
		Path string
		Stat proto.Stat
		ACL  []proto.ACL
	}
	want := []line{
		{"/", proto.Stat{Cversion: -1, NumChildren: 1}, worldAll},
		{"/zookeeper", proto.Stat{Cversion: -2, NumChildren: 2}, worldAll},
		{"/zookeeper/config", proto.Stat{Aversion: -1}, world(proto.PermRead)},
		{"/zookeeper/quota", proto.Stat{}, worldAll},
	}
	var got []line
	for path, n := range s.Nodes() {
		if n.Data == nil || len(n.Data) > 0 {
			t.Errorf("%s has data %#v", path, n.Data)
		}
		got = append(got, line{path, n.Stat, n.ACL})
	}
	check.Diff(t, got, want)
	if s.LastZxid() != 0 || s.NodeCount() != 4 || len(s.Sessions()) != 0 {
		t.Errorf("zxid %d, %d nodes, sessions %v", s.LastZxid(), s.NodeCount(), s.Sessions())
	}
}

func TestStatArithmetic(t *testing.T) {
	s := newStore(t) // zxid 2
	must(t, s, guest(), create("/p"))
	steps := []struct {
		req          proto.Request
		mzxid, pzxid int64
		cversion     int32
		children     int32
	}{
		{create("/p/a"), 3, 4, 1, 1},
		{set("/p/a", "x", 0), 3, 4, 1, 1},
		{remove("/p/a"), 3, 6, 2, 0},
		{create("/p/a"), 3, 7, 3, 1},
		{remove("/p/a"), 3, 8, 4, 0},
		{set("/p", "xyz", 0), 9, 8, 4, 0},
	}
	for _, step := range steps {
		must(t, s, guest(), step.req)
		want := proto.Stat{
			Czxid: 3, Mzxid: step.mzxid, Pzxid: step.pzxid,
			Ctime: 3000, Mtime: 1000 * step.mzxid,
			Cversion: step.cversion, NumChildren: step.children,
		}
		if step.mzxid == 9 {
			want.Version, want.DataLength = 1, 3
		}
		check.Diff(t, stat(t, s, "/p"), want, "after %s", describe(step.req))
	}
}

func TestReadsDoNotValidatePaths(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/a"), createACL("/dark", world(proto.PermWrite)))
	tests := []struct {
		path                    string
		exists, data, kids, acl proto.ErrCode
	}{
		{"/a", 0, 0, 0, 0},
		{"", 0, 0, 0, 0},
		{"/dark", 0, proto.NoAuth, proto.NoAuth, proto.NoAuth},
		{"/a/", proto.NoNode, proto.NoNode, proto.NoNode, proto.NoNode},
		{"rel", proto.NoNode, proto.NoNode, proto.NoNode, proto.NoNode},
		{"//", proto.NoNode, proto.NoNode, proto.NoNode, proto.NoNode},
		{"/\x00", proto.BadArguments, proto.NoNode, proto.NoNode, proto.NoNode},
	}
	for _, test := range tests {
		_, exists := s.Exists(test.path)
		_, _, data := s.GetData(test.path, guest())
		_, _, kids := s.Children(test.path, guest())
		_, _, acl := s.ACL(test.path, guest())
		got := []proto.ErrCode{exists, data, kids, acl}
		want := []proto.ErrCode{test.exists, test.data, test.kids, test.acl}
		check.List(t, got, want, "%q", test.path)
	}
}

func TestPathRules(t *testing.T) {
	good := []string{
		"/", "/a", "/a/b", "/...", "/..a", "/a..b", "/.a", "/ ", "/a\\b",
		"/\u00a0", "/漢", "/\uf900", "/\uffef",
	}
	bad := []string{
		"", "a", "/a/", "//", "//a", "/a//b", "/.", "/..", "/a/./b", "/a/..",
		"/\x00", "/\x01", "/\x1f", "/\x7f", "/\u009f", "/\ue000", "/\uf8ff", "/\ufff0",
		"/\ufffd", "/\uffff", "/\U0001F600", "/\xff", "/\xed\xa0\x80",
	}
	for _, path := range good {
		if !validPath(path) {
			t.Errorf("%q is refused", path)
		}
	}
	for _, path := range bad {
		if validPath(path) {
			t.Errorf("%q is accepted", path)
		}
	}
}

func TestMalformedWriteConsumesAZxid(t *testing.T) {
	s := newStore(t)
	before := imageOf(s)
	r := s.Apply(s.PrepareMalformed(proto.OpMulti, s1, 5))
	check.Diff(t, r, Result{Err: proto.MarshallingError})
	before.drawZxid()
	wantSame(t, "after a malformed write", before, imageOf(s))
}

func TestApplyPanicsOnAGap(t *testing.T) {
	s := newStore(t)
	txn := s.Prepare(create("/a"), guest(), 1)
	s.Apply(txn)
	defer func() {
		if recover() == nil {
			t.Error("applied the same Txn twice")
		}
	}()
	s.Apply(txn)
}

func TestCountDescendants(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/a"), create("/a/b"), create("/a/b/c"), create("/ab"),
		createACL("/dark", world(proto.PermWrite)))
	tests := []struct {
		path string
		want int32
		err  proto.ErrCode
	}{
		{"/", 8, proto.OK}, {"", 9, proto.OK}, {"/zookeeper", 2, proto.OK},
		{"/a", 2, proto.OK}, {"/a/b/c", 0, proto.OK},
		{"/a/", 0, proto.NoNode}, {"//", 0, proto.NoNode}, {"/no", 0, proto.NoNode},
		{"/dark", 0, proto.NoAuth},
	}
	for _, test := range tests {
		if got, err := s.CountDescendants(test.path, guest()); got != test.want || err != test.err {
			t.Errorf("%q: got %d and %s, want %d and %s", test.path, got, err, test.want, test.err)
		}
	}
}

func TestRootLookalikesAreNotChildren(t *testing.T) {
	s := newStore(t)
	must(t, s, guest(), create("/x"))
	if r := do(t, s, guest(), remove("//x")); r.Err != proto.NoNode {
		t.Errorf("delete //x: %s", r.Err)
	}
	m := do(t, s, guest(), multi(remove("//x")))
	check.Equal(t, m.Reply.(proto.MultiReply).Results[0].Err, proto.NoNode, "multi: %+v", m.Reply)
}
