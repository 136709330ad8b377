package conform

import (
	"fmt"
)

// A client is what a generator knows of one session of its script.
type client struct {
	name    string
	number  int  // of its sessions before
	there   bool // it has been connected
	lost    bool // the connection: the next step is to come back
	ended   bool // by its own wish: it cannot come back
	known   bool // it has proved to be somebody
	watched []string
}

// owner names the session that the client has now.
func (c *client) owner() string { return fmt.Sprintf("%s%d", c.name, c.number) }

// comeBack writes how a client that has lost its connection gets another.
func (g *generator) comeBack(c *client) string {
	if c.ended || g.IntN(20) == 0 {
		if c.ended && g.IntN(4) == 0 {
			return pick(g, "attach", "attach", "attach ro=none", "attach password=wrong") // in vain
		}
		return g.begin(c)
	}
	if g.IntN(12) == 0 {
		return pick(g, "attach password=wrong", "attach id=unknown", "attach ahead") // in vain
	}
	c.lost, c.known, c.watched = false, false, nil
	return "attach" + pick(g, "", "", "", " timeout=8000", " ro=none", " zxid=1")
}

// begin writes how a client gets a new session, besides the one it may have.
func (g *generator) begin(c *client) string {
	*c = client{name: c.name, number: c.number + 1, there: true}
	return "connect" + pick(g, "", "", " timeout=9000", " ro=none")
}

// leave writes a step that may end a connection; the next one comes back.
func (g *generator) leave(c *client) string {
	switch g.IntN(10) {
	case 0, 1, 2:
		c.lost = true
		return "drop"
	case 3: // the connection goes, whoever asks
		c.lost = true
		return "attach password=" + pick(g, "wrong", "short", "null", "zero", "long")
	case 4:
		return "attach " + pick(g, "id=unknown", "ahead", "id=negative")
	case 5, 6:
		c.lost, c.ended = true, true
		g.tree.endSession(c.owner())
		return "closeSession"
	case 7:
		c.lost = true
		return "op " + fmt.Sprint(pick(g, 0, 10, 23, 50, 99, 108, -1, -2, -12))
	case 8:
		c.lost = true
		return pick(g, "auth bogus x", "auth world anyone", "auth null x", "auth digest null", "op 100", "frame 00", "bytes ffffffff")
	}
	c.known, c.watched = false, nil
	return "attach" + pick(g, "", "", " timeout=8000", " ro=none")
}

// prove writes an auth that is accepted.
func (g *generator) prove(c *client) string {
	c.known = true
	return "auth digest " + pick(g, "alice:pw", "alice:pw", "bob:pw", "alice:no", "super:zksim", `""`, `"é:\n"`)
}
