package picture

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/internal/fuzztest"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/browser"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"github.com/zksim/zksim/linearizability"
)

// TestPage opens pages in a browser, and uses them as a reader does. None of them may complain, or
// ask the network for anything.
func TestPage(t *testing.T) {
	b := browser.Start(t)
	for name, test := range map[string]func(*testing.T, *browser.Browser){
		"it shows a finding":                  pageShowsAFinding,
		"it begins with the verdict":          pageBeginsWithTheVerdict,
		"it shows several servers":            pageShowsSeveralServers,
		"it shows a recording":                pageShowsARecording,
		"the story is below the diagram":      pageHasTheStoryBelow,
		"it shows senders and losses":         pageShowsSenders,
		"the index is readable":               pageOfTheIndex,
		"sixteen clients differ":              pageOfSixteenClients,
		"a test's own check fails at the end": pageOfAnObserver,
		"it folds and unfolds":                pageFoldsAndUnfolds,
		"it obeys keys":                       pageObeysKeys,
		"print has every line":                pagePrintHasEveryLine,
		"long runs draw only what is visible": pageLongRunsDrawOnlyWhatIsVisible,
		"it is readable on a small screen":    pageIsReadableOnASmallScreen,
		"hostile text stays text":             pageHostileTextStaysText,
		"a run without lines has a page":      pageOfNothing,
		"every exhibit has a page":            pageOfEachExhibit,
		"the pages of docs/picture.md":        pagesOfTheManual,
	} {
		t.Run(name, func(t *testing.T) {
			b := b.Of(t)
			test(t, b)
			if asked := b.Quiet("file://"); len(asked) != 1 {
				t.Errorf("the page asks for %q; want itself only", asked)
			}
		})
	}
}

// pageShowsAFinding drives the page as a reader does.
func pageShowsAFinding(t *testing.T, b *browser.Browser) {
	b.Size(1280, 800)
	b.OpenFile(pageOf(t, exhibit(t, "vanished-predecessor")))
	b.Want("liveness is violated", `document.querySelector("h1").textContent`)
	b.Want("true", `document.querySelectorAll("#diagram .arrow").length > 10`)
	b.Want("true", `document.querySelector(".row.cursor").classList.contains("verdict")`)
	b.Want("/lock/_c_G4-lock-0000000003", `document.querySelector("#summary .blamed").textContent`)
	b.Want("true", `document.querySelectorAll("#diagram .blamed-bar").length > 0`)
	b.Want("_c_G4-lock-0000000003", `document.querySelector(".tree .blamed").textContent`)

	b.Want("/a/b of 12|/a/b-c, /a/b/c", `(() => { run.blamed = ["/a/b"];
		const e = element("p", {}, linked("/a/b of 12", [12]), "|", linked("/a/b-c, /a/b/c"));
		const marked = [...e.querySelectorAll(".blamed, a")].map((m) => m.textContent).join(" ");
		run.blamed = ["/lock/_c_G4-lock-0000000003"];
		return marked === "/a/b 12" ? e.textContent : "marked: " + marked })()`)

	b.Click(`document.querySelector(".tree .blamed")`)
	b.Want("true", `+document.getElementById("hits").textContent.split(" ")[0] > 3`)
	b.Click(`[...document.querySelectorAll("#summary a")].find((a) => a.textContent === "533")`)
	b.Want("step 533, 158.069283 s, a", `document.querySelector("#panel h2").textContent`)

	b.Click(`(() => { const m = run.messages.find((m) => m.step === 550), a = arrowOf(m),
		r = document.getElementById("diagram").getBoundingClientRect();
		return { X: r.x + a.x1 + (a.x2 - a.x1) / 2, Y: r.y + a.y1 + (a.y2 - a.y1) / 2 } })()`)
	b.Want("550", `view.cursor`)
	b.Want("1", `document.querySelectorAll(".arrow.chosen").length`)
	panel := b.Eval(`document.getElementById("panel").textContent`)
	for _, part := range []string{"create to the server, connection 1 of a", "took", "step 552",
		"node created/lock/_c_G5-lock-0000000004"} {
		check.Contains(t, panel, part)
	}
}

