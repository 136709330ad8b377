package state

import (
	"fmt"
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// delete checks in the order of PrepRequestProcessor. The path is not fully validated:
// an invalid one is not found. The node's own ACL is not checked, only the parent's.
func (d *draft) delete(q *proto.Delete) proto.ErrCode {
	if q.Path == proto.NullPath {
		return proto.MarshallingError
	}
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
	rec, ok := d.findBelow(parent, q.Path)
	if !ok {
		return proto.NoNode
	}
	if !versionMatches(q.Version, rec.version) {
		return proto.BadVersion
	}
	if rec.numChildren > 0 {
		return proto.NotEmpty
	}
	d.recordDelete(q.Path, parentPath, parent)
	return proto.OK
}

func (d *draft) recordDelete(path, parentPath string, parent record) {
	parent.numChildren--
	d.note(parentPath, parent)
	d.note(path, record{gone: true})
	d.changes = append(d.changes, DeleteNode{Path: path})
}

func (c DeleteNode) apply(s *Store, t *Txn, r *Result) {
	parentPath := parentOf(c.Path)
	parent := s.tree.mustFind(t, parentPath)
	n, ok := parent.child(nameOf(c.Path))
	if !ok || n.numChildren() > 0 {
		panic(fmt.Sprintf("state: zxid %#x (%s): delete of %q, which does not exist "+
			"or has children",
			t.Zxid, t.Op, c.Path))
	}
	parent.children.remove(n.key)
	s.tree.chars -= JavaLength(c.Path)
	s.tree.addUsage(parentPath, -1, -len(n.data))
	parent.pzxid = t.Zxid
	s.tree.digest.update(parentPath, parent)
	s.tree.digest.remove(n)
	s.forget(c.Path, n)
	s.quotas.nodeDeleted(c.Path)
	s.quotas.count(c.Path, -len(n.data), -1)
	r.Events = slices.Grow(r.Events, 2)
	r.fire(proto.EventDeleted, c.Path, n.acl)
	r.fire(proto.EventChildrenChanged, parentPath, parent.acl)
}
