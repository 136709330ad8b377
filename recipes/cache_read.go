package recipes

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// step reads again the nodes that are due, and posts progress for the callers of Ready.
func (v *view) step(ctx context.Context, r *requests, d due) error {
	err := v.readDue(ctx, r, d)
	why := cmp.Or(err, v.loop.first())
	switch last, _ := v.progress.read(); {
	case errors.Is(err, ErrConnClosed):
		close(v.ended)
	case why == nil && !last.complete:
		v.progress.post(progress{complete: true})
	case refused(ctx, why) && !last.complete:
		v.progress.post(progress{refusal: why})
	}
	return err
}

func (v *view) readDue(ctx context.Context, r *requests, d due) error {
	if d.all {
		return v.readAll(ctx, r)
	}
	for _, path := range d.paths {
		if path != v.root && !v.lists(path) {
			continue // the list of its directory shows it if it is created again
		}
		if err := v.read(ctx, r, path, false); err != nil {
			return err
		}
	}
	return nil
}

// lists reports whether the latest list of the directory has the node.
func (v *view) lists(path string) bool {
	_, is := slices.BinarySearch(v.children[parent(path)], baseName(path))
	return is
}

// readAll reads all nodes. It synchronises first, as the server of a new session may be behind the
// server of the last one.
func (v *view) readAll(ctx context.Context, r *requests) (err error) {
	if v.epoch, err = r.synced(ctx, v.root); err != nil {
		return err
	}
	if err := v.read(ctx, r, v.root, true); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session == 0 {
		v.notifyReaders(CacheEvent{Kind: CacheReady})
	}
	v.session = v.epoch.session
	return nil
}

// read reads a node, lists its children and reads the new ones. It skips a node with a watch, which
// has not changed, unless all is set. A node that the server refuses to show keeps its last state.
func (v *view) read(ctx context.Context, r *requests, path string, all bool) error {
	err := v.loop.tolerate(ctx, path, v.readData(ctx, r, path, all))
	if err == nil && v.level(path) < v.depth {
		err = v.readChildren(ctx, r, path, all)
	}
	if errors.Is(err, zk.ErrNoNode) {
		if err = v.epoch.check(); err == nil {
			v.drop(path)
		}
		if err == nil && path == v.root {
			err = v.awaitRoot(ctx, r)
		}
	}
	return v.loop.tolerate(ctx, path, err)
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
func (v *view) awaitRoot(ctx context.Context, r *requests) error {
	if v.loop.watching(v.root, watchAbsence) {
		return nil
	}
	stat, watch, err := r.existsW(ctx, v.root)
	switch {
	case err != nil:
		return err
	case stat == nil:
		v.loop.add(v.root, watchAbsence, watch)
		return v.epoch.check()
	}
	v.loop.add(v.root, watchData, watch)
	return v.read(ctx, r, v.root, true)
}

func (v *view) readData(ctx context.Context, r *requests, path string, all bool) error {
	watched := v.loop.watching(path, watchData)
	if path == v.root && v.withoutRoot || watched && !all {
		return nil
	}
	var n node
	var err error
	if watched {
		n.data, n.stat, err = r.get(ctx, path)
	} else if n, err = r.getW(ctx, path); err == nil {
		v.loop.add(path, watchData, n.watch)
	}
	if err == nil {
		err = v.epoch.check()
	}
	if err == nil {
		v.show(CachedNode{path, n.data, *n.stat})
	}
	return err
}

func (v *view) readChildren(ctx context.Context, r *requests, path string, all bool) error {
	names, err := v.list(ctx, r, path, all)
	if refused(ctx, err) { // the known children may have changed, too
		names, err = v.children[path], v.loop.tolerate(ctx, path, err)
	}
	if err != nil {
		return err
	}
	for _, name := range v.children[path] {
		if _, stays := slices.BinarySearch(names, name); !stays {
			v.drop(join(path, name))
		}
	}
	v.children[path] = names
	for _, name := range names {
		child := join(path, name)
		if !all && v.shows(child) {
			continue
		}
		if err := v.read(ctx, r, child, all); err != nil {
			return err
		}
	}
	return nil
}

// list returns the sorted names of the children.
func (v *view) list(
	ctx context.Context, r *requests, path string, all bool,
) (names []string, err error) {
	if !v.loop.watching(path, watchChildren) {
		var watch <-chan zk.Event
		if names, watch, err = r.childrenW(ctx, path); err == nil {
			v.loop.add(path, watchChildren, watch)
		}
	} else if all {
		names, err = r.children(ctx, path)
	} else {
		return v.children[path], nil
	}
	if err == nil {
		err = v.epoch.check()
	}
	slices.Sort(names)
	return names, err
}
