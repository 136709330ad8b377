package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zksim/zksim/cli/internal/command"
	"github.com/zksim/zksim/linearizability"
	"github.com/zksim/zksim/linearizability/ops"
)

// mostPaths is the greatest number of paths that an error lists.
const mostPaths = 10

// checkPaths returns an error if the server has changed no znode of the object: then --path or
// --items is wrong, and no verdict would be about the object. changed are the paths of the znodes
// that the server has changed.
func (c *Command) checkPaths(changed []string, h linearizability.History) error {
	if !slices.ContainsFunc(changed, c.isBelow) {
		return fmt.Errorf("--path: %s: the server has changed no znode there; it has changed %s",
			c.Path, listed(changed, c.Path))
	}
	offered := slices.ContainsFunc(h.Ops, func(op linearizability.Op) bool {
		return op.Kind == ops.Offer && op.OK()
	})
	if c.Items != "" && offered && !slices.ContainsFunc(changed, func(p string) bool {
		return below(c.Items, p)
	}) {
		return fmt.Errorf("--items: %s: the server has changed no znode there; it has changed %s",
			c.Items, listed(changed, c.Items))
	}
	return nil
}

// listed lists the paths, cut off behind as many names as the wanted path has.
func listed(paths []string, wanted string) string {
	names := strings.Count(path.Clean("/"+wanted), "/")
	var list []string
	for _, p := range paths {
		parts := strings.Split(p, "/")
		list = append(list, strings.Join(parts[:min(len(parts), names+1)], "/"))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	switch n := len(list) - mostPaths; {
	case len(list) == 0:
		return "none"
	case n > 0:
		return strings.Join(list[:mostPaths], ", ") + " and " + command.Plural(n, "other")
	}
	return strings.Join(list, ", ")
}

// pathsOf are the paths of the changes in a history.
func pathsOf(h linearizability.History) (list []string) {
	for _, e := range h.Server {
		if e.Path != "" {
			list = append(list, e.Path)
		}
	}
	return list
}

// below reports whether a path is dir or lies below it.
func below(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// isBelow reports whether a path is the path of the object or below it.
func (c *Command) isBelow(path string) bool { return below(c.Path, path) }
