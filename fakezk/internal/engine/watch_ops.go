package engine

import (
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// watchRequest answers the requests that only concern watches. None checks an ACL or
// validates a path.
func (r *replica) watchRequest(c *conn, req proto.Request) (proto.Reply, proto.ErrCode) {
	switch req := req.(type) {
	case *proto.AddWatch:
		code := r.watches.addPersistent(c, req)
		return replyIf(code, proto.ErrReply{Err: proto.OK})
	case *proto.Watches:
		switch req.Type {
		case proto.WatcherChildren, proto.WatcherData, proto.WatcherAny:
		default:
			return nil, proto.MarshallingError
		}
		if req.Code == proto.OpRemoveWatches {
			return nil, r.watches.remove(c, req)
		}
		return nil, r.watches.check(req)
	case *proto.SetWatches:
		return nil, r.setWatches(c, req)
	}
	panic("engine: no answer to " + req.Op().String())
}

func (w *watches) addPersistent(c *conn, req *proto.AddWatch) proto.ErrCode {
	switch req.Mode {
	case proto.WatchPersistent:
		return w.addBoth(c, req.Path, Persistent)
	case proto.WatchPersistentRecursive:
		return w.addBoth(c, req.Path, Recursive)
	}
	return proto.MarshallingError
}

// addBoth leaves a watch of addWatch in both tables. It accepts a null path once; the
// second time the real server throws an exception when it compares the two.
func (w *watches) addBoth(c *conn, path string, mode WatchMode) proto.ErrCode {
	if _, again := c.dataWatches[path]; again && path == proto.NullPath {
		marks.Hit("second null path")
		return proto.MarshallingError
	}
	w.data.add(c, path, mode)
	w.child.add(c, path, mode)
	return proto.OK
}

// remove removes watches and sends no event. At a null path the real server throws an exception
// after it has removed a watch.
func (w *watches) remove(c *conn, req *proto.Watches) proto.ErrCode {
	null := req.Path == proto.NullPath
	removed := false
	if req.Type != proto.WatcherData {
		removed = w.child.remove(c, req.Path)
	}
	if req.Type != proto.WatcherChildren && !(null && removed) {
		removed = w.data.remove(c, req.Path) || removed
	}
	switch {
	case !removed:
		return proto.NoWatcher
	case null:
		marks.Hit("half of a null path")
		return proto.MarshallingError
	}
	return proto.OK
}

// check succeeds if any connection has a watch on this path. The real server also looks for
// the parent and throws an exception if the path has no slash; the empty path never has a watch.
//
// Source: WatchManager.containsWatcher, PathParentIterator.
func (w *watches) check(req *proto.Watches) proto.ErrCode {
	switch {
	case req.Path == "":
		return proto.NoWatcher
	case req.Path == proto.NullPath || !strings.Contains(req.Path, "/"):
		return proto.MarshallingError
	}
	code := proto.NoWatcher
	if req.Type != proto.WatcherData {
		code = w.child.check(req.Path)
	}
	if req.Type == proto.WatcherChildren || code == proto.MarshallingError {
		return code
	}
	// The real server always checks both tables, so the second may fail, too.
	if inData := w.data.check(req.Path); inData != proto.NoWatcher {
		return inData
	}
	return code
}

// check looks for a path in one table. If the table has any recursive watch, the real
// server goes up to the root, and fails if the path does not begin with a slash.
func (t *watchTable) check(path string) proto.ErrCode {
	switch {
	case slices.ContainsFunc(t.byPath[path], func(c *conn) bool { return !c.gone }):
		return proto.OK
	case len(t.recursive) > 0 && path[0] != '/':
		marks.Hit("relative path beside a recursive watch")
		return proto.MarshallingError
	}
	return proto.NoWatcher
}

// setWatches registers watches again after a reconnect, list by list in the order of
// the record. A one-shot watch fires at once if its node changed after the zxid that the
// client has seen; a persistent watch does not. A null list makes it fail, and so does a
// null path, except the first in a persistent watch; the paths before stay registered.
//
// Source: DataTree.setWatches.
func (r *replica) setWatches(c *conn, req *proto.SetWatches) proto.ErrCode {
	oneShot := func(awaited proto.EventType) func(string) proto.ErrCode {
		return func(path string) proto.ErrCode {
			return r.setOneShot(c, path, awaited, req.RelativeZxid)
		}
	}
	persistent := func(mode WatchMode) func(string) proto.ErrCode {
		return func(path string) proto.ErrCode { return r.watches.addBoth(c, path, mode) }
	}
	lists := []struct {
		paths []string
		set   func(path string) proto.ErrCode
	}{
		{req.DataWatches, oneShot(proto.EventDataChanged)},
		{req.ExistWatches, oneShot(proto.EventCreated)},
		{req.ChildWatches, oneShot(proto.EventChildrenChanged)},
		{req.PersistentWatches, persistent(Persistent)},
		{req.RecursiveWatches, persistent(Recursive)},
	}
	if req.Code == proto.OpSetWatches {
		lists = lists[:3]
	}
	for _, list := range lists {
		if list.paths == nil {
			return proto.MarshallingError
		}
		for _, path := range list.paths {
			if code := list.set(path); code != proto.OK {
				return code
			}
		}
	}
	return proto.OK
}

// setOneShot registers a watch that awaits an event, or notifies its owner if it has missed one.
func (r *replica) setOneShot(
	c *conn, path string, awaited proto.EventType, seen int64,
) proto.ErrCode {
	if path == proto.NullPath {
		return proto.MarshallingError
	}
	n, exists := r.store.Node(path)
	table, missed := &r.watches.data, exists
	switch awaited {
	case proto.EventDataChanged:
		missed = n.Stat.Mzxid > seen
	case proto.EventChildrenChanged:
		table, missed = &r.watches.child, n.Stat.Pzxid > seen
	}
	switch {
	case !exists && awaited != proto.EventCreated:
		c.notify(proto.EventDeleted, path)
	case missed:
		c.notify(awaited, path)
	default:
		table.add(c, path, OneShot)
	}
	return proto.OK
}
