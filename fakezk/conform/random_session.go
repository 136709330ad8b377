package conform

import "fmt"

// A client is the generator's state of one session of a script.
type client struct {
	name    string
	number  int  // number of earlier sessions
	there   bool // it has been connected
	lost    bool // it has no connection: the next step reconnects
	ended   bool // it has closed its session: an attach is refused
	known   bool // it has a digest identity
	watched []string
}

// owner names the client's present session.
func (c *client) owner() string { return fmt.Sprintf("%s%d", c.name, c.number) }

// reconnect writes a step of a client without a connection: an attach, some of which are
// refused, or a new session.
func (g *generator) reconnect(c *client) string {
	if c.ended || g.IntN(20) == 0 {
		if c.ended && g.IntN(4) == 0 { // refused
			return pick(g, "attach", "attach", "attach ro=none", "attach password=wrong")
		}
		return g.begin(c)
	}
	if g.IntN(12) == 0 { // refused
		return pick(g, "attach password=wrong", "attach id=unknown", "attach ahead")
	}
	c.lost, c.known, c.watched = false, false, nil
	return "attach" + pick(g, "", "", "", " timeout=8000", " ro=none", " zxid=1")
}

// begin writes a connect: the client gets a new session and leaves the old one open.
func (g *generator) begin(c *client) string {
	*c = client{name: c.name, number: c.number + 1, there: true}
	return "connect" + pick(g, "", "", " timeout=9000", " ro=none")
}

// leave writes a step that may end the connection; the next one reconnects.
func (g *generator) leave(c *client) string {
	switch g.IntN(10) {
	case 0, 1, 2:
		c.lost = true
		return "drop"
	case 3: // the server closes the old connection before it checks the password
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
		return pick(g, "auth bogus x", "auth world anyone", "auth null x", "auth digest null",
			"op 100", "frame 00", "bytes ffffffff")
	}
	c.known, c.watched = false, nil
	return "attach" + pick(g, "", "", " timeout=8000", " ro=none")
}

// authenticate writes an auth that the server accepts.
func (g *generator) authenticate(c *client) string {
	c.known = true
	return "auth digest " + pick(g, "alice:pw", "alice:pw", "bob:pw", "alice:no", "super:zksim",
		`""`, `"é:\n"`)
}
