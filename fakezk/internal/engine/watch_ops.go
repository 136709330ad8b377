package engine

import (
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// fire sends one event to its watchers at a server, in order of connection, and returns the
// notified sessions. A watcher that may not read the node loses its one-shot watch and
// is not notified (CVE-2024-23944).
func (e *Engine) fire(at *replica, ev *state.Event) ([]int64, Watchers) {
	var watchers Watchers
	e.hit, watchers = at.watches.trigger(e.hit[:0], ev.Type, ev.Path)
	if len(e.hit) == 0 {
		return nil, Watchers{}
	}
	start := len(e.notifiedIDs)
	for _, c := range e.hit {
		if state.CanRead(ev.ACL, e.caller(c)) {
			e.notify(c, ev.Type, ev.Path)
			e.notifiedIDs = append(e.notifiedIDs, c.sessionID())
		}
	}
	end := len(e.notifiedIDs)
	return e.notifiedIDs[start:end:end], watchers
}

const syncConnected = 3

func (e *Engine) notify(c *conn, t proto.EventType, path string) {
	start := len(e.buf)
	ev := proto.WatcherEvent{Type: t, State: syncConnected, Path: path}
	e.buf = wire.AppendEvent(e.buf, ev)
	e.send(c, start, &ev)
}

// watchRequest answers the requests that only concern watches. None checks an ACL or
// validates a path.
func (e *Engine) watchRequest(c *conn, req proto.Request) (proto.Reply, proto.ErrCode) {
	switch req := req.(type) {
	case *proto.AddWatch:
		return e.addWatch(c, req)
	case *proto.Watches:
		switch req.Type {
		case proto.WatcherChildren, proto.WatcherData, proto.WatcherAny:
		default:
			return nil, proto.MarshallingError
		}
		if req.Code == proto.OpRemoveWatches {
			return nil, e.removeWatches(c, req)
		}
		return nil, c.at.watches.check(req)
	case *proto.SetWatches:
		return nil, e.setWatches(c, req)
	}
	panic("engine: no answer to " + req.Op().String())
}

func (e *Engine) addWatch(c *conn, req *proto.AddWatch) (proto.Reply, proto.ErrCode) {
	mode := Persistent
	switch req.Mode {
	case proto.WatchPersistent:
	case proto.WatchPersistentRecursive:
		mode = Recursive
	default:
		return nil, proto.MarshallingError
	}
	if code := e.watchBoth(c, req.Path, mode); code != proto.OK {
		return nil, code
	}
	return proto.ErrReply{Err: proto.OK}, proto.OK
}

// watchBoth leaves a watch of addWatch in both tables. It accepts a null path once; the
// second time the real server throws an exception when it compares the two.
func (e *Engine) watchBoth(c *conn, path string, mode WatchMode) proto.ErrCode {
	if _, again := c.dataWatches[path]; again && path == proto.NullPath {
		return proto.MarshallingError
	}
	c.at.watches.data.add(c, path, mode)
	c.at.watches.child.add(c, path, mode)
	return proto.OK
}

// removeWatches sends no event. At a null path the real server throws an exception after
// it has removed a watch.
func (e *Engine) removeWatches(c *conn, req *proto.Watches) proto.ErrCode {
	null := req.Path == proto.NullPath
	removed := false
	if req.Type != proto.WatcherData {
		removed = c.at.watches.child.remove(c, req.Path)
	}
	if req.Type != proto.WatcherChildren && !(null && removed) {
		removed = c.at.watches.data.remove(c, req.Path) || removed
	}
	switch {
	case !removed:
		return proto.NoWatcher
	case null:
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
	case len(t.byPath[path]) > 0:
		return proto.OK
	case len(t.recursive) > 0 && path[0] != '/':
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
func (e *Engine) setWatches(c *conn, req *proto.SetWatches) proto.ErrCode {
	type code = proto.ErrCode
	seen := req.RelativeZxid
	lists := []struct {
		paths []string
		set   func(path string) code
	}{
		{req.DataWatches, func(path string) code { return e.setDataWatch(c, path, seen) }},
		{req.ExistWatches, func(path string) code { return e.setExistWatch(c, path) }},
		{req.ChildWatches, func(path string) code { return e.setChildWatch(c, path, seen) }},
		{req.PersistentWatches, func(path string) code { return e.watchBoth(c, path, Persistent) }},
		{req.RecursiveWatches, func(path string) code { return e.watchBoth(c, path, Recursive) }},
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

func (e *Engine) setDataWatch(c *conn, path string, seen int64) proto.ErrCode {
	n, ok := c.at.store.Node(path)
	switch {
	case path == proto.NullPath:
		return proto.MarshallingError
	case !ok:
		e.notify(c, proto.EventDeleted, path)
	case n.Stat.Mzxid > seen:
		e.notify(c, proto.EventDataChanged, path)
	default:
		c.at.watches.data.add(c, path, OneShot)
	}
	return proto.OK
}

func (e *Engine) setExistWatch(c *conn, path string) proto.ErrCode {
	_, ok := c.at.store.Node(path)
	switch {
	case path == proto.NullPath:
		return proto.MarshallingError
	case ok:
		e.notify(c, proto.EventCreated, path)
	default:
		c.at.watches.data.add(c, path, OneShot)
	}
	return proto.OK
}

func (e *Engine) setChildWatch(c *conn, path string, seen int64) proto.ErrCode {
	n, ok := c.at.store.Node(path)
	switch {
	case path == proto.NullPath:
		return proto.MarshallingError
	case !ok:
		e.notify(c, proto.EventDeleted, path)
	case n.Stat.Pzxid > seen:
		e.notify(c, proto.EventChildrenChanged, path)
	default:
		c.at.watches.child.add(c, path, OneShot)
	}
	return proto.OK
}
