package serve

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/zksim/zksim/internal/browser"
	"github.com/zksim/zksim/internal/check"
)

// until is true as soon as an expression of a page is; it never becomes false.
func until(expression string) string {
	return `new Promise((done) => { const look = () => (` + expression +
		`) ? done(true) : requestAnimationFrame(look); look() })`
}

func TestUI(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	t.Run("it shows and changes a server", func(t *testing.T) { uiShowsAServer(t, b.Of(t)) })
	t.Run("it shows an ensemble", func(t *testing.T) { uiShowsAnEnsemble(t, b.Of(t)) })
	t.Run("it asks for the token", func(t *testing.T) { uiAsksForTheToken(t, b.Of(t)) })
}

// shows is an expression: an element of the page has a text.
func shows(id, text string) string {
	return `document.getElementById("` + id + `").textContent.includes("` + text + `")`
}

// uiShowsAServer uses the page as a person does, against a server with a client. The page may not
// complain, or ask for anything but the endpoint.
func uiShowsAServer(t *testing.T, b *browser.Browser) {
	h := serveHere(t, "--log-level", "error")
	conn, _ := h.client(t, nil)
	_, err := conn.Create("/worker", []byte("<b>one</b>"), zk.FlagEphemeral,
		zk.WorldACL(zk.PermAll))
	check.OK(t, err)
	_, _, _, err = conn.ChildrenW("/")
	check.OK(t, err)
	b.Size(1280, 800)
	b.Open(h.control + "/ui")

	for _, shown := range []string{
		shows("state", "running"), shows("addr", h.addr),
		shows("tree", "worker  ephemeral  <b>one</b>"),
		shows("sessions", "S1"), shows("watches", "childrenstandardS1"),
		shows("faults", "no faults"),
		shows("history", "S1  -> create ephemeral /worker: ok"),
		shows("history", `\"<b>one</b>\"`),
	} {
		b.Want("true", until(shown))
	}

	// a fault, by the keyboard
	b.Press("f")
	b.Want("line", `document.activeElement.id`)
	b.Eval(`document.getElementById("line").value = "drop-reply op=sync request=1"`)
	b.Click(`document.querySelector("#inject button")`)
	b.Want("true", until(shows("faults", "drop-reply op=sync request=1armed")))
	_, _ = conn.Sync("/")
	b.Want("true", until(shows("faults", "drop-reply op=sync request=1fired")))
	b.Want("true", until(shows("history", "fault line=")))
	b.Click(`document.getElementById("clear")`)
	b.Want("true", until(shows("faults", "no faults")))

	// a node
	b.Click(`document.getElementById("new")`)
	b.Eval(`document.getElementById("path").value = "/app/a b"`)
	b.Eval(`document.getElementById("data").value = "hello"`)
	b.Click(`document.querySelector("#node button")`)
	b.Want("true", until(shows("tree", "a b  hello")))
	b.Shoot("ui")
	b.Want("true", `[...document.querySelectorAll("#sessions tr")].every((tr) =>
		[...tr.children].slice(0, 4).every((td) => td.getClientRects().length === 1 &&
			td.scrollHeight < 30))`)
	b.Want("true", `[...document.querySelectorAll("th")].every((th) => th.scrollHeight < 30)`)
	b.Want("true", `/^\d+\d\d:\d\d:\d\d\.\d{3}/.test(
		document.querySelector("#history li").textContent)`)
	b.Eval(`document.querySelector('[data-key="node /app"]').focus()`)
	b.Press("ArrowDown")
	b.Want("node /app/a b", `document.activeElement.dataset.key`)
	b.Click(`document.activeElement`)
	b.Want("hello", `document.getElementById("data").value`)
	b.Click(`document.getElementById("delete")`)
	b.Want("true", until("!"+shows("tree", "a b")))

	// the session and the server
	b.Click(`document.querySelector('[data-key="expire S1"]')`)
	b.Want("true", until("!"+shows("tree", "worker")))
	b.Click(`document.getElementById("stop")`)
	b.Want("true", until(shows("state", "stopped")))
	b.Click(`document.getElementById("restart")`)
	b.Want("true", until(shows("state", "running")))

	// light and dark, and the filter
	was := b.Eval(`document.documentElement.dataset.theme`)
	b.Eval(`document.activeElement.blur()`)
	b.Press("t")
	if now := b.Eval(`document.documentElement.dataset.theme`); now == was {
		t.Errorf("the theme stays %s", now)
	}
	b.Shoot("ui-dark")
	b.Eval(`(() => { const f = document.getElementById("filter"); f.value = "call: stop";
		f.oninput() })()`)
	b.Want("1", `[...document.querySelectorAll("#history li")].filter((li) => !li.hidden).length`)

	// a namespace
	h.call(t, "GET", "/namespaces", "", nil)
	status, _, err := send("POST", h.control+"/namespaces", `{"name":"other"}`)
	check.OK(t, err)
	check.Equal(t, status, 201)
	h.call(t, "PUT", "/namespaces/other/nodes/elsewhere", "", nil)
	b.Eval(`refresh()`)
	b.Want("true", until(shows("namespace", "other")))
	b.Eval(`(() => { const n = document.getElementById("namespace"); n.value = "other";
		n.onchange() })()`)
	b.Want("true", until(shows("tree", "elsewhere")))
	b.Want("true", until(shows("history", "call: put /elsewhere")))
	if asked := b.Quiet(strings.TrimSuffix(h.control, "/")); len(asked) < 10 {
		t.Errorf("the page has asked for %q only", asked)
	}
}

// uiShowsAnEnsemble stops the leader and starts it again.
func uiShowsAnEnsemble(t *testing.T, b *browser.Browser) {
	h := serveHere(t, "--log-level", "error", "--servers", "3")
	b.Open(h.control + "/ui")
	b.Want("true", until(shows("servers", "1: stop2: stopleader 3: stop")))
	b.Click(`document.querySelector('[data-key="stop 3"]')`)
	b.Want("true", until(shows("servers", "1: stopleader 2: stop3: restart")))
	b.Click(`document.querySelector('[data-key="restart 3"]')`)
	b.Want("true", until(shows("servers", "1: stopleader 2: stop3: stop")))
}

// uiAsksForTheToken: the page opens without it, and works with it. It shows the errors of the
// endpoint, which the console of a browser has, too.
func uiAsksForTheToken(t *testing.T, b *browser.Browser) {
	h := serveHere(t, "--log-level", "error", "--control-token", "s3cret")
	b.Size(700, 900)
	b.Open(h.control + "/ui")
	b.Want("true", until(`document.getElementById("asks").open`))
	b.Eval(`document.getElementById("token").value = "s3cret"`)
	b.Click(`document.querySelector("#asks button")`)
	b.Want("true", until(`document.getElementById("state").textContent === "running"`))
	b.Eval(`document.getElementById("line").value = "explode"`)
	b.Click(`document.querySelector("#inject button")`)
	b.Want("true", until(shows("trouble", "unknown fault kind")))
	b.Want("true", `document.documentElement.scrollWidth <= innerWidth`)
}
