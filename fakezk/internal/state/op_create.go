package state

import (
	"fmt"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// maxTTLMs is the longest time to live: 40 bits of milliseconds.
const maxTTLMs = 1<<40 - 1

// A createMode is what flags, ttl and operation code say together.
type createMode struct {
	kind       Kind
	ephemeral  bool
	sequential bool
	ttlMs      int64
}

// create checks in the order of PrepRequestProcessor.pRequest2TxnCreate. The path
// is validated last, with its number: "/a/" is a valid path for a sequential node.
func (d *draft) create(q *proto.Create) proto.ErrCode {
	mode, err := modeOf(q)
	if err != proto.OK {
		return err
	}
	if !splittable(q.Path) {
		return proto.BadArguments
	}
	acl, ok := expandACL(q.ACL, d.by)
	if !ok {
		return proto.InvalidACL
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
		path += fmt.Sprintf("%010d", parent.counter)
	}
	if err := d.mayAppear(path, parent); err != proto.OK {
		return err
	}
	if mode.ephemeral && d.by.Session == 0 {
		return proto.SessionExpired
	}
	d.recordCreate(path, parentPath, parent, CreateNode{
		Path: path, Data: q.Data, ACL: acl,
		Owner: mode.owner(d.by.Session), Kind: mode.kind, TTLMs: mode.ttlMs,
	})
	return proto.OK
}

// mayAppear checks the final path of a new node.
func (d *draft) mayAppear(path string, parent record) proto.ErrCode {
	if !validPath(path) {
		return proto.BadArguments
	}
	if _, exists := d.find(path); exists {
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
	d.note(path, record{acl: c.ACL, ephemeral: c.Owner != 0})
	d.changes = append(d.changes, c)
}

// modeOf reads the flags. A create with the container flag makes a plain node, a
// createContainer makes a container whatever its flags, and only a createTTL
// has a ttl.
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
	parentPath := parentOf(c.Path)
	parent := s.mustFind(t, parentPath)
	if _, exists := s.find(c.Path); exists {
		panic(fmt.Sprintf("state: zxid %#x (%s): node %q exists", t.Zxid, t.Op, c.Path))
	}
	n := &node{
		data: c.Data, acl: c.ACL, owner: c.Owner, kind: c.Kind, ttlMs: c.TTLMs,
		czxid: t.Zxid, mzxid: t.Zxid, pzxid: t.Zxid, ctime: t.Time, mtime: t.Time,
	}
	if slices.Equal(n.acl, parent.acl) {
		n.acl = parent.acl // most nodes have their parent's: keep one copy
	}
	s.insert(parent, c.Path, n)
	parent.counter++
	parent.pzxid = t.Zxid
	if c.Owner != 0 {
		s.own(t, c.Owner, c.Path)
	}
	r.fire(proto.EventCreated, c.Path, n.acl)
	r.fire(proto.EventChildrenChanged, parentPath, parent.acl)
	return c.reply(t.Op, n)
}

// reply is the path, and with all but a create the stat. In a multi it is the
// kind of the node that counts: a create2 is answered as a create.
func (c CreateNode) reply(op proto.OpCode, n *node) proto.Reply {
	if op == proto.OpCreate || op == proto.OpMulti && c.Kind == KindPlain {
		return proto.PathReply{Path: c.Path}
	}
	return proto.PathStatReply{Path: c.Path, Stat: n.stat()}
}