// pageBeginsWithTheVerdict: the steps that the verdict names are on the screen, and the last of
// them is chosen.
func pageBeginsWithTheVerdict(t *testing.T, b *browser.Browser) {
	b.Size(1200, 700)
	b.OpenFile(pageOf(t, exhibit(t, "holder-not-told-of-expiry")))
	b.Want("28 45", `[...document.querySelectorAll(".row.verdict .n")].map((e) =>
		e.textContent).join(" ")`)
	b.Want("45", `view.cursor`)
	check.Contains(t, b.Eval(`document.getElementById("panel").innerText`),
		"session-expired, still believes that it holds, but for the server it does not")
	b.Want("true", `document.querySelectorAll("#diagram .zombie").length === 1`)
	b.Want("true", `document.querySelectorAll("#diagram .hold, #diagram .belief").length > 2`)
	b.Shoot("picture")
	b.Press("t")
	b.Click(`document.querySelector("#order summary")`)
	b.Shoot("picture-dark")
}

// pageShowsSeveralServers: each has a lane, with its trouble and what it has applied, and each
// message goes to the lane of its server.
func pageShowsSeveralServers(t *testing.T, b *browser.Browser) {
	b.Size(1400, 800)
	b.OpenFile(pageOf(t, exhibit(t, "value-of-a-deposed-leader")))
	b.Want("server 1 server 2 server 3", `lanes.filter((l) => l.server).map((l) => l.name).join(" ")`)
	b.Want("153 158", `[...document.querySelectorAll("#meaning a")].map((e) => e.textContent).join(" ")`)
	b.Click(`document.querySelectorAll("#summary a")[2]`) // of the value's last change
	servers := b.Eval(`document.querySelector("#panel .servers").innerText`)
	for _, part := range []string{"server 1: leads no more, and does not know it", "another has",
		"server 2: leads"} {
		check.Contains(t, servers, part)
	}
	b.Want("true", `document.querySelectorAll("#diagram .trouble").length > 0 &&
		document.querySelectorAll("#diagram .leads").length > 0`)
	b.Shoot("picture-servers")
	b.Eval(`select(40)`)
	panel := b.Eval(`document.getElementById("panel").innerText`)
	for _, part := range []string{"connection 1 of a, server 1", `"b1"`} {
		check.Contains(t, panel, part)
	}
	b.Want("", `run.messages.filter((m) => { const a = arrowOf(m), to = laneOfServer(m.server).x;
		return a && !m.lost && Math.abs((m.up ? a.x2 : a.x1) - to) > 3 }).map((m) => m.step).join(" ")`)
}

// pageShowsARecording opens at the zombie window. Without the server's side no server has a lane.
func pageShowsARecording(t *testing.T, b *browser.Browser) {
	b.OpenFile(pageOf(t, recording(true)))
	b.Want("3 a server", `view.cursor + " " + lanes.map((l) => l.name).join(" ")`)
	b.Want("3", `document.querySelector("#summary a").textContent`)
	b = b.Of(t)
	b.OpenFile(pageOf(t, recording(false)))
	b.Want("a", `lanes.map((l) => l.name).join(" ")`)
	b.Press("End")
	b.Want("a: in unlock()", `document.querySelector("#panel li").textContent`)
	b.Quiet("file://")
}

// pageHasTheStoryBelow: opened, it covers neither the diagram nor the panel, and the chosen line
// stays on the screen.
func pageHasTheStoryBelow(t *testing.T, b *browser.Browser) {
	b.Size(1400, 1000)
	b.OpenFile(pageOf(t, exhibit(t, "vanished-predecessor")))
	b.Eval(`paintMap()`)
	b.Click(`document.querySelector("#story summary")`)
	b.Want("true", `document.getElementById("story").open`)
	b.Want("true", `["chart", "map", "panel"].every((id) => byId(id).getBoundingClientRect().bottom <=
		byId("story").getBoundingClientRect().top + 1)`)
	b.Want("true", `(() => { const y = middle(view.cursor) - chart.scrollTop;
		return y > 0 && y < chart.clientHeight })()`)
}

// pageShowsSenders: a request, also one that a fault takes, has its line of code, and so has an
// object's call. A lost reply is a dashed arrow with a cross.
func pageShowsSenders(t *testing.T, b *browser.Browser) {
	b.Size(1200, 700)
	b.OpenFile(pageOf(t, ownRun(t, 1)))
	b.Want("reply 4px, 2.5px|request none", `[...document.querySelectorAll("#diagram .lost")].map((e) =>
		e.classList[1] + " " + getComputedStyle(e).strokeDasharray).sort().join("|")`)
	for _, step := range []string{`run.messages.find((m) => m.op === "create" && m.lost).step`,
		`run.calls[0].from`, `run.messages.find((m) => m.op === "create" && !m.lost).step`} {
		b.Eval(`select(` + step + `)`)
		panel := b.Eval(`document.getElementById("panel").innerText`)
		check.Contains(t, panel, `_, err := l.conn.Create("/lock"`)
		check.Contains(t, panel, `run_test.go:`)
	}
	b.Shoot("picture-lost")
}

