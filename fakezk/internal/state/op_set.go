package state

import "github.com/zksim/zksim/fakezk/internal/proto"

// setData checks the request against the tree, or against what the operations before it in a multi
// leave. It changes no node: apply does.
func (d *draft) setData(q *proto.SetData) proto.ErrCode {
	if !validPath(q.Path) {
		return proto.BadArguments
	}
	rec, ok := d.find(q.Path)
	if !ok {
		return proto.NoNode
	}
	if !allowed(rec.acl, proto.PermWrite, d.by) {
		return proto.NoAuth
	}
	grown := int64(len(q.Data) - rec.dataLength)
	if err := d.checkQuota(q.Path, grown, 0); err != proto.OK {
		return err
	}
	if !versionMatches(q.Version, rec.version) {
		return proto.BadVersion
	}
	rec.version++
	rec.dataLength = len(q.Data)
	d.note(q.Path, rec)
	d.changes = append(d.changes, SetData{Path: q.Path, Data: q.Data, Version: rec.version})
	return proto.OK
}

// apply increments the version and fires, even if the data is the same as before.
func (c SetData) apply(s *Store, t *Txn, r *Result) proto.Reply {
	n := s.tree.mustFind(t, c.Path)
	grown := len(c.Data) - len(n.data)
	n.data, n.version = c.Data, c.Version
	n.mzxid, n.mtime = t.Zxid, t.Time
	s.tree.digest.update(c.Path, n)
	reply := proto.StatReply{Stat: n.stat()}
	s.tree.addUsage(c.Path, 0, grown)
	s.quotas.count(c.Path, grown, 0)
	r.fire(proto.EventDataChanged, c.Path, n.acl)
	return reply
}
