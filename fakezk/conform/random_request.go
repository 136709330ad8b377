package conform

import (
	"fmt"
	"strings"
)

// weighted are the requests, and how often each is drawn.
var weighted = []struct {
	weight int
	write  func(g *generator) string
}{
	{26, (*generator).create},
	{12, func(g *generator) string { return "delete " + g.path() + g.version() }},
	{10, func(g *generator) string { return "setData " + g.path() + g.data() + g.version() }},
	{6, func(g *generator) string { return "setACL " + g.path() + g.acl() + g.version() }},
	{5, func(g *generator) string { return "check " + g.path() + g.version() }},
	{9, func(g *generator) string { return "exists " + g.path() + g.watch() }},
	{9, func(g *generator) string { return "getData " + g.path() + g.watch() }},
	{9, func(g *generator) string {
		return pick(g, "getChildren ", "getChildren2 ") + g.path() + g.watch()
	}},
	{4, func(g *generator) string { return "getACL " + g.path() }},
	{2, func(g *generator) string { return "sync " + g.path() }},
	{12, (*generator).multi},
	{3, (*generator).multiRead},
	{8, func(g *generator) string {
		return fmt.Sprintf("addWatch %s mode=%d", g.watchable(), pick(g, 0, 0, 0, 1, 1, 1, 2))
	}},
	{3, func(g *generator) string {
		return fmt.Sprintf("checkWatches %s type=%d", g.path(), pick(g, 1, 2, 3, 0))
	}},
	{5, func(g *generator) string {
		return fmt.Sprintf("removeWatches %s type=%d", g.path(), pick(g, 1, 2, 3, 3, 0))
	}},
	{5, (*generator).setWatches},
	{3, func(g *generator) string { return "getEphemerals " + pick(g, "null", `""`, "/", "$", g.path()) }},
	{2, func(g *generator) string { return "getAllChildrenNumber " + g.path() }},
	{2, func(g *generator) string { return "whoAmI" }},
	{1, func(g *generator) string { return "ping" }},
	{1, func(g *generator) string {
		return pick(g, "deleteContainer $/c", "reconfig", "createSession", "createSession timeout=7")
	}},
	{3, (*generator).quota},
}

var totalWeight = func() (sum int) {
	for _, w := range weighted {
		sum += w.weight
	}
	return sum
}()

// request writes one request.
func (g *generator) request() string {
	n := g.IntN(totalWeight)
	for _, w := range weighted {
		if n -= w.weight; n < 0 {
			return w.write(g)
		}
	}
	panic("conform: the weights do not add up")
}

// path draws a path: mostly one of a few, so that requests meet.
func (g *generator) path() string {
	if g.IntN(25) == 0 {
		return g.within(pick(g, nastyPaths...))
	}
	if g.fresh && g.IntN(40) == 0 {
		return pick(g, "/", `""`, "/zookeeper", "/zookeeper/quota")
	}
	return pick(g, "$", "$", "$/a", "$/a", "$/a", "$/b", "$/b", "$/c", "$/d", "$/a/x", "$/a/x", "$/a/y", "$/b/x", "$/a/x/z",
		"$/a/n0000000000", "$/a/n0000000001", "$/b/0000000001", "$/e", "$/e/x", "$/none/x")
}

// within keeps what would show or leave something beside Root from servers that
// others have used.
func (g *generator) within(path string) string {
	if !g.fresh && (path == "$x" || strings.HasPrefix(path, "/")) {
		return "rel"
	}
	return path
}

// watchable draws a path that is not null: a real server cannot close a
// connection any more that has added a watch on null.
func (g *generator) watchable() string {
	if path := g.path(); path != "null" {
		return path
	}
	return "$/a"
}

var nastyPaths = []string{
	"null", "rel", "rel/x", "$/", "$//", "$//a", "$/.", "$/..", "$/a/", "$/a/..", "$/./a", "/zookeeper/config", "/zookeeper/x/y",
	`"$/\x00"`, `"$/a\x00b"`, `"$/\x01"`, `"$/\x7f"`, `"$/\u009f"`, `"$/\u00a0"`, `"$/\ue000"`, `"$/\uf900"`, `"$/\ufffd"`,
	`"$/\U0001f600"`, `"$/\xff"`, `"$/\xe2\x82"`, `"$/ "`, `"$/é"`, `"$/日本"`, `" $"`, "$/...", "//", "$x",
}

