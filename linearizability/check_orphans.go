package linearizability

import (
	"fmt"
	"path"
	"strings"
)

// orphan is a znode at rest that nobody owns, and what is known of it.
type orphan struct {
	node NodeAtRest
	why  string
}

// judgeOrphans reports what is left: znodes first, then sessions, watches and
// goroutines. mayWatch tells of which clients a watch may be left.
func judgeOrphans(rest *Leftovers, allowed []string, nodes []orphan, mayWatch func(client string) bool) Verdict {
	var found []string
	for _, o := range nodes {
		if !matches(allowed, o.node.Path) {
			found = append(found, fmt.Sprintf("%s%s %s", o.node.Path, ownedBy(o.node), o.why))
		}
	}
	for _, s := range rest.Sessions {
		if s.Client == "" {
			found = append(found, session(s.ID)+" is alive and nobody's")
		}
	}
	for _, w := range rest.Watches {
		if !mayWatch(w.Client) {
			found = append(found, fmt.Sprintf("a watch of %s on %s, though %s waits for nothing", w.Client, w.Path, w.Client))
		}
	}
	for _, g := range rest.Leaked {
		found = append(found, "a goroutine: "+g)
	}
	if len(found) == 0 {
		return fine(Orphans, "nothing is left that nobody owns")
	}
	if len(found) > 1 {
		found[0] += fmt.Sprintf(" (and %d more: %s)", len(found)-1, strings.Join(found[1:], "; "))
	}
	return violated(Orphans, nil, "left at rest: %s", found[0])
}

func ownedBy(n NodeAtRest) string {
	if n.Owner == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s%s)", session(n.Owner), of(n.OwnerClient))
}

// waits reports whether the client has a call in flight.
func (h History) waits(client string) bool {
	for _, op := range h.Ops {
		if op.Client == client && op.pending() {
			return true
		}
	}
	return false
}

// matches reports whether a pattern of path.Match fits; a malformed one fits
// nothing.
func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}

// mayWatch reports whether the client waits, or holds the lock: a holder may
// watch over its own znode.
func (c *lockCase) mayWatch(client string) bool {
	return c.history.waits(client) || c.holdsAtEnd(client)
}

// holdsAtEnd reports whether the client was granted the lock and has not called
// unlock since.
func (c *lockCase) holdsAtEnd(client string) bool {
	holds := false
	for _, h := range c.holds {
		if h.lock.Client == client {
			holds = h.unlock == nil && h.phantom == ""
		}
	}
	return holds
}

// maker returns the client a znode belongs to, or that created it.
func (c *lockCase) maker(n NodeAtRest) string {
	if n.Owner != 0 {
		return c.ownerName(n)
	}
	for _, l := range c.log.lives {
		if l.path == n.Path && l.died == never {
			return l.creator
		}
	}
	return ""
}

// leftover returns the lock's znodes that are neither held nor waiting, and
// whose client does not hold the lock: its unlock may remove them yet.
func (c *lockCase) leftover(rest *Leftovers) []orphan {
	var list []orphan
	for _, n := range rest.Nodes {
		if !below(c.opts.Path, n.Path) || hasChild(rest, n.Path) || c.isHeld(n) || c.isWaiting(n, "") || c.holdsAtEnd(c.maker(n)) {
			continue
		}
		if n.Owner == 0 && c.opts.Path == "" {
			continue // the directory cannot be told from its znodes
		}
		list = append(list, orphan{n, "was left by " + c.origin(n)})
	}
	return list
}

func hasChild(rest *Leftovers, dir string) bool {
	for _, n := range rest.Nodes {
		if below(dir, n.Path) {
			return true
		}
	}
	return false
}
