package state

import "github.com/zksim/zksim/fakezk/internal/proto"

// check changes nothing, but it is logged as a write. It needs READ on the node.
func (d *draft) check(q *proto.Check) proto.ErrCode {
	if !validPath(q.Path) {
		return proto.BadArguments
	}
	rec, ok := d.find(q.Path)
	if !ok {
		return proto.NoNode
	}
	if !allowed(rec.acl, proto.PermRead, d.by) {
		return proto.NoAuth
	}
	if !versionMatches(q.Version, rec.version) {
		return proto.BadVersion
	}
	d.changes = append(d.changes, Check{Path: q.Path})
	return proto.OK
}
