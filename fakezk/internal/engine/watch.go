package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/zksim/zksim/fakezk/internal/marks"
	"github.com/zksim/zksim/fakezk/internal/proto"
)

// WatchMode is the mode of a watch: one-shot, or persistent, which stays when it fires.
type WatchMode uint8

// The modes of a watch. A recursive watch is persistent and covers a node and its descendants.
const (
	OneShot WatchMode = iota
	Persistent
	Recursive
)

// String is the name of the mode, as WatcherMode has it, in lower case.
func (m WatchMode) String() string {
	return [...]string{"standard", "persistent", "persistent-recursive"}[m]
}

// watches holds the watches of all connections: getData and exists leave theirs in
// data, getChildren in child, addWatch in both.
//
// Source: DataTree and WatchManager.
type watches struct {
	data, child watchTable
	gone        []*conn // that still have watches in the tables
	room        int     // of these watches that the call under way may remove
}

// mostRemoved is the number of watches of gone connections that a call of the engine removes. A
// connection can have millions, and all clients wait for the call.
const mostRemoved = 4096

// A watchTable has for each path the connections that watch it, in order. A connection has one mode
// for a path, the last one registered. modes returns the map in which the connection keeps it.
type watchTable struct {
	byPath    map[string][]*conn
	most      int // paths since the table was made
	modes     func(*conn) *map[string]WatchMode
	recursive map[int]int // number of recursive watches, by the length of the path
}

func newWatches() watches {
	return watches{
		room: mostRemoved,
		data: watchTable{
			byPath:    map[string][]*conn{},
			modes:     func(c *conn) *map[string]WatchMode { return &c.dataWatches },
			recursive: map[int]int{},
		},
		child: watchTable{
			byPath:    map[string][]*conn{},
			modes:     func(c *conn) *map[string]WatchMode { return &c.childWatches },
			recursive: map[int]int{},
		},
	}
}

// drop takes a connection's watches away: nothing fires or shows them from now on. Watches that are
// too many for one call go from the tables with later calls.
func (w *watches) drop(c *conn) {
	c.gone = true
	w.gone = append(w.gone, c)
	w.clear()
}

// begin gives the call under way its share of the watches of gone connections.
func (w *watches) begin() {
	w.room = mostRemoved
	w.clear()
}

// clear removes watches of gone connections from the tables while there is room.
func (w *watches) clear() {
	for len(w.gone) > 0 {
		c := w.gone[0]
		w.data.removeAll(c, &w.room)
		w.child.removeAll(c, &w.room)
		if len(c.dataWatches)+len(c.childWatches) > 0 {
			marks.Hit("watches go later")
			return
		}
		w.gone[0], w.gone = nil, w.gone[1:]
		w.data.shrink()
		w.child.shrink()
	}
}

// removeAll removes the watches of a connection while there is room.
func (t *watchTable) removeAll(c *conn, room *int) {
	for path := range *t.modes(c) {
		if *room == 0 {
			return
		}
		t.remove(c, path)
		*room--
	}
}

// shrink makes the table anew if it was much larger once: a map does not give memory back.
func (t *watchTable) shrink() {
	if t.most < 1024 || len(t.byPath) > t.most/4 {
		return
	}
	marks.Hit("table made anew")
	t.most = len(t.byPath)
	small := make(map[string][]*conn, t.most)
	maps.Copy(small, t.byPath)
	t.byPath = small
}

// Watchers counts the connections with a watch for an event: those with a data watch and
// those with a child watch. Connections that may not read the node are included.
type Watchers struct{ Data, Child int }

// trigger removes the one-shot watches that an event fires. It appends to hit, which is
// empty, the connections to notify, each once, in ascending order. A deletion fires the
// watches of both tables.
func (w *watches) trigger(hit []*conn, ev proto.EventType, path string) ([]*conn, Watchers) {
	var n Watchers
	if ev != proto.EventChildrenChanged {
		hit = sortUnique(w.data.trigger(hit, ev, path))
		n.Data = len(hit)
	}
	if ev == proto.EventChildrenChanged || ev == proto.EventDeleted {
		child := sortUnique(w.child.trigger(hit[n.Data:], ev, path))
		n.Child = len(child)
		hit = sortUnique(append(hit, child...))
	}
	return hit, n
}

