package judging

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	lin "github.com/zksim/zksim/linearizability"
)

// Orphan is a znode without an owner at rest, and the reason why it counts as one.
type Orphan struct {
	Node lin.NodeAtRest
	Why  string
}

// Orphans reports leftovers: znodes first, then sessions, watches and goroutines. mayWatch
// reports whether a client may leave a watch.
func Orphans(
	left *lin.Leftovers, allowed []string, nodes []Orphan, mayWatch func(client string) bool,
) lin.Verdict {
	var found []string
	znode := ""
	for _, o := range nodes {
		if !o.Node.OfDead && !matches(allowed, o.Node.Path) {
			znode = cmp.Or(znode, o.Node.Path)
			found = append(found, fmt.Sprintf("%s%s %s%s", o.Node.Path, ownedBy(o.Node), o.Why,
				LostDelete(o.Node)))
		}
	}
	for _, s := range left.Sessions {
		if s.Client == "" {
			found = append(found, Session(s.ID)+" is alive and nobody's")
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
		return Fine(lin.Orphans, "nothing is left that nobody owns")
	}
	if len(found) > 1 {
		found[0] += fmt.Sprintf(" (and %d more: %s)", len(found)-1, strings.Join(found[1:], "; "))
	}
	v := Violated(lin.Orphans, nil, "left at rest: %s", found[0])
	v.Znode = znode
	return v
}

// AnyWatch lets every client leave watches.
func AnyWatch(string) bool { return true }

// LeftBelow returns the znodes that are left below a path, without directories.
func LeftBelow(h lin.History, left *lin.Leftovers, dir string) []Orphan {
	var list []Orphan
	log := ReadLog(h.Server)
	for _, n := range left.Nodes {
		if dir == "" || !Below(dir, n.Path) || HasChild(left, n.Path) {
			continue
		}
		why := "is left below " + dir
		if log.MadeAt(n) != nil {
			why = MadeBy(h, log, n, "left")
		}
		list = append(list, Orphan{n, why})
	}
	return list
}

// LostDelete is a remark that a delete of the znode was lost, or "".
func LostDelete(n lin.NodeAtRest) string {
	if n.LostDelete == 0 {
		return ""
	}
	return fmt.Sprintf("; a delete of it was lost at step %d", n.LostDelete)
}

func ownedBy(n lin.NodeAtRest) string {
	if n.Owner == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", SessionOf(n.Owner, n.OwnerClient))
}

// SessionOf prints a session with its client, if that is known.
func SessionOf(id int64, client string) string {
	if client == "" {
		return Session(id)
	}
	return client + "'s " + Session(id)
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
