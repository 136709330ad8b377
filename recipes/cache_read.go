package recipes

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zksim/zksim/recipes/internal/request"
	"github.com/zksim/zksim/recipes/internal/task"
)

// step reads again the nodes that are due, and posts progress for the callers of Ready.
func (v *view) step(r *request.Sender, d task.Due) error {
	err := v.readDue(r, d)
	why := cmp.Or(err, v.loop.First())
	switch last, _ := v.progress.Read(); {
	case errors.Is(err, ErrConnClosed):
		close(v.ended)
	case why == nil && !last.complete:
		v.progress.Post(progress{complete: true})
	case task.Refused(r.Ctx, why) && !last.complete:
		v.progress.Post(progress{refusal: why})
	}
	return err
}

func (v *view) readDue(r *request.Sender, d task.Due) error {
	if d.All {
		return v.readAll(r)
	}
	for _, path := range d.Paths {
		if path != v.root && !v.lists(path) {
			continue // the list of its directory shows it if it is created again
		}
		if err := v.read(r, path, false); err != nil {
			return err
		}
	}
	return nil
}

// lists reports whether the latest list of the directory has the node.
func (v *view) lists(path string) bool {
	_, is := slices.BinarySearch(v.children[request.Parent(path)], request.BaseName(path))
	return is
}

// readAll reads all nodes. It synchronises first, as the server of a new session may be behind the
// server of the last one.
func (v *view) readAll(r *request.Sender) (err error) {
	if v.epoch, err = r.Synced(v.root); err != nil {
		return err
	}
	if err := v.read(r, v.root, true); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session == 0 {
		v.notifyReaders(CacheEvent{Kind: CacheReady})
	}
	v.session = v.epoch.Session
	return nil
}

// read reads a node, lists its children and reads the new ones. It skips a node with a watch, which
// has not changed, unless all is set. A node that the server refuses to show keeps its last state.
func (v *view) read(r *request.Sender, path string, all bool) error {
	err := v.loop.Tolerate(r.Ctx, path, v.readData(r, path, all))
	if err == nil && v.level(path) < v.depth {
		err = v.readChildren(r, path, all)
	}
	if errors.Is(err, zk.ErrNoNode) {
		if err = v.epoch.Check(); err == nil {
			v.drop(path)
		}
		if err == nil && path == v.root {
			err = v.awaitRoot(r)
		}
	}
	return v.loop.Tolerate(r.Ctx, path, err)
}

// level is the number of levels between the root and path.
func (v *view) level(path string) int {
	below := strings.TrimPrefix(strings.TrimPrefix(path, v.root), "/")
	if below == "" {
		return 0
	}
	return strings.Count(below, "/") + 1
}

// awaitRoot sets a watch for the creation of the root. It reads the root if that exists by now.
func (v *view) awaitRoot(r *request.Sender) error {
	if v.loop.Watching(v.root, task.WatchAbsence) {
		return nil
	}
	stat, watch, err := r.ExistsW(v.root)
	switch {
	case err != nil:
		return err
	case stat == nil:
		v.loop.Add(v.root, task.WatchAbsence, watch)
		return v.epoch.Check()
	}
	v.loop.Add(v.root, task.WatchData, watch)
	return v.read(r, v.root, true)
}

func (v *view) readData(r *request.Sender, path string, all bool) error {
	watched := v.loop.Watching(path, task.WatchData)
	if path == v.root && v.withoutRoot || watched && !all {
		return nil
	}
	var n request.Node
	var err error
	if watched {
		n.Data, n.Stat, err = r.Get(path)
	} else if n, err = r.GetW(path); err == nil {
		v.loop.Add(path, task.WatchData, n.Watch)
	}
	if err == nil {
		err = v.epoch.Check()
	}
	if err == nil {
		v.show(CachedNode{path, n.Data, *n.Stat})
	}
	return err
}

func (v *view) readChildren(r *request.Sender, path string, all bool) error {
	names, err := v.list(r, path, all)
	if task.Refused(r.Ctx, err) { // the known children may have changed, too
		names, err = v.children[path], v.loop.Tolerate(r.Ctx, path, err)
	}
	if err != nil {
		return err
	}
	for _, name := range v.children[path] {
		if _, stays := slices.BinarySearch(names, name); !stays {
			v.drop(request.Join(path, name))
		}
	}
	v.children[path] = names
	for _, name := range names {
		child := request.Join(path, name)
		if !all && v.shows(child) {
			continue
		}
		if err := v.read(r, child, all); err != nil {
			return err
		}
	}
	return nil
}

// list returns the sorted names of the children.
func (v *view) list(r *request.Sender, path string, all bool) (names []string, err error) {
	if !v.loop.Watching(path, task.WatchChildren) {
		var watch <-chan zk.Event
		if names, watch, err = r.ChildrenW(path); err == nil {
			v.loop.Add(path, task.WatchChildren, watch)
		}
	} else if all {
		names, err = r.Children(path)
	} else {
		return v.children[path], nil
	}
	if err == nil {
		err = v.epoch.Check()
	}
	slices.Sort(names)
	return names, err
}
