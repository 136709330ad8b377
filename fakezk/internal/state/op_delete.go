package state

import (
	"fmt"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// delete checks in the order of PrepRequestProcessor. The path is not validated
// as a whole: a strange one is just not found. The node's own ACL is not asked.
func (d *draft) delete(q *proto.Delete) proto.ErrCode {
	if !splittable(q.Path) || special(q.Path) {
		return proto.BadArguments
	}
	parentPath := parentOf(q.Path)
	parent, ok := d.find(parentPath)
	if !ok {
		return proto.NoNode
	}
	if !allowed(parent.acl, proto.PermDelete, d.by) {
		return proto.NoAuth
	}
	rec, ok := d.find(q.Path)
	if !ok {
		return proto.NoNode
	}
	if !versionMatches(q.Version, rec.version) {
		return proto.BadVersion
	}
	if rec.numChildren > 0 {
		return proto.NotEmpty
	}
	parent.numChildren--
	d.note(parentPath, parent)
	d.note(q.Path, record{gone: true})
	d.changes = append(d.changes, DeleteNode{Path: q.Path})
	return proto.OK
}

func (c DeleteNode) apply(s *Store, t *Txn, r *Result) proto.Reply {
	n := s.mustFind(t, c.Path)
	if n.numChildren > 0 || n.parent == nil {
		panic(fmt.Sprintf("state: zxid %#x (%s): delete of %q with %d children",
			t.Zxid, t.Op, c.Path, n.numChildren))
	}
	parent := n.parent
	s.remove(c.Path, n)
	parent.pzxid = t.Zxid
	if n.owner != 0 {
		s.disown(n.owner, c.Path)
	}
	r.fire(proto.EventDeleted, c.Path, n.acl)
	r.fire(proto.EventChildrenChanged, parentOf(c.Path), parent.acl)
	return nil
}