// pageOfSixteenClients: each lane has a colour of its own, in light and in dark.
func pageOfSixteenClients(t *testing.T, b *browser.Browser) {
	b.Size(1400, 900)
	b.OpenFile(pageOf(t, fuzztest.Run(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", "recipes.Lock"), Seed: 1,
		Script: scenario.Script{Clients: 16, Rounds: 1},
	})))
	b.Want("true", `width < 600`) // beside it there is room for the lines
	for range 2 {
		b.Want("16", `new Set(lanes.filter((l) => !l.server).map((l) => {
			const e = element("i", { style: "color:" + l.colour });
			document.body.append(e);
			return getComputedStyle(e).color })).size`)
		b.Press("t")
	}
}

// pageOfAnObserver: the verdict of a property has no steps, and the test's own reads are folded.
func pageOfAnObserver(t *testing.T, b *browser.Browser) {
	b.Size(1400, 900)
	o := fuzztest.Run(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "lock", "recipes.Lock"), Seed: 1,
		Script: scenario.Script{Clients: 2, Rounds: 1},
	})
	b.OpenFile(pageOf(t, scenario.Observed(o.Scenario, "b", o.Result, linearizability.Verdict{
		Property: "property", Status: linearizability.Violated, Summary: "nobody is registered",
	})))
	b.Want("true", `view.cursor === rows.findLast((r) => r.kind === "line").from && view.cursor > 9`)
	b.Want("true", `document.body.innerText.includes("requests of the test itself")`)
}

// pageOfTheIndex is readable, and leads to its pages.
func pageOfTheIndex(t *testing.T, b *browser.Browser) {
	b.Size(1100, 700)
	dir := t.TempDir()
	for _, slug := range []string{"vanished-predecessor", "ties-broken-by-name"} {
		check.OK(t, Add(dir, slug+".html", exhibit(t, slug), ""))
	}
	b.Open("file://" + filepath.Join(dir, "index.html"))
	b.Want("2", `document.querySelectorAll("td a").length`)
	b.Want("true", `document.body.innerText.includes("no client gets this lock until")`)
	b.Shoot("picture-index")
}

func pageFoldsAndUnfolds(t *testing.T, b *browser.Browser) {
	b.Size(1280, 950)
	b.OpenFile(pageOf(t, exhibit(t, "vanished-predecessor")))
	b.Want("0", `rows.filter((r) => r.kind === "line" && lineAt(r.from).x === "-> ping").length`)
	b.Press("Home")
	b.Want("1", `view.cursor`)
	fold := `[...document.querySelectorAll(".row.fold")].find((e) =>
		e.textContent.includes("24 lines"))`
	b.Want("true", fold+`.textContent.includes("pings of a, b")`)
	b.Click(fold)
	b.Want("12", `rows.filter((r) => r.kind === "line" && lineAt(r.from).x === "-> ping").length`)
	b.Press("Enter")
	b.Want("0", `rows.filter((r) => r.kind === "line" && lineAt(r.from).x === "-> ping").length`)
}

func pageObeysKeys(t *testing.T, b *browser.Browser) {
	b.Size(1280, 800)
	b.OpenFile(pageOf(t, exhibit(t, "empty-list-owns")))
	b.Press("Home")
	b.Press("j")
	b.Want("2", `view.cursor`)
	b.Press("f")
	b.Want("true", `strikeAt.has(view.cursor)`)
	b.Press("v")
	b.Want("14", `view.cursor`)
	b.Press("/")
	for _, key := range "expires" {
		b.Press(string(key))
	}
	b.Want("1 found", `document.getElementById("hits").textContent`)
	b.Press("Enter")
	b.Want("serverexpires session S1", `document.querySelector(".row.cursor .x").innerText`)
	b.Press("Escape")
	b.Press("+")
	b.Want("26", `view.height`)
	b.Press("0")
	b.Want("true", `document.getElementById("body").clientHeight <= chart.clientHeight`)
	b.Press("t")
	b.Want("dark", `document.documentElement.dataset.theme`)
	b.Press("?")
	b.Want("true", `document.getElementById("legend").open`)
}