// sortUnique sorts connections and removes duplicates.
func sortUnique(list []*conn) []*conn {
	if len(list) > 1 {
		slices.SortFunc(list, func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
		list = slices.Compact(list)
	}
	return list
}

// add registers a watch, or changes the mode of a registered one.
func (t *watchTable) add(c *conn, path string, mode WatchMode) {
	modes := t.modes(c)
	old, found := (*modes)[path]
	switch {
	case !found && *modes == nil:
		*modes = map[string]WatchMode{}
		fallthrough
	case !found:
		list := t.byPath[path]
		i, _ := find(list, c)
		t.byPath[path] = slices.Insert(list, i, c)
		t.most = max(t.most, len(t.byPath))
	case old == mode:
		return
	}
	(*modes)[path] = mode
	t.count(path, old, -1)
	t.count(path, mode, 1)
}

// remove removes a watch and reports whether there was one.
func (t *watchTable) remove(c *conn, path string) bool {
	modes := *t.modes(c)
	mode, found := modes[path]
	if !found {
		return false
	}
	delete(modes, path)
	t.count(path, mode, -1)
	list := t.byPath[path]
	i, _ := find(list, c)
	t.keep(path, slices.Delete(list, i, i+1))
	return true
}

func (t *watchTable) count(path string, mode WatchMode, by int) {
	if mode != Recursive {
		return
	}
	if t.recursive[len(path)] += by; t.recursive[len(path)] == 0 {
		delete(t.recursive, len(path))
	}
}

func (t *watchTable) keep(path string, list []*conn) {
	if len(list) == 0 {
		delete(t.byPath, path)
	} else {
		t.byPath[path] = list
	}
}

func find(list []*conn, c *conn) (int, bool) {
	return slices.BinarySearchFunc(list, c.id,
		func(c *conn, id ConnID) int { return cmp.Compare(c.id, id) })
}

// trigger appends the connections with a watch on the path of an event or with a recursive
// watch above it. NodeChildrenChanged fires no recursive watch. Only those nodes above are
// looked up that have a path of a length that some recursive watch has: a client can make a
// path with a hundred thousand elements.
func (t *watchTable) trigger(hit []*conn, ev proto.EventType, path string) []*conn {
	hit = t.triggerAt(hit, ev, path)
	if len(t.recursive) == 0 || ev == proto.EventChildrenChanged {
		return hit
	}
	for above := parentOf(path); above != ""; above = parentOf(above) {
		if t.recursive[len(above)] == 0 {
			continue
		}
		for _, c := range t.byPath[above] {
			if !c.gone && (*t.modes(c))[above] == Recursive {
				hit = append(hit, c)
			}
		}
	}
	return hit
}

func (t *watchTable) triggerAt(hit []*conn, ev proto.EventType, path string) []*conn {
	list := t.byPath[path]
	kept := list[:0]
	for _, c := range list {
		modes := *t.modes(c)
		mode := modes[path]
		if c.gone {
			kept = append(kept, c)
			continue
		}
		if mode != Recursive || ev != proto.EventChildrenChanged {
			hit = append(hit, c)
		}
		if mode == OneShot {
			delete(modes, path)
		} else {
			kept = append(kept, c)
		}
	}
	if len(kept) < len(list) {
		clear(list[len(kept):])
		t.keep(path, kept)
	}
	return hit
}

// parentOf returns the path of the parent, "" for the root.
func parentOf(path string) string {
	switch i := strings.LastIndexByte(path, '/'); {
	case i > 0:
		return path[:i]
	case i == 0 && path != "/":
		return "/"
	}
	return ""
}
