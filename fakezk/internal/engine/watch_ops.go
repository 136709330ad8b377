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
func (e *Engine) fire(ev *state.Event) []int64 {
	e.hit = e.watches.trigger(e.hit[:0], ev.Type, ev.Path)
	if len(e.hit) == 0 {
		return nil
	}
	start := len(e.told)
	for _, c := range e.hit {
		if state.CanRead(ev.ACL, e.caller(c)) {
			e.notify(c, ev.Type, ev.Path)
			e.told = append(e.told, c.sessionID())
		}
	}
	return e.told[start:len(e.told):len(e.told)]
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

// addWatch takes a null path once; the second time the real server stumbles when
// it compares the two.
func (e *Engine) addWatch(c *conn, req *proto.AddWatch) (proto.Reply, proto.ErrCode) {
	mode := Persistent
	switch req.Mode {
	case proto.WatchPersistent:
	case proto.WatchPersistentRecursive:
		mode = Recursive
	default:
		return nil, proto.MarshallingError
	}
	if _, again := c.dataWatches[req.Path]; again && req.Path == proto.NullPath {
		return nil, proto.MarshallingError
	}
	e.watchBoth(c, req.Path, mode)
	return proto.ErrReply{Err: proto.OK}, proto.OK
}

func (e *Engine) watchBoth(c *conn, path string, mode WatchMode) {
	e.watches.data.add(c, path, mode)
	e.watches.child.add(c, path, mode)
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
// at once, but for a persistent watch nothing does. A list that is null stops it.
func (e *Engine) setWatches(c *conn, req *proto.SetWatches) proto.ErrCode {
	if req.DataWatches == nil {
		return proto.MarshallingError
	}
	for _, path := range req.DataWatches {
		e.setDataWatch(c, path, req.RelativeZxid)
	}
	if req.ExistWatches == nil {
		return proto.MarshallingError
	}
	for _, path := range req.ExistWatches {
		if _, _, _, ok := e.store.Node(path); ok {
			e.notify(c, proto.EventCreated, path)
		} else {
			e.watches.data.add(c, path, OneShot)
		}
	}
	if req.ChildWatches == nil {
		return proto.MarshallingError
	}
	for _, path := range req.ChildWatches {
		e.setChildWatch(c, path, req.RelativeZxid)
	}
	if req.Code == proto.OpSetWatches2 {
		return e.setPersistentWatches(c, req)
	}
	return proto.OK
}

func (e *Engine) setDataWatch(c *conn, path string, seen int64) {
	_, stat, _, ok := e.store.Node(path)
	switch {
	case !ok:
		e.notify(c, proto.EventDeleted, path)
	case stat.Mzxid > seen:
		e.notify(c, proto.EventDataChanged, path)
	default:
		e.watches.data.add(c, path, OneShot)
	}
}

func (e *Engine) setChildWatch(c *conn, path string, seen int64) {
	_, stat, _, ok := e.store.Node(path)
	switch {
	case !ok:
		e.notify(c, proto.EventDeleted, path)
	case stat.Pzxid > seen:
		e.notify(c, proto.EventChildrenChanged, path)
	default:
		e.watches.child.add(c, path, OneShot)
	}
}

func (e *Engine) setPersistentWatches(c *conn, req *proto.SetWatches) proto.ErrCode {
	if req.PersistentWatches == nil {
		return proto.MarshallingError
	}
	for _, path := range req.PersistentWatches {
		e.watchBoth(c, path, Persistent)
	}
	if req.RecursiveWatches == nil {
		return proto.MarshallingError
	}
	for _, path := range req.RecursiveWatches {
		e.watchBoth(c, path, Recursive)
	}
	return proto.OK
}