// pagePrintHasEveryLine: the screen has the visible lines only.
func pagePrintHasEveryLine(t *testing.T, b *browser.Browser) {
	b.Size(1280, 800)
	b.OpenFile(pageOf(t, exhibit(t, "vanished-predecessor")))
	b.Want("false", `document.querySelectorAll(".row").length === rows.length`)
	b.Eval(`dispatchEvent(new Event("beforeprint"))`)
	b.Want("true", `document.querySelectorAll(".row").length === rows.length`)
}

// pageLongRunsDrawOnlyWhatIsVisible: thousands of lines must not make a page slow.
func pageLongRunsDrawOnlyWhatIsVisible(t *testing.T, b *browser.Browser) {
	b.Size(1280, 800)
	b.OpenFile(pageOf(t, longRun(t)))
	b.Want("true", `run.lines.length > 5000`)
	t.Logf("%s lines are on the screen after %s ms", b.Eval(`run.lines.length`),
		b.Eval(`Math.round(performance.getEntriesByType("navigation")[0].loadEventEnd)`))
	b.Shoot("picture-long")
	for _, key := range []string{"Home", "End", "v"} {
		b.Press(key)
		b.Want("true", `document.querySelectorAll("*").length < 1500`)
	}
}

// pageIsReadableOnASmallScreen: the page itself does not scroll to the side.
func pageIsReadableOnASmallScreen(t *testing.T, b *browser.Browser) {
	b.Size(420, 900)
	b.OpenFile(pageOf(t, exhibit(t, "empty-list-owns")))
	b.Want("true", `document.documentElement.scrollWidth <= innerWidth`)
}

// pageHostileTextStaysText: names and data of the code under test are not markup.
func pageHostileTextStaysText(t *testing.T, b *browser.Browser) {
	b.Size(1280, 800)
	b.OpenFile(pageOf(t, hostileRun(t)))
	b.Want("undefined", `typeof evil`)
	b.Want("0", `document.querySelectorAll("img, b.evil").length`)
	b.Want("true", `document.body.innerText.includes("<b class=evil>")`)
	b.Press("End")
	b.Press("Home")
}

// pageOfEachExhibit opens the pages of the gallery, without -full a few of them.
func pageOfEachExhibit(t *testing.T, b *browser.Browser) {
	names, err := filepath.Glob("../gallery/testdata/*.yaml")
	check.OK(t, err)
	for i, name := range names {
		if !testrun.Full() && i%20 != 0 {
			continue
		}
		slug := strings.TrimSuffix(filepath.Base(name), ".yaml")
		b := b.Of(t)
		b.OpenFile(pageOf(t, exhibit(t, slug)))
		for _, key := range []string{"v", "f", "u", "Home", "End"} {
			b.Press(key)
		}
		b.Want("violated", `document.body.className`)
		b.Quiet("file://")
	}
}

// pagesOfTheManual are about a queue, a leadership and a server that stands still. All of their
// faults, and all that came of them, is in view.
func pagesOfTheManual(t *testing.T, b *browser.Browser) {
	for name, slug := range map[string]string{"picture-queue": "lost-delete-loses-element",
		"picture-leaders": "leader-at-a-deposed-server", "picture-paused": "dying-node-owns"} {
		b := b.Of(t)
		b.Size(1280, 800)
		b.OpenFile(pageOf(t, exhibit(t, slug)))
		b.Want("true", `[...verdictSteps, ...strikeAt.keys()].every((s) => {
			const y = middle(s) - chart.scrollTop; return y > 0 && y < chart.clientHeight - 26 })`)
		b.Shoot(name)
	}
}

// pageOfNothing: a run that was given up at once has no line.
func pageOfNothing(t *testing.T, b *browser.Browser) {
	b.Size(1280, 800)
	b.OpenFile(pageOf(t, &scenario.Outcome{Result: &trace.Result{Frozen: "a mutex is held"}}))
	for _, key := range []string{"j", "End", "v", "f", "u", "0", "Enter"} {
		b.Press(key)
	}
}

// longRun is a run with more than 5000 lines.
func longRun(t *testing.T) *scenario.Outcome {
	return fuzztest.Run(t, scenario.Scenario{
		Workload: fuzztest.Builtin(t, "semaphore", "recipes.Semaphore"), Seed: 3,
		Script: scenario.Script{Clients: 4, Rounds: 12, Goroutines: 2},
		Plan:   fuzztest.Plan(t, "expire client=a at=3s", "drop-reply client=c op=create request=2"),
	})
}
