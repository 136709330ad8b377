package engine

import (
	"slices"

	"github.com/zksim/zksim/fakezk/internal/proto"
)

// watchTable holds the one-shot watches of all connections. getData and exists
// share the data table; repeated registration collapses.
type watchTable struct {
	data, child map[string]map[ConnID]bool
	byConn      map[ConnID]map[watchKey]bool
}

type watchKey struct {
	path  string
	child bool
}

func newWatchTable() watchTable {
	return watchTable{
		data:   map[string]map[ConnID]bool{},
		child:  map[string]map[ConnID]bool{},
		byConn: map[ConnID]map[watchKey]bool{},
	}
}

func (t *watchTable) addData(id ConnID, path string)  { t.add(id, watchKey{path, false}) }
func (t *watchTable) addChild(id ConnID, path string) { t.add(id, watchKey{path, true}) }

func (t *watchTable) table(child bool) map[string]map[ConnID]bool {
	if child {
		return t.child
	}
	return t.data
}

func (t *watchTable) add(id ConnID, key watchKey) {
	table := t.table(key.child)
	if table[key.path] == nil {
		table[key.path] = map[ConnID]bool{}
	}
	table[key.path][id] = true
	if t.byConn[id] == nil {
		t.byConn[id] = map[watchKey]bool{}
	}
	t.byConn[id][key] = true
}

// drop removes all watches of a connection.
func (t *watchTable) drop(id ConnID) {
	for key := range t.byConn[id] {
		t.remove(id, key)
	}
	delete(t.byConn, id)
}

func (t *watchTable) remove(id ConnID, key watchKey) {
	table := t.table(key.child)
	delete(table[key.path], id)
	if len(table[key.path]) == 0 {
		delete(table, key.path)
	}
}

// trigger removes the watches that an event fires and returns whom to notify,
// each connection once, in ascending order.
func (t *watchTable) trigger(ev proto.EventType, path string) []ConnID {
	var ids []ConnID
	if ev != proto.EventChildrenChanged {
		ids = t.take(ids, watchKey{path, false})
	}
	if ev == proto.EventChildrenChanged || ev == proto.EventDeleted {
		ids = t.take(ids, watchKey{path, true})
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (t *watchTable) take(ids []ConnID, key watchKey) []ConnID {
	table := t.table(key.child)
	for id := range table[key.path] {
		ids = append(ids, id)
		delete(t.byConn[id], key)
		if len(t.byConn[id]) == 0 {
			delete(t.byConn, id)
		}
	}
	delete(table, key.path)
	return ids
}

// setWatches registers watches again after a reconnect, list by list in the
// client's order. What changed after the zxid that it has seen fires at once.
func (e *Engine) setWatches(c *conn, req *proto.SetWatches) {
	for _, path := range req.DataWatches {
		stat, code := e.store.Exists(path)
		switch {
		case code != proto.OK:
			e.notify(c, proto.EventDeleted, path)
		case stat.Mzxid > req.RelativeZxid:
			e.notify(c, proto.EventDataChanged, path)
		default:
			e.watches.addData(c.id, path)
		}
	}
	for _, path := range req.ExistWatches {
		if _, code := e.store.Exists(path); code == proto.OK {
			e.notify(c, proto.EventCreated, path)
		} else {
			e.watches.addData(c.id, path)
		}
	}
	for _, path := range req.ChildWatches {
		stat, code := e.store.Exists(path)
		switch {
		case code != proto.OK:
			e.notify(c, proto.EventDeleted, path)
		case stat.Pzxid > req.RelativeZxid:
			e.notify(c, proto.EventChildrenChanged, path)
		default:
			e.watches.addChild(c.id, path)
		}
	}
}
