package state

import "github.com/zksim/zksim/fakezk/internal/proto"

// setACL checks the list before it looks for the node, and compares the version of the
// ACL, not of the data.
func (d *draft) setACL(q *proto.SetACL) proto.ErrCode {
	if !validPath(q.Path) {
		return proto.BadArguments
	}
	acl, err := d.expandACL(q.ACL)
	if err != proto.OK {
		return err
	}
	rec, ok := d.find(q.Path)
	if !ok {
		return proto.NoNode
	}
	if !allowed(rec.acl, proto.PermAdmin, d.by) {
		return proto.NoAuth
	}
	if !versionMatches(q.Version, rec.aversion) {
		return proto.BadVersion
	}
	rec.aversion++
	rec.acl = acl
	d.note(q.Path, rec)
	d.changes = append(d.changes, SetACL{Path: q.Path, ACL: acl, Aversion: rec.aversion})
	return proto.OK
}

// apply fires no event: ZooKeeper has no watch for ACLs.
func (c SetACL) apply(s *Store, t *Txn) proto.Reply {
	n := s.tree.mustFind(t, c.Path)
	n.acl, n.aversion = c.ACL, c.Aversion
	s.tree.digest.update(c.Path, n)
	return proto.StatReply{Stat: n.stat()}
}
