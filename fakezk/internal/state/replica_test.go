package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// Small alphabets, so that operations concern the same nodes.
var (
	somePath = rapid.SampledFrom([]string{
		"/", "/a", "/b", "/a/x", "/a/y", "/a/x/z", "/b/x", "/zookeeper", "/a/", "rel", "",
		"/a/n", "/\xff", "/a/AaAa", "/a/BBBB", "/a/AaBB", "//a", proto.NullPath,
		"/zookeeper/quota/a", "/zookeeper/quota/a/zookeeper_limits",
		"/zookeeper/quota/a/zookeeper_stats",
	})
	someData = rapid.SampledFrom([]string{
		"", "x", "xyz", "garbage", "count=2,bytes=4",
		"count=2,bytes=4=;byteHardLimit=6;countHardLimit=4",
	})
	someVersion = rapid.SampledFrom([]int32{-1, -1, -1, 0, 1, 2, -2})
	someACL     = rapid.SampledFrom([][]proto.ACL{
		worldAll, worldAll, worldAll, world(proto.PermRead), aliceOnly, nil,
		{{Perms: proto.PermAll, Scheme: "auth"}}, {{Perms: 1, Scheme: "bogus"}}})
	someCaller = rapid.SampledFrom([]Caller{
		guest(), asAlice(), {}, {Session: s2, IDs: []proto.ID{local}}, {Session: 0x99},
		{Super: true}})
	someCreateCode = rapid.SampledFrom([]proto.OpCode{
		proto.OpCreate, proto.OpCreate, proto.OpCreate2, proto.OpCreateContainer,
		proto.OpCreateTTL})
)

func someOp(t *rapid.T) proto.Request {
	path, version := somePath.Draw(t, "path"), someVersion.Draw(t, "version")
	switch rapid.IntRange(0, 6).Draw(t, "op") {
	case 0:
		return remove(path)
	case 1:
		return set(path, someData.Draw(t, "data"), version)
	case 2:
		return &proto.Check{Path: path, Version: version}
	default:
		return &proto.Create{
			Code: someCreateCode.Draw(t, "code"), Path: path,
			Data:  []byte(someData.Draw(t, "data")),
			ACL:   someACL.Draw(t, "acl"),
			Flags: rapid.Int32Range(0, 7).Draw(t, "flags"),
			TTL:   rapid.Int64Range(-1, 5).Draw(t, "ttl"),
		}
	}
}

func someWrite(t *rapid.T) proto.Request {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return &proto.SetACL{
			Path: somePath.Draw(t, "path"), ACL: someACL.Draw(t, "acl"),
			Version: someVersion.Draw(t, "version"),
		}
	case 1:
		return &proto.DeleteContainer{Path: somePath.Draw(t, "path")}
	case 2:
		return multi(rapid.SliceOfN(rapid.Custom(someOp), 0, 4).Draw(t, "ops")...)
	}
	return someOp(t)
}

func someTxn(t *rapid.T, s *Store, now int64) Txn {
	id := rapid.SampledFrom([]int64{s1, s2, 0x99}).Draw(t, "session")
	switch rapid.IntRange(0, 19).Draw(t, "txn") {
	case 0:
		return s.PrepareCloseSession(id, now)
	case 1:
		return s.PrepareCreateSession(id, [16]byte{byte(id)}, 4000, now)
	case 2:
		return s.PrepareMalformed(proto.OpCreate, id, now)
	}
	return s.Prepare(someWrite(t), someCaller.Draw(t, "by"), now)
}

// TestReplicasAgree applies the same Txns to a leader and to a follower. Only the leader enforces
// quotas: its decision is in the Txn.
func TestReplicasAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leader, follower := New(Config{EnforceQuota: true, Digests: true}), New(Config{})
		for i := range rapid.IntRange(1, 60).Draw(t, "n") {
			before := imageOf(leader)
			txn := someTxn(t, leader, int64(i)*10)
			wantSame(t, "Prepare changed the store", before, imageOf(leader))
			result := leader.Apply(txn)
			checkStep(t, before, leader, txn, result)
			if diff := cmp.Diff(result, follower.Apply(txn)); diff != "" {
				t.Fatalf("results differ:\n%s", diff)
			}
		}
		wantSame(t, "follower", imageOf(leader), imageOf(follower))
	})
}

// checkStep checks the invariants of a write.
func checkStep(t *rapid.T, before image, s *Store, txn Txn, r Result) {
	t.Helper()
	after := imageOf(s)
	if txn.Zxid != before.Drawn+1 || after.Drawn != txn.Zxid {
		t.Fatalf("last zxid was %d, Txn has %d, last zxid is %d", before.Drawn, txn.Zxid,
			after.Drawn)
	}
	before.Drawn = txn.Zxid
	if txn.Err != proto.OK {
		if !txn.Skipped {
			before.Last = txn.Zxid
		}
		wantSame(t, "refused but changed", before, after)
		if len(txn.Changes) != 0 || len(r.Events) != 0 {
			t.Fatalf("refused: %+v fires %v", txn, r.Events)
		}
	}
	checkTree(t, s)
}

// checkTree checks the invariants of a store.
func checkTree(t *rapid.T, s *Store) {
	t.Helper()
	nodes := nodesOf(s)
	if len(nodes) != s.NodeCount() {
		t.Fatalf("%d nodes, counted %d", len(nodes), s.NodeCount())
	}
	owned, containers, ttls := 0, 0, 0
	for path, n := range nodes {
		checkNode(t, s, path, n)
		switch {
		case n.owner != 0:
			owned++
		case n.kind == KindContainer:
			containers++
		case n.kind == KindTTL:
			ttls++
		}
	}
	var sum int64
	for path, n := range nodes {
		if !strings.HasPrefix(path, systemRoot+"/") {
			sum += int64(n.checksum(path))
		}
	}
	if s.cfg.Digests && s.tree.digest.sum != sum {
		t.Fatalf("the digest is %d, that of all nodes %d", s.tree.digest.sum, sum)
	}
	for _, ses := range s.sessions {
		owned -= ses.ephemerals.len()
	}
	if owned != 0 || containers != s.reapable.containers.len() || ttls != s.reapable.ttls.len() {
		t.Fatalf("%d more ephemerals than listed, %d containers (%d listed), %d TTL nodes (%d "+
			"listed)",
			owned, containers, s.reapable.containers.len(), ttls, s.reapable.ttls.len())
	}
}

func checkNode(t *rapid.T, s *Store, path string, n *node) {
	t.Helper()
	if found, ok := s.tree.find(path); !ok || found != n || path != "/" && n.key != nameOf(path) {
		t.Fatalf("find of %s returns no node or another one", path)
	}
	size := subtree{1, int64(len(n.data))}
	for e := range n.children.all() {
		size.add(int(e.node.size.nodes), int(e.node.size.bytes))
	}
	if n.size != size {
		t.Fatalf("the subtree of %s has the size %v, want %v", path, n.size, size)
	}
	if len(n.children.keys()) != n.children.len() {
		t.Fatalf("%s counts %d children, has %q", path, n.children.len(), n.children.keys())
	}
	if n.owner == 0 {
		return
	}
	if n.numChildren() > 0 || s.sessions[n.owner].ephemerals.get(path) == nil {
		t.Fatalf("%s has %d children, or its owner %#x does not know it", path,
			n.numChildren(), n.owner)
	}
}
