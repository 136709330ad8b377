package conform

import (
	"fmt"
	"strings"
)

// path draws a path, mostly of an existing node.
func (g *generator) path() string {
	switch n := g.IntN(100); {
	case n < 3:
		return g.moveBelowRoot(pick(g, nastyPaths...))
	case n < 5 && g.fresh:
		return pick(g, "/", `""`, "/zookeeper", "/zookeeper/quota")
	case n < 14 || len(g.tree.paths) == 0:
		return pick(g, "$", "$/a", "$/b", "$/c", "$/d", "$/a/x", "$/a/y", "$/b/x", "$/a/x/z",
			"$/a/n0000000000", "$/b/0000000001", "$/e", "$/e/x", "$/none/x")
	}
	return pick(g, g.tree.paths...)
}

// newPath draws a path to create, mostly one without a node.
func (g *generator) newPath() string {
	parents := g.tree.parents()
	switch n := g.IntN(100); {
	case len(parents) == 0:
		return "$"
	case n < 12:
		return g.path()
	case n < 25: // for sequences
		return pick(g, parents...) + pick(g, "/n", "/", "/lock-")
	}
	return pick(g, parents...) + "/" + pick(g, "a", "b", "c", "d", "e", "x", "y", "z", "é")
}

// watchable draws a path that is not null: a real server can no longer close a connection
// with a persistent watch on a null path.
func (g *generator) watchable() string {
	if path := g.path(); path != "null" {
		return path
	}
	return "$/a"
}

var nastyPaths = []string{
	"null", "rel", "rel/x", "$/", "$//", "$//a", "$/.", "$/..", "$/a/", "$/a/..", "$/./a",
	"/zookeeper/config", "/zookeeper/x/y",
	`"$/\x00"`, `"$/a\x00b"`, `"$/\x01"`, `"$/\x7f"`, `"$/\u009f"`, `"$/\u00a0"`, `"$/\ue000"`,
	`"$/\uf900"`, `"$/\ufffd"`,
	`"$/\U0001f600"`, `"$/\xff"`, `"$/\xe2\x82"`, `"$/ "`, `"$/é"`, `"$/日本"`, `" $"`, "$/...",
	"//", "$x",
}

// version draws the version of a request, and returns whether it is right.
func (g *generator) version(path string) (string, bool) {
	node := g.tree.nodes[path]
	switch n := g.IntN(20); {
	case n < 13:
		return "", true
	case n < 18 && node != nil:
		return fmt.Sprintf(" v=%d", node.version), true
	}
	return pick(g, " v=0", " v=1", " v=7", " v=-2"), false
}

func (g *generator) data() string {
	if g.IntN(20) == 0 {
		return fmt.Sprintf(" size=%d", 1000+g.IntN(7000))
	}
	return pick(g, "", " data=x", " data=yy", " data=null", " size=30", ` data="\x00\xff"`)
}

// openLists are valid ACLs that give all clients all permissions except ADMIN.
var openLists = []string{
	"31/world/anyone", "31/world/anyone,31/world/anyone", "1/ip/10.0.0.1/8,31/world/anyone",
	"31/ip/127.0.0.1", "31/ip/127.9.9.9/8",
	"15/world/anyone", "15/world/anyone,31/digest/@alice:pw", "15/world/anyone,31/digest/a:b",
	"31/ip/127.0.0.1/0",
	`"15/world/anyone,1/digest/a\nb:c\nd"`, `"15/world/anyone,1/digest/a:\u0085b"`,
	`"15/world/anyone,1/digest/\u2028a:b"`,
	`"15/world/anyone,1/digest/a:b\u2028"`, `"15/world/anyone,1/digest/a:\n"`,
	`"15/world/anyone,1/digest/\r:\r\n"`,
	`"15/world/anyone,1/digest/:b"`, `"15/world/anyone,1/digest/a:b::"`,
	`"15/world/anyone,1/digest/é:ü"`,
	`"31/world/anyone,1/ip/١.2.3.4"`, `"31/world/anyone,1/ip/1.2.3.4/８"`,
	`"31/world/anyone,1/ip/1.2.3.4/0"`,
	`"31/world/anyone,1/ip/+1.2.3.4"`, `"31/world/anyone,1/ip/1.2.3.4/+8"`,
	`"31/world/anyone,1/ip/001.2.3.4"`,
	"-1/world/anyone", "63/world/anyone",
}

