package engine

import (
	"strings"

	"github.com/zksim/zksim/fakezk/internal/proto"
	"github.com/zksim/zksim/fakezk/internal/state"
	"github.com/zksim/zksim/fakezk/internal/wire"
)

// fire sends one event to its watchers, in order of connection, and returns
// the sessions notified. A watcher that may not read the node loses its
// one-shot watch and hears nothing (CVE-2024-23944).
func (e *Engine) fire(ev *state.Event) ([]int64, Watchers) {
	var watchers Watchers
	e.hit, watchers = e.watches.trigger(e.hit[:0], ev.Type, ev.Path)
	if len(e.hit) == 0 {
		return nil, Watchers{}
	}
	start := len(e.told)
	for _, c := range e.hit {
		if state.CanRead(ev.ACL, e.caller(c)) {
			e.notify(c, ev.Type, ev.Path)
			e.told = append(e.told, c.sessionID())
		}
	}
	return e.told[start:len(e.told):len(e.told)], watchers
}

const syncConnected = 3

func (e *Engine) notify(c *conn, t proto.EventType, path string) {
	start := len(e.buf)
	ev := proto.WatcherEvent{Type: t, State: syncConnected, Path: path}
	e.buf = wire.AppendEvent(e.buf, ev)
	e.send(c, start, &ev)
}

// watchRequest answers the requests that are about watches alone. None asks an
// ACL or whether the path could be a node's.
func (e *Engine) watchRequest(c *conn, req proto.Request) (proto.Reply, proto.ErrCode) {
	switch req := req.(type) {
	case *proto.AddWatch:
		return e.addWatch(c, req)
	case *proto.Watches:
		if req.Type != proto.WatcherChildren && req.Type != proto.WatcherData && req.Type != proto.WatcherAny {
			return nil, proto.MarshallingError
		}
		if req.Code == proto.OpRemoveWatches {
			return nil, e.removeWatches(c, req)
		}
		return nil, e.checkWatches(req)
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

// watchBoth leaves a watch of addWatch in both tables. It takes a null path once;
// the second time the real server stumbles when it compares the two.
func (e *Engine) watchBoth(c *conn, path string, mode WatchMode) proto.ErrCode {
	if _, again := c.dataWatches[path]; again && path == proto.NullPath {
		return proto.MarshallingError
	}
	e.watches.data.add(c, path, mode)
	e.watches.child.add(c, path, mode)
	return proto.OK
}

// removeWatches sends no event. Over a null path the real server stumbles once it
// has removed something.
func (e *Engine) removeWatches(c *conn, req *proto.Watches) proto.ErrCode {
	null := req.Path == proto.NullPath
	removed := false
	if req.Type != proto.WatcherData {
		removed = e.watches.child.remove(c, req.Path)
	}
	if req.Type != proto.WatcherChildren && !(null && removed) {
		removed = e.watches.data.remove(c, req.Path) || removed
	}
	switch {
	case !removed:
		return proto.NoWatcher
	case null:
		return proto.MarshallingError
	}
	return proto.OK
}

// checkWatches says whether any connection watches this very path, whoever asks.
// The real server looks at the path's parent too and stumbles if there is no
// slash to find it by; the empty path has no watch at all.
//
// Source: WatchManager.containsWatcher, PathParentIterator.
func (e *Engine) checkWatches(req *proto.Watches) proto.ErrCode {
	switch {
	case req.Path == "":
		return proto.NoWatcher
	case req.Path == proto.NullPath || !strings.Contains(req.Path, "/"):
		return proto.MarshallingError
	}
	code := proto.NoWatcher
	if req.Type != proto.WatcherData {
		code = e.watches.child.check(req.Path)
	}
	if req.Type == proto.WatcherChildren || code == proto.MarshallingError {
		return code
	}
	// Both tables are always asked, so the second may stumble all the same.
	if inData := e.watches.data.check(req.Path); inData != proto.NoWatcher {
		return inData
	}
	return code
}

// check looks for a path in one table. If that has a recursive watch, anyone's,
// the real server goes up to the root, which a path without a first slash has not.
func (t *watchTable) check(path string) proto.ErrCode {
	switch {
	case len(t.byPath[path]) > 0:
		return proto.OK
	case t.recursive > 0 && path[0] != '/':
		return proto.MarshallingError
	}
	return proto.NoWatcher
}

// setWatches registers watches again after a reconnect, list by list in the
// order of the record. What changed after the zxid that the client has seen fires
// at once, but for a persistent watch nothing does. A null list stops it, and so
// does a null path that cannot be looked up or that is watched already; what
// stands before it has been done.
//
// Source: DataTree.setWatches.
func (e *Engine) setWatches(c *conn, req *proto.SetWatches) proto.ErrCode {
	lists := []struct {
		paths []string
		set   func(path string) proto.ErrCode
	}{
		{req.DataWatches, func(path string) proto.ErrCode { return e.setDataWatch(c, path, req.RelativeZxid) }},
		{req.ExistWatches, func(path string) proto.ErrCode { return e.setExistWatch(c, path) }},
		{req.ChildWatches, func(path string) proto.ErrCode { return e.setChildWatch(c, path, req.RelativeZxid) }},
		{req.PersistentWatches, func(path string) proto.ErrCode { return e.watchBoth(c, path, Persistent) }},
		{req.RecursiveWatches, func(path string) proto.ErrCode { return e.watchBoth(c, path, Recursive) }},
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
	n, ok := e.store.Node(path)
	switch {
	case path == proto.NullPath:
		return proto.MarshallingError
	case !ok:
		e.notify(c, proto.EventDeleted, path)
	case n.Stat.Mzxid > seen:
		e.notify(c, proto.EventDataChanged, path)
	default:
		e.watches.data.add(c, path, OneShot)
	}
	return proto.OK
}

func (e *Engine) setExistWatch(c *conn, path string) proto.ErrCode {
	_, ok := e.store.Node(path)
	switch {
	case path == proto.NullPath:
		return proto.MarshallingError
	case ok:
		e.notify(c, proto.EventCreated, path)
	default:
		e.watches.data.add(c, path, OneShot)
	}
	return proto.OK
}

func (e *Engine) setChildWatch(c *conn, path string, seen int64) proto.ErrCode {
	n, ok := e.store.Node(path)
	switch {
	case path == proto.NullPath:
		return proto.MarshallingError
	case !ok:
		e.notify(c, proto.EventDeleted, path)
	case n.Stat.Pzxid > seen:
		e.notify(c, proto.EventChildrenChanged, path)
	default:
		e.watches.child.add(c, path, OneShot)
	}
	return proto.OK
}
