package engine

import (
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// read answers a request that changes no znode, and leaves its watch.
func (e *Engine) read(c *conn, req proto.Request) (proto.Reply, proto.ErrCode) {
	switch req := req.(type) {
	case *proto.GetData:
		return e.readData(c, req)
	case *proto.Exists:
		return e.readStat(c, req)
	case *proto.GetChildren:
		return e.readChildren(c, req)
	case *proto.GetACL:
		return e.readACL(c, req)
	case *proto.Sync:
		e.catchUp(c.at)
		return proto.PathReply{Path: req.Path}, proto.OK
	case *proto.GetEphemerals:
		return proto.EphemeralsReply{
			Paths: c.at.store.EphemeralsUnder(c.session.id, req.Prefix),
		}, proto.OK
	case *proto.GetAllChildrenNumber:
		return e.countDescendants(c, req)
	}
	return e.watchRequest(c, req)
}

func (e *Engine) readData(c *conn, req *proto.GetData) (proto.Reply, proto.ErrCode) {
	data, stat, code := c.at.store.GetData(req.Path, e.caller(c))
	if code != proto.OK {
		return nil, code
	}
	if req.Watch {
		c.at.watches.data.add(c, req.Path, OneShot)
	}
	return proto.DataReply{Data: data, Stat: stat}, proto.OK
}

// readStat leaves its watch even if there is no node.
func (e *Engine) readStat(c *conn, req *proto.Exists) (proto.Reply, proto.ErrCode) {
	stat, code := c.at.store.Exists(req.Path)
	if req.Watch && (code == proto.OK || code == proto.NoNode) {
		c.at.watches.data.add(c, req.Path, OneShot)
	}
	if code != proto.OK {
		return nil, code
	}
	return proto.StatReply{Stat: stat}, proto.OK
}

func (e *Engine) readChildren(c *conn, req *proto.GetChildren) (proto.Reply, proto.ErrCode) {
	names, stat, code := c.at.store.Children(req.Path, e.caller(c))
	if code != proto.OK {
		return nil, code
	}
	if e.cfg.OrderChildren != nil {
		names = slices.Clone(names)
		e.cfg.OrderChildren(c.at.store, req.Path, stat.Cversion, names)
	}
	if req.Watch {
		c.at.watches.child.add(c, req.Path, OneShot)
	}
	if req.Code == proto.OpGetChildren {
		return proto.ChildrenReply{Names: names}, proto.OK
	}
	return proto.ChildrenStatReply{Names: names, Stat: stat}, proto.OK
}

func (e *Engine) readACL(c *conn, req *proto.GetACL) (proto.Reply, proto.ErrCode) {
	acl, stat, code := c.at.store.ACL(req.Path, e.caller(c))
	if code != proto.OK {
		return nil, code
	}
	return proto.ACLReply{ACL: acl, Stat: stat}, proto.OK
}

func (e *Engine) countDescendants(
	c *conn, req *proto.GetAllChildrenNumber,
) (proto.Reply, proto.ErrCode) {
	n, code := c.at.store.CountDescendants(req.Path, e.caller(c))
	if code != proto.OK {
		return nil, code
	}
	return proto.CountReply{Number: n}, proto.OK
}

// readMany returns one result for each read of a multiRead. A read with a null path
// makes the whole fail, and the reply has only the results before it. No watch is left:
// the real server drops the flag when it decodes the request. tooLarge says that the reply would
// have more than mostRead bytes.
func (e *Engine) readMany(
	c *conn, req *proto.MultiRead,
) (_ proto.Reply, _ proto.ErrCode, tooLarge bool) {
	results := make([]proto.OpResult, 0, len(req.Ops))
	size := 0
	for _, op := range req.Ops {
		reply, code := e.readOne(c, op)
		if code == proto.MarshallingError {
			return proto.MultiReply{Results: results}, code, false
		}
		if size += payload(reply); size > mostRead {
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

// mostRead bounds the data and names in the reply to a multiRead, in bytes. A real server has no
// bound: some bytes of request for each megabyte of reply fill its heap.
const mostRead = 64 << 20

// payload is the number of bytes of data and names in the reply to a read.
func payload(reply proto.Reply) int {
	size := 0
	switch reply := reply.(type) {
	case proto.DataReply:
		size = len(reply.Data)
	case proto.ChildrenReply:
		for _, name := range reply.Names {
			size += 4 + len(name)
		}
	}
	return size
}

func (e *Engine) readOne(c *conn, op proto.Request) (proto.Reply, proto.ErrCode) {
	switch op := op.(type) {
	case *proto.GetData:
		return e.readData(c, &proto.GetData{Path: op.Path})
	case *proto.GetChildren:
		return e.readChildren(c, &proto.GetChildren{Code: proto.OpGetChildren, Path: op.Path})
	}
	return nil, proto.MarshallingError
}
