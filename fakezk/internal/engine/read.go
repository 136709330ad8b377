package engine

import (
	"slices"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// boundedRead is read and multiRead. tooLarge says that the reply would have more than mostRead
// bytes.
func (r *replica) boundedRead(
	c *conn, req proto.Request,
) (reply proto.Reply, code proto.ErrCode, tooLarge bool) {
	if many, ok := req.(*proto.MultiRead); ok {
		return r.readMany(c, many)
	}
	if r.listBytes(c, req) > mostRead {
		marks.Hit("list too large")
		return nil, proto.OK, true
	}
	reply, code = r.read(c, req)
	return reply, code, false
}

// read answers a request that changes no znode, and leaves its watch.
func (r *replica) read(c *conn, req proto.Request) (proto.Reply, proto.ErrCode) {
	switch req := req.(type) {
	case *proto.GetData:
		return r.readData(c, req)
	case *proto.Exists:
		return r.readStat(c, req)
	case *proto.GetChildren:
		return r.readChildren(c, req)
	case *proto.GetACL:
		acl, stat, code := r.store.ACL(req.Path, c.caller())
		return replyIf(code, proto.ACLReply{ACL: acl, Stat: stat})
	case *proto.GetEphemerals:
		paths := r.store.EphemeralsUnder(c.session.id, req.Prefix)
		return proto.EphemeralsReply{Paths: paths}, proto.OK
	case *proto.GetAllChildrenNumber:
		n, code := r.store.CountDescendants(req.Path, c.caller())
		return replyIf(code, proto.CountReply{Number: n})
	}
	return r.watchRequest(c, req)
}

// replyIf returns the reply if the request has succeeded.
func replyIf(code proto.ErrCode, reply proto.Reply) (proto.Reply, proto.ErrCode) {
	if code != proto.OK {
		return nil, code
	}
	return reply, proto.OK
}

func (r *replica) readData(c *conn, req *proto.GetData) (proto.Reply, proto.ErrCode) {
	data, stat, code := r.store.GetData(req.Path, c.caller())
	if code != proto.OK {
		return nil, code
	}
	if req.Watch {
		r.watches.data.add(c, req.Path, OneShot)
	}
	return proto.DataReply{Data: data, Stat: stat}, proto.OK
}

// readStat leaves its watch even if there is no node.
func (r *replica) readStat(c *conn, req *proto.Exists) (proto.Reply, proto.ErrCode) {
	stat, code := r.store.Exists(req.Path)
	if req.Watch && (code == proto.OK || code == proto.NoNode) {
		r.watches.data.add(c, req.Path, OneShot)
	}
	if code != proto.OK {
		return nil, code
	}
	return proto.StatReply{Stat: stat}, proto.OK
}

func (r *replica) readChildren(c *conn, req *proto.GetChildren) (proto.Reply, proto.ErrCode) {
	names, stat, code := r.store.Children(req.Path, c.caller())
	if code != proto.OK {
		return nil, code
	}
	if r.order != nil {
		names = slices.Clone(names)
		r.order(r.store, req.Path, stat.Cversion, names)
	}
	if req.Watch {
		r.watches.child.add(c, req.Path, OneShot)
	}
	if req.Code == proto.OpGetChildren {
		return proto.ChildrenReply{Names: names}, proto.OK
	}
	return proto.ChildrenStatReply{Names: names, Stat: stat}, proto.OK
}

// readMany returns one result for each read of a multiRead. A read with a null path
// makes the whole fail, and the reply has only the results before it. No watch is left:
// the real server drops the flag when it decodes the request.
func (r *replica) readMany(
	c *conn, req *proto.MultiRead,
) (_ proto.Reply, _ proto.ErrCode, tooLarge bool) {
	results := make([]proto.OpResult, 0, len(req.Ops))
	size := 0
	for _, op := range req.Ops {
		if size += r.listBytes(c, op); size > mostRead {
			marks.Hit("multiRead of a list too large")
			return nil, proto.OK, true
		}
		reply, code := r.readOne(c, op)
		if code == proto.MarshallingError {
			marks.Hit("multiRead cut short")
			return proto.MultiReply{Results: results}, code, false
		}
		if data, ok := reply.(proto.DataReply); ok {
			size += len(data.Data)
		}
		if size > mostRead {
			marks.Hit("multiRead too large")
			return nil, proto.OK, true
		}
		result := proto.OpResult{Op: op.Op(), Reply: reply, Err: code}
		if code != proto.OK {
			result.Op = proto.OpError
		}
		results = append(results, result)
	}
	return proto.MultiReply{Results: results}, proto.OK, false
}

// mostRead bounds the data and names in the reply to a read, in bytes. A real server has no bound:
// some bytes of request for each megabyte of reply fill its heap.
const mostRead = 64 << 20

// listBytes is the size of the list that a read has as its reply, 0 for other reads. It is known
// before the list is made. Who may not read the node is refused, too: the size alone says little.
func (r *replica) listBytes(c *conn, req proto.Request) int {
	switch req := req.(type) {
	case *proto.GetChildren:
		return r.store.ListBytes(req.Path)
	case *proto.GetEphemerals:
		return r.store.EphemeralBytes(c.session.id)
	}
	return 0
}

func (r *replica) readOne(c *conn, op proto.Request) (proto.Reply, proto.ErrCode) {
	switch op := op.(type) {
	case *proto.GetData:
		return r.readData(c, &proto.GetData{Path: op.Path})
	case *proto.GetChildren:
		return r.readChildren(c, &proto.GetChildren{Code: proto.OpGetChildren, Path: op.Path})
	}
	return nil, proto.MarshallingError
}
