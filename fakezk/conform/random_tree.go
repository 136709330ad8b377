package conform

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A tree is a generator's estimate of the nodes that its script has created, so that most
// requests find a node. It may be wrong: it has no quotas, and of an ACL it only has
// whether all clients may do everything.
type tree struct {
	nodes map[string]*treeNode // by path, $ for Root
	paths []string             // sorted
}

type treeNode struct {
	owner    string // the session's, of an ephemeral node
	children int
	made     int // number of children ever created: the next sequence number
	version  int
	aversion int
	open     bool // all clients have all permissions except ADMIN
}

func newTree() *tree {
	return &tree{nodes: map[string]*treeNode{"$": {open: true}}, paths: []string{"$"}}
}

func (t *tree) clone() *tree {
	c := &tree{nodes: maps.Clone(t.nodes), paths: slices.Clone(t.paths)}
	for path, n := range c.nodes {
		copied := *n
		c.nodes[path] = &copied
	}
	return c
}

// parentOf returns the path of the parent, "" for a path without one.
func parentOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return ""
}

func (t *tree) readable(path string) bool {
	n := t.nodes[path]
	return n != nil && n.open
}

// create adds a node, unless the server probably refuses it. It reports whether it has.
func (t *tree) create(owner, path string, flags int, open bool) bool {
	parent := t.nodes[parentOf(path)]
	if path != "$" && (parent == nil || parent.owner != "" || !parent.open) {
		return false
	}
	if flags == 2 || flags == 3 || flags == 6 {
		if parent == nil {
			return false
		}
		path += fmt.Sprintf("%010d", parent.made)
	}
	at, found := slices.BinarySearch(t.paths, path)
	if found || path != "$" && strings.HasSuffix(path, "/") {
		return false
	}
	n := &treeNode{open: open}
	if flags == 1 || flags == 3 {
		n.owner = owner
	}
	if parent != nil {
		parent.children++
		parent.made++
	}
	t.nodes[path], t.paths = n, slices.Insert(t.paths, at, path)
	return true
}

// delete removes a node, unless the server probably refuses it. It reports whether it has.
func (t *tree) delete(path string) bool {
	n, parent := t.nodes[path], t.nodes[parentOf(path)]
	if n == nil || n.children > 0 || parent != nil && !parent.open {
		return false
	}
	t.remove(path)
	return true
}

func (t *tree) remove(path string) {
	if parent := t.nodes[parentOf(path)]; parent != nil {
		parent.children--
	}
	delete(t.nodes, path)
	t.paths = slices.DeleteFunc(t.paths, func(p string) bool { return p == path })
}

// endSession removes a session's ephemerals.
func (t *tree) endSession(owner string) {
	for _, path := range slices.Clone(t.paths) {
		if t.nodes[path].owner == owner {
			t.remove(path)
		}
	}
}

// leaves returns the nodes without children, except Root.
func (t *tree) leaves() []string {
	return slices.DeleteFunc(slices.Clone(t.paths),
		func(p string) bool { return p == "$" || t.nodes[p].children > 0 })
}

// parents returns the nodes that can have children.
func (t *tree) parents() []string {
	return slices.DeleteFunc(slices.Clone(t.paths), func(p string) bool {
		n := t.nodes[p]
		return n.owner != "" || !n.open || strings.Count(p, "/") > 3
	})
}
