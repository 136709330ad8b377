package conform

import (
	"fmt"
	"slices"
	"strings"
)

// weighted are the kinds of requests with their relative frequencies. write returns a
// request and whether the server probably grants it.
var weighted = []struct {
	weight int
	name   string
	write  func(g *generator, c *client) (text string, granted bool)
}{
	{30, "create", (*generator).create},
	{13, "delete", func(g *generator, _ *client) (string, bool) { return g.delete() }},
	{16, "setData", func(g *generator, _ *client) (string, bool) { return g.setData() }},
	{4, "setACL", (*generator).setACL},
	{4, "check", func(g *generator, _ *client) (string, bool) { return g.check() }},
	{9, "exists", func(g *generator, c *client) (string, bool) { return g.read(c, "exists") }},
	{10, "getData", func(g *generator, c *client) (string, bool) { return g.read(c, "getData") }},
	{10, "getChildren", func(g *generator, c *client) (string, bool) {
		return g.read(c, pick(g, "getChildren", "getChildren2"))
	}},
	{5, "getACL", func(g *generator, _ *client) (string, bool) {
		return g.unwatchedRead("getACL")
	}},
	{2, "getAllChildrenNumber", func(g *generator, _ *client) (string, bool) {
		return g.unwatchedRead("getAllChildrenNumber")
	}},
	{2, "sync", func(g *generator, _ *client) (string, bool) { return "sync " + g.path(), true }},
	{13, "multi", (*generator).multi},
	{3, "multiRead", func(g *generator, c *client) (string, bool) { return g.multiRead(c), true }},
	{11, "addWatch", (*generator).addWatch},
	{2, "checkWatches", func(g *generator, c *client) (string, bool) {
		return g.watchRequest(c, "checkWatches")
	}},
	{3, "removeWatches", func(g *generator, c *client) (string, bool) {
		return g.watchRequest(c, "removeWatches")
	}},
	{5, "setWatches", func(g *generator, _ *client) (string, bool) { return g.setWatches(), true }},
	{3, "getEphemerals", func(g *generator, _ *client) (string, bool) {
		return "getEphemerals " + pick(g, "null", `""`, "/", "$", g.path()), true
	}},
	{2, "whoAmI", func(*generator, *client) (string, bool) { return "whoAmI", true }},
	{1, "ping", func(*generator, *client) (string, bool) { return "ping", true }},
	{1, "others", func(g *generator, _ *client) (string, bool) {
		return pick(g, "deleteContainer $/c", "reconfig", "createSession",
			"createSession timeout=40000"), true
	}},
	{2, "quota", func(g *generator, _ *client) (string, bool) { return g.quota(), true }},
}

// request writes one request. Its kind is none of excluded.
func (g *generator) request(c *client, excluded ...string) string {
	total := 0
	for _, w := range weighted {
		if !slices.Contains(excluded, w.name) {
			total += w.weight
		}
	}
	n := g.IntN(total)
	for _, w := range weighted {
		if slices.Contains(excluded, w.name) {
			continue
		}
		if n -= w.weight; n < 0 {
			return g.mostlyGranted(func() (string, bool) { return w.write(g, c) })
		}
	}
	panic("conform: the weights do not add up")
}

// mostlyGranted writes a request. It mostly draws again if the server probably refuses it.
func (g *generator) mostlyGranted(write func() (string, bool)) string {
	for range 3 {
		if text, granted := write(); granted || g.IntN(5) == 0 {
			return text
		}
	}
	text, _ := write()
	return text
}

// read writes a read that may leave a watch.
func (g *generator) read(c *client, verb string) (string, bool) {
	path := g.path()
	text, granted := verb+" "+path, g.tree.readable(path)
	if g.IntN(5) < 3 && path != "null" {
		text += " watch"
		if granted {
			c.watched = append(c.watched, path)
		}
	}
	return text, granted
}

// unwatchedRead writes a read that leaves no watch.
func (g *generator) unwatchedRead(verb string) (string, bool) {
	path := g.path()
	return verb + " " + path, g.tree.readable(path)
}

func (g *generator) check() (string, bool) {
	path := g.path()
	version, right := g.version(path)
	return "check " + path + version, right && g.tree.readable(path)
}

func (g *generator) delete() (string, bool) {
	path := g.path()
	if leaves := g.tree.leaves(); len(leaves) > 0 && g.IntN(4) > 0 {
		path = pick(g, leaves...)
	}
	version, right := g.version(path)
	return "delete " + path + version, right && g.tree.delete(path)
}