func (g *generator) watch() string { return pick(g, "", "", " watch") }

func (g *generator) version() string {
	return pick(g, "", "", "", "", " v=0", " v=1", " v=2", " v=-2")
}

func (g *generator) data() string {
	return pick(g, "", " data=x", " data=yy", " data=null", " size=30")
}

func (g *generator) acl() string {
	if g.IntN(4) > 0 {
		return ""
	}
	return " acl=" + pick(g, "null", "none", "31/auth/", "1/auth/x,31/world/anyone", "31/digest/@alice:pw",
		"31/digest/@alice:pw,1/world/anyone", "1/world/anyone", "30/world/anyone", "0/world/anyone", "5/world/anyone",
		"31/ip/127.0.0.1", "31/ip/127.9.9.9/8", "31/ip/10.0.0.1", "31/ip/1.2.3.4/33", "31/world/nobody", "31/bogus/x",
		"31/digest/a", "31/digest/a:b,31/world/anyone", "31/world/anyone,31/world/anyone", "31/super/", "27/world/anyone")
}

// create draws any of its variants. A createTTL that is not for a TTL node and
// has a negative TTL kills a real server.
func (g *generator) create() string {
	path, rest := g.path(), g.data()+g.acl()
	if g.IntN(6) == 0 {
		path = pick(g, "$/a/n", "$/b/", "$/a/x/n", "$/n", "$/a/lock-") // for sequences
	}
	verb := pick(g, "create", "create", "create2")
	flags := pick(g, 0, 0, 0, 0, 1, 1, 2, 3, 3, 9, -1)
	if g.containers && g.IntN(5) == 0 {
		verb = pick(g, "create", "create2", "createContainer", "createContainer", "createTTL", "createTTL")
		flags = pick(g, 0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 6, 6)
	}
	if verb == "createTTL" {
		ttl := pick[int64](g, 1<<40-1, 1<<40-1, 100_000_000, 1<<40, 0, -1)
		if flags < 5 {
			ttl = max(ttl, 0)
		}
		rest += fmt.Sprintf(" ttl=%d", ttl)
	}
	if !g.fresh && path == "$" && flags > 1 { // a sequence beside Root
		path = "$/"
	}
	return fmt.Sprintf("%s %s flags=%d%s", verb, path, flags, rest)
}

// multi draws up to five operations, now and then one that does not belong.
func (g *generator) multi() string {
	op := func() string {
		switch n := g.IntN(100); {
		case n < 45:
			return g.create()
		case n < 65:
			return "delete " + g.path() + g.version()
		case n < 80:
			return "setData " + g.path() + g.data() + g.version()
		case n < 98:
			return "check " + g.path() + g.version()
		}
		return pick(g, "getData $", "exists $", "setACL $", "sync $")
	}
	return "multi { " + g.list(g.IntN(6), op) + " }"
}

func (g *generator) multiRead() string {
	op := func() string {
		if g.IntN(40) == 0 {
			return pick(g, "exists $", "create $/x", "getChildren2 $")
		}
		return pick(g, "getData ", "getChildren ") + g.path() + g.watch()
	}
	return "multiRead { " + g.list(g.IntN(4), op) + " }"
}

func (g *generator) setWatches() string {
	kinds := []string{"data", "exist", "child"}
	text := pick(g, "setWatches", "setWatches2")
	if text == "setWatches2" {
		kinds = append(kinds, "persistent", "recursive")
	}
	text += pick(g, " max", " since=0", fmt.Sprintf(" since=+%d", g.IntN(g.steps+2)), fmt.Sprintf(" since=+%d", g.IntN(g.steps+2)))
	for _, kind := range kinds {
		var paths []string
		for range g.IntN(3) {
			paths = append(paths, pick(g, "$", "$/a", "$/b", "$/a/x", "$/c", "$/e", "rel"))
		}
		if len(paths) > 0 {
			text += " " + kind + "=" + strings.Join(paths, ",")
		}
	}
	return text
}

// quota makes and unmakes quotas, on two paths that are one below the other.
func (g *generator) quota() string {
	const base = "/zookeeper/quota" + Root
	path := pick(g, base, base+"/a")
	limits := pick(g, "count=3,bytes=3", "count=2,bytes=-1=;byteHardLimit=-1;countHardLimit=4",
		"count=-1,bytes=-1=;byteHardLimit=8;countHardLimit=-1", "count=-1,bytes=-1")
	return pick(g,
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