// closedLists are valid ACLs that refuse something to some clients.
var closedLists = []string{
	"31/digest/@alice:pw", "31/digest/@alice:pw,1/world/anyone", "1/world/anyone",
	"30/world/anyone", "0/world/anyone",
	"5/world/anyone", "27/world/anyone", "31/ip/10.0.0.1", "31/digest/a:b", "32/world/anyone",
}

var badLists = []string{
	"null", "none", "31/ip/1.2.3.4/33", "31/world/nobody", "31/bogus/x", "31/digest/a",
	"31/super/", "31/digest/a:", "31/digest/a:b:c",
	"31/ip/1.2.3", "31/ip/256.1.1.1", "31/ip/1.2.3.4/", "31/ip/1.2.3.4/8/9", `"31/ip/ 1.2.3.4"`,
	"31/ip/-1.2.3.4", "31/ip/1.2.3.4/-1",
	`"31/ip/\U0001d7cf.2.3.4"`, "31/world/null", "31/null/x", "31//", "31/auth/",
}

// acl draws an ACL. valid reports whether the server probably accepts it, open whether it
// gives all clients all permissions except ADMIN.
func (g *generator) acl(c *client) (list string, valid, open bool) {
	switch n := g.IntN(100); {
	case n < 70:
		return "", true, true
	case n < 90:
		return " acl=" + pick(g, openLists...), true, true
	case n < 93 && c.known:
		return " acl=" + pick(g, "31/auth/", "1/auth/x,31/world/anyone"), true, false
	case n < 96:
		return " acl=" + pick(g, closedLists...), true, false
	}
	return " acl=" + pick(g, badLists...), false, false
}

func (g *generator) setACL(c *client) (string, bool) {
	path := g.path()
	list, valid, open := g.acl(c)
	node := g.tree.nodes[path]
	granted := valid && node != nil && node.open
	version := ""
	if granted {
		if g.IntN(4) == 0 {
			version = fmt.Sprintf(" v=%d", node.aversion)
		}
		node.aversion++
		node.open = open
	}
	return "setACL " + path + list + version, granted
}

func (g *generator) addWatch(c *client) (string, bool) {
	path := pick(g, g.watchable(), "$")
	mode := pick(g, 0, 0, 0, 0, 1, 1, 1, 1, 2)
	if mode < 2 {
		c.watched = append(c.watched, path)
	}
	return fmt.Sprintf("addWatch %s mode=%d", path, mode), mode < 2
}

// watchRequest writes a checkWatches or removeWatches, mostly of a watch that may exist.
func (g *generator) watchRequest(c *client, verb string) (string, bool) {
	path, kind, granted := g.path(), pick(g, 3, 3, 3, 3, 2, 1, 0), false
	if len(c.watched) > 0 && g.IntN(6) > 0 {
		path, granted = pick(g, c.watched...), kind == 3
	}
	return fmt.Sprintf("%s %s type=%d", verb, path, kind), granted
}

// setWatches writes a setWatches or setWatches2 with random lists of paths, sometimes a null list.
func (g *generator) setWatches() string {
	kinds := []string{"data", "exist", "child"}
	text := pick(g, "setWatches", "setWatches2")
	if text == "setWatches2" {
		kinds = append(kinds, "persistent", "recursive")
	}
	text += pick(g, " max", " since=0", fmt.Sprintf(" since=+%d", g.IntN(g.steps+2)),
		fmt.Sprintf(" since=+%d", g.IntN(g.steps+2)))
	for _, kind := range kinds {
		var paths []string
		for range g.IntN(3) {
			if path := g.path(); strings.HasPrefix(path, "$") {
				paths = append(paths, path)
			}
		}
		switch {
		case g.IntN(60) == 0:
			text += " " + kind + "=null"
		case len(paths) > 0:
			text += " " + kind + "=" + strings.Join(paths, ",")
		}
	}
	return text
}
