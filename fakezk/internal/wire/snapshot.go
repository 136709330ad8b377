package wire

import (
	"fmt"
	"hash/adler32"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// snapshotMagic begins a snapshot: "ZKSN" and version 2. The id of a database follows.
const snapshotMagic = "ZKSN\x00\x00\x00\x02"

// DecodeSnapshot decodes a snapshot file of a server, as org.apache.zookeeper.server.persistence's
// FileSnap writes it: the sessions, the access control lists by number, the nodes, and a checksum
// (Adler-32). What newer servers append is ignored. The error wraps [ErrMalformed].
func DecodeSnapshot(data []byte) (proto.Snapshot, error) {
	r := reader{rest: data, fromServer: true}
	if magic := r.take("header.magic", len(snapshotMagic)); string(magic) != snapshotMagic {
		r.fail("header.magic", "% x", magic)
	}
	r.int64("header.dbid")
	sessions, _ := r.count("sessions", 12)
	for range sessions {
		r.int64("session.id")
		r.int32("session.timeout")
	}
	s := proto.Snapshot{Nodes: r.snapshotNodes(r.listsOfACLs())}
	sum := uint64(adler32.Checksum(data[:len(data)-len(r.rest)]))
	if got := uint64(r.int64("val")); r.err == nil && got != sum {
		r.fail("val", "checksum %x, computed %x", got, sum)
	}
	if r.err != nil {
		return proto.Snapshot{}, fmt.Errorf("snapshot: %w", r.err)
	}
	return s, nil
}

// listsOfACLs reads the access control lists, by the numbers that nodes have of them.
func (r *reader) listsOfACLs() map[int64][]proto.ACL {
	lists := map[int64][]proto.ACL{-1: openACL}
	n, _ := r.count("acls", 12)
	for range n {
		number := r.int64("acl.number")
		lists[number] = r.acls()
	}
	return lists
}

// snapshotNodes reads the nodes. The path "/" ends them; that of the root is "".
func (r *reader) snapshotNodes(lists map[int64][]proto.ACL) (nodes []proto.SnapshotNode) {
	for r.err == nil {
		n := proto.SnapshotNode{Path: r.string("node.path")}
		if n.Path == "/" {
			return nodes
		}
		n.Data = r.buffer("node.data")
		n.ACL = lists[r.int64("node.acl")]
		n.Stat = r.statHead()
		n.Stat.Pzxid = r.int64("stat.pzxid")
		nodes = append(nodes, n)
	}
	return nil
}
