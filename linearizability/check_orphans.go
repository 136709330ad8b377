package linearizability

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// orphan is a znode without an owner at rest, and the reason why it counts as one.
type orphan struct {
	node NodeAtRest
	why  string
}

// judgeOrphans reports leftovers: znodes first, then sessions, watches and goroutines. mayWatch
// reports whether a client may leave a watch.
func judgeOrphans(
	left *Leftovers, allowed []string, nodes []orphan, mayWatch func(client string) bool,
) Verdict {
	var found []string
	znode := ""
	for _, o := range nodes {
		if !o.node.OfDead && !matches(allowed, o.node.Path) {
			znode = cmp.Or(znode, o.node.Path)
			found = append(found, fmt.Sprintf("%s%s %s%s", o.node.Path, ownedBy(o.node), o.why,
				lostDelete(o.node)))
		}
	}
	for _, s := range left.Sessions {
		if s.Client == "" {
			found = append(found, session(s.ID)+" is alive and nobody's")
		}
	}
	for _, w := range left.Watches {
		if !mayWatch(w.Client) {
			found = append(found, fmt.Sprintf("a watch of %s on %s, though %s waits for nothing",
				w.Client, w.Path, w.Client))
		}
	}
	for _, g := range left.Leaked {
		found = append(found, "a goroutine: "+g)
	}
	if len(found) == 0 {
		return fine(Orphans, "nothing is left that nobody owns")
	}
	if len(found) > 1 {
		found[0] += fmt.Sprintf(" (and %d more: %s)", len(found)-1, strings.Join(found[1:], "; "))
	}
	v := violated(Orphans, nil, "left at rest: %s", found[0])
	v.Znode = znode
	return v
}

// anyWatch lets every client leave watches.
func anyWatch(string) bool { return true }

// leftBelow returns the znodes that are left below a path, without directories.
func leftBelow(left *Leftovers, dir string) []orphan {
	var list []orphan
	for _, n := range left.Nodes {
		if dir != "" && below(dir, n.Path) && !HasChild(left, n.Path) {
			list = append(list, orphan{n, "is left below " + dir})
		}
	}
	return list
}

// lostDelete is a remark that a delete of the znode was lost, or "".
func lostDelete(n NodeAtRest) string {
	if n.LostDelete == 0 {
		return ""
	}
	return fmt.Sprintf("; a delete of it was lost at step %d", n.LostDelete)
}

func ownedBy(n NodeAtRest) string {
	if n.Owner == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", sessionOf(n.Owner, n.OwnerClient))
}

// sessionOf prints a session with its client, if that is known.
func sessionOf(id int64, client string) string {
	if client == "" {
		return session(id)
	}
	return client + "'s " + session(id)
}

// matches reports whether one of the patterns of path.Match fits; a malformed one fits nothing.
func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}