func (g *generator) setData() (string, bool) {
	path := g.path()
	version, right := g.version(path)
	granted := right && g.tree.readable(path)
	if granted {
		g.tree.nodes[path].version++
	}
	return "setData " + path + g.data() + version, granted
}

// create writes any variant of create. It gives no negative TTL to a createTTL without a
// TTL flag, which makes a real server exit.
func (g *generator) create(c *client) (string, bool) {
	path := g.newPath()
	verb := pick(g, "create", "create", "create2")
	flags := pick(g, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 3)
	if g.IntN(40) == 0 {
		flags = pick(g, 9, -1, 4)
	}
	special := g.containers && g.IntN(6) == 0
	if special {
		verb = pick(g, "create", "create2", "createContainer", "createContainer", "createTTL",
			"createTTL")
		flags = pick(g, 0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 6, 6)
	}
	rest := g.data()
	list, valid, open := g.acl(c)
	rest += list
	if verb == "createTTL" {
		ttl := pick[int64](g, 1<<40-1, 1<<40-1, 100_000_000, 1<<40, 0, -1)
		if flags < 5 {
			ttl = max(ttl, 0)
		}
		if g.bursting {
			ttl = 100_000_000
		}
		rest += fmt.Sprintf(" ttl=%d", ttl)
	}
	if !g.fresh && path == "$" && flags > 1 { // a sequence beside Root
		path = "$/"
	}
	if g.bursting && !fits(verb, flags) {
		flags = map[string]int{"createContainer": 4, "createTTL": 5}[verb]
	}
	granted := valid && fits(verb, flags) && g.tree.create(c.owner(), path, flags, open)
	return fmt.Sprintf("%s %s flags=%d%s", verb, path, flags, rest), granted
}

// fits reports whether a create's flags fit its operation.
func fits(verb string, flags int) bool {
	switch verb {
	case "createContainer":
		return flags == 4
	case "createTTL":
		return flags == 5 || flags == 6
	}
	return flags >= 0 && flags <= 3
}

// multi writes a multi of up to five operations, sometimes with one that is not allowed in
// a multi. The tree stays as it is if the multi is probably refused.
func (g *generator) multi(c *client) (string, bool) {
	before, all := g.tree.clone(), true
	op := func() string {
		write := g.check
		switch n := g.IntN(100); {
		case n < 45:
			write = func() (string, bool) { return g.create(c) }
		case n < 65:
			write = g.delete
		case n < 80:
			write = g.setData
		case n >= 99:
			all = false
			return pick(g, "getData $", "exists $", "setACL $", "sync $")
		}
		for range 4 { // a refused operation makes the whole multi fail
			if text, granted := write(); granted {
				return text
			}
		}
		text, granted := write()
		all = all && granted
		return text
	}
	text := "multi { " + g.list(g.IntN(6), op) + " }"
	if !all {
		g.tree = before
	}
	return text, all
}

func (g *generator) multiRead(c *client) string {
	op := func() string {
		if g.IntN(40) == 0 {
			return pick(g, "exists $", "create $/x", "getChildren2 $")
		}
		text, _ := g.read(c, pick(g, "getData", "getChildren"))
		return text
	}
	return "multiRead { " + g.list(g.IntN(4), op) + " }"
}

// quota writes a request that creates, changes, reads or deletes a quota, on Root or on a
// node below it.
func (g *generator) quota() string {
	const base = "/zookeeper/quota" + Root
	path := pick(g, base, base+"/a")
	limits := pick(g, "count=3,bytes=3", "count=2,bytes=-1=;byteHardLimit=-1;countHardLimit=9",
		"count=-1,bytes=-1=;byteHardLimit=40;countHardLimit=-1", "count=-1,bytes=-1")
	return pick(g,
		"multi { create "+base+" ; create "+base+"/a }",
		"multi { create "+base+" ; create "+base+"/a }",
		"create "+base,
		"create "+path+"/zookeeper_limits data=\""+limits+"\"",
		"create "+path+"/zookeeper_limits data=\""+limits+"\"",
		"create "+path+`/zookeeper_stats data="count=0,bytes=0"`,
		"create "+path+`/zookeeper_stats data="count=0,bytes=0"`,
		"getData "+path+"/zookeeper_stats",
		"delete "+path+"/zookeeper_limits",
		"setData "+path+"/zookeeper_limits data=\""+limits+"\"",
	)
}

// moveBelowRoot replaces a path outside of Root, unless the servers are fresh.
func (g *generator) moveBelowRoot(path string) string {
	if !g.fresh && (path == "$x" || strings.HasPrefix(path, "/")) {
		return "rel"
	}
	return path
}
