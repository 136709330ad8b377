package state

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// maxTTLMs is the longest ttl in milliseconds: 40 bits.
const maxTTLMs = 1<<40 - 1

// A createMode is the kind of node that a create asks for by its flags, its ttl and its
// operation code.
type createMode struct {
	kind       Kind
	ephemeral  bool
	sequential bool
	ttlMs      int64
}

// create checks in the order of PrepRequestProcessor.pRequest2TxnCreate. The path
// is validated last, with its sequence number: "/a/" is valid for a sequential node.
func (d *draft) create(q *proto.Create) proto.ErrCode {
	mode, err := modeOf(q)
	if err != proto.OK {
		return err
	}
	if q.Path == proto.NullPath {
		return proto.MarshallingError
	}
	if !splittable(q.Path) {
		return proto.BadArguments
	}
	acl, err := d.expandACL(q.ACL)
	if err != proto.OK {
		return err
	}
	parentPath := parentOf(q.Path)
	parent, ok := d.find(parentPath)
	if !ok {
		return proto.NoNode
	}
	if !allowed(parent.acl, proto.PermCreate, d.by) {
		return proto.NoAuth
	}
	path := q.Path
	if mode.sequential {
		path = numbered(path, parent.counter)
	}
	if err := d.checkFinalPath(path, parent); err != proto.OK {
		return err
	}
	if mode.ephemeral && d.by.Session == 0 {
		return proto.SessionExpired
	}
	if err := d.checkQuota(path, int64(len(q.Data)), 1); err != proto.OK {
		return err
	}
	d.recordCreate(path, parentPath, parent, CreateNode{
		Path: path, Data: q.Data, ACL: acl,
		Owner: mode.owner(d.by.Session), Kind: mode.kind, TTLMs: mode.ttlMs,
	})
	return proto.OK
}

// numbered returns the path of a sequential node: path and a number, padded with zeros to
// ten characters. Within a multi the number may overflow and be negative.
func numbered(path string, number int32) string {
	var buf [11]byte
	digits := strconv.AppendInt(buf[:0], int64(number), 10)
	return path + "0000000000"[min(len(digits), 10):] + string(digits)
}

// checkFinalPath checks the final path of a new node.
func (d *draft) checkFinalPath(path string, parent record) proto.ErrCode {
	if !validPath(path) {
		return proto.BadArguments
	}
	if _, exists := d.findBelow(parent, path); exists {
		return proto.NodeExists
	}
	if parent.ephemeral {
		return proto.NoChildrenForEphemerals
	}
	return proto.OK
}

func (d *draft) recordCreate(path, parentPath string, parent record, c CreateNode) {
	parent.counter++
	parent.numChildren++
	d.note(parentPath, parent)
	d.note(path, record{acl: c.ACL, dataLength: len(c.Data), ephemeral: c.Owner != 0})
	d.changes = append(d.changes, c)
}

// modeOf returns the mode of a create. A create with the container flag makes a plain node, a
// createContainer with any flags makes a container, and only a createTTL has a ttl.
func modeOf(q *proto.Create) (createMode, proto.ErrCode) {
	var m createMode
	switch q.Flags {
	case proto.FlagPersistent, proto.FlagContainer:
	case proto.FlagEphemeral:
		m.ephemeral = true
	case proto.FlagPersistentSequential:
		m.sequential = true
	case proto.FlagEphemeralSequential:
		m.ephemeral, m.sequential = true, true
	case proto.FlagTTL, proto.FlagPersistentSequentialTTL:
		return ttlMode(q)
	default:
		return m, proto.BadArguments
	}
	switch q.Code {
	case proto.OpCreateTTL:
		return m, proto.BadArguments
	case proto.OpCreateContainer:
		m.kind, m.ephemeral = KindContainer, false
	}
	return m, proto.OK
}

func ttlMode(q *proto.Create) (createMode, proto.ErrCode) {
	if q.Code != proto.OpCreateTTL || q.TTL <= 0 || q.TTL > maxTTLMs {
		return createMode{}, proto.BadArguments
	}
	sequential := q.Flags == proto.FlagPersistentSequentialTTL
	return createMode{kind: KindTTL, ttlMs: q.TTL, sequential: sequential}, proto.OK
}

func (m createMode) owner(session int64) int64 {
	if m.ephemeral {
		return session
	}
	return 0
}

func (c CreateNode) apply(s *Store, t *Txn, r *Result) proto.Reply {
	parentPath, name := parentOf(c.Path), nameOf(c.Path)
	parent := s.tree.mustFind(t, parentPath)
	if _, exists := parent.child(name); exists {
		panic(fmt.Sprintf("state: zxid %#x (%s): node %q exists", t.Zxid, t.Op, c.Path))
	}
	n := &node{
		data: c.Data, acl: c.ACL, owner: c.Owner, kind: c.Kind, ttlMs: c.TTLMs,
		czxid: t.Zxid, mzxid: t.Zxid, pzxid: t.Zxid, ctime: t.Time, mtime: t.Time,
	}
	if slices.Equal(n.acl, parent.acl) {
		n.acl = parent.acl // most nodes have their parent's ACL: store it once
	}
	n.size = subtree{1, int64(len(c.Data))}
	n.attach(parent, name)
	s.tree.chars += JavaLength(c.Path)
	s.tree.addUsage(parentPath, 1, len(c.Data))
	parent.countChild(t.Zxid)
	s.tree.digest.update(parentPath, parent)
	s.tree.digest.update(c.Path, n)
	s.enlist(t, c.Path, n)
	reply := c.reply(t.Op, n)
	s.quotas.nodeCreated(c.Path)
	s.quotas.count(c.Path, len(c.Data), 1)
	r.Events = slices.Grow(r.Events, 2)
	r.fire(proto.EventCreated, c.Path, n.acl)
	r.fire(proto.EventChildrenChanged, parentPath, parent.acl)
	return reply
}

// countChild counts a created child. At its largest value the counter stays, and pzxid
// with it: DataTree.createNode changes both only if the counter grows.
func (n *node) countChild(zxid int64) {
	if n.counter < math.MaxInt32 {
		n.counter++
		n.pzxid = zxid
	}
}

// reply returns the reply to op: the path, and except for a create the stat. In a multi
// it depends on the kind of the node, so a create2 is answered as a create.
func (c CreateNode) reply(op proto.OpCode, n *node) proto.Reply {
	if op == proto.OpCreate || op == proto.OpMulti && c.Kind == KindPlain {
		return proto.PathReply{Path: c.Path}
	}
	return proto.PathStatReply{Path: c.Path, Stat: n.stat()}
}
