package picture

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zksim/zksim/fakezk/trace"
	"github.com/zksim/zksim/fuzz/scenario"
	"github.com/zksim/zksim/internal/testrun"
)

// TestPage opens pages in a browser, and uses them as a reader does. None of them may complain, or
// ask the network for anything.
func TestPage(t *testing.T) {
	b := startBrowser(t)
	for name, test := range map[string]func(*testing.T, *browser){
		"it shows a finding":                  pageShowsAFinding,
		"it begins with the verdict":          pageBeginsWithTheVerdict,
		"it folds and unfolds":                pageFoldsAndUnfolds,
		"it obeys keys":                       pageObeysKeys,
		"print has every line":                pagePrintHasEveryLine,
		"long runs draw only what is visible": pageLongRunsDrawOnlyWhatIsVisible,
		"it is readable on a small screen":    pageIsReadableOnASmallScreen,
		"hostile text stays text":             pageHostileTextStaysText,
		"a run without lines has a page":      pageOfNothing,
		"every exhibit has a page":            pageOfEachExhibit,
	} {
		t.Run(name, func(t *testing.T) {
			b := b.of(t)
			test(t, b)
			b.quiet()
		})
	}
}

// pageShowsAFinding drives the page as a reader does.
func pageShowsAFinding(t *testing.T, b *browser) {
	b.size(1280, 800)
	b.open(pageOf(t, exhibit(t, "vanished-predecessor")))
	b.want("liveness is violated", `document.querySelector("h1").textContent`)
	b.want("true", `document.querySelectorAll("#diagram .arrow").length > 10`)
	b.want("true", `document.querySelector(".row.cursor").classList.contains("verdict")`)
	b.want("/lock/_c_G4-lock-0000000003", `document.querySelector("#summary .blamed").textContent`)
	b.want("true", `document.querySelectorAll("#diagram .blamed-bar").length > 0`)
	b.want("_c_G4-lock-0000000003", `document.querySelector(".tree .blamed").textContent`)

	b.want("/a/b of 12|/a/b-c, /a/b/c", `(() => { run.blamed = ["/a/b"];
		const e = element("p", {}, linked("/a/b of 12", [12]), "|", linked("/a/b-c, /a/b/c"));
		const marked = [...e.querySelectorAll(".blamed, a")].map((m) => m.textContent).join(" ");
		run.blamed = ["/lock/_c_G4-lock-0000000003"];
		return marked === "/a/b 12" ? e.textContent : "marked: " + marked })()`)

	b.click(`document.querySelector(".tree .blamed")`)
	b.want("true", `+document.getElementById("hits").textContent.split(" ")[0] > 3`)
	b.click(`[...document.querySelectorAll("#summary a")].find((a) => a.textContent === "533")`)
	b.want("step 533, 158.069283 s, a", `document.querySelector("#panel h2").textContent`)

	b.click(`(() => { const m = run.messages.find((m) => m.step === 550), a = arrowOf(m),
		r = document.getElementById("diagram").getBoundingClientRect();
		return { X: r.x + a.x1 + (a.x2 - a.x1) / 2, Y: r.y + a.y1 + (a.y2 - a.y1) / 2 } })()`)
	b.want("550", `view.cursor`)
	b.want("1", `document.querySelectorAll(".arrow.chosen").length`)
	panel := b.eval(`document.getElementById("panel").textContent`)
	for _, part := range []string{"create to the server, connection 1 of a", "took", "step 552",
		"node created/lock/_c_G5-lock-0000000004"} {
		if !strings.Contains(panel, part) {
			t.Errorf("the panel has no %q:\n%s", part, panel)
		}
	}
}

// pageBeginsWithTheVerdict: the steps that the verdict names are on the screen, and the last of
// them is chosen.
func pageBeginsWithTheVerdict(t *testing.T, b *browser) {
	b.size(1200, 700)
	b.open(pageOf(t, exhibit(t, "holder-not-told-of-expiry")))
	b.want("28 45", `[...document.querySelectorAll(".row.verdict .n")].map((e) =>
		e.textContent).join(" ")`)
	b.want("45", `view.cursor`)
	b.want("true", `document.querySelectorAll("#diagram .zombie").length === 1`)
	b.want("true", `document.querySelectorAll("#diagram .hold, #diagram .belief").length > 2`)
	b.shoot("picture")
	b.press("t")
	b.click(`document.querySelector("#order summary")`)
	b.shoot("picture-dark")
}

func pageFoldsAndUnfolds(t *testing.T, b *browser) {
	b.size(1280, 800)
	b.open(pageOf(t, exhibit(t, "vanished-predecessor")))
	b.want("0", `rows.filter((r) => r.kind === "line" && lineAt(r.from).x === "-> ping").length`)
	b.press("Home")
	b.want("1", `view.cursor`)
	fold := `[...document.querySelectorAll(".row.fold")].find((e) =>
		e.textContent.includes("24 lines"))`
	b.want("true", fold+`.textContent.includes("pings of a, b")`)
	b.click(fold)
	b.want("12", `rows.filter((r) => r.kind === "line" && lineAt(r.from).x === "-> ping").length`)
	b.press("Enter")
	b.want("0", `rows.filter((r) => r.kind === "line" && lineAt(r.from).x === "-> ping").length`)
}

func pageObeysKeys(t *testing.T, b *browser) {
	b.size(1280, 800)
	b.open(pageOf(t, exhibit(t, "dying-node-adopted")))
	b.press("Home")
	b.press("j")
	b.want("2", `view.cursor`)
	b.press("f")
	b.want("true", `strikeAt.has(view.cursor)`)
	b.press("v")
	b.want("36", `view.cursor`)
	b.press("/")
	for _, key := range "expires" {
		b.press(string(key))
	}
	b.want("1 found", `document.getElementById("hits").textContent`)
	b.press("Enter")
	b.want("serverexpires session S1", `document.querySelector(".row.cursor .x").innerText`)
	b.press("Escape")
	b.press("+")
	b.want("26", `view.height`)
	b.press("0")
	b.want("true", `document.getElementById("body").clientHeight <= chart.clientHeight`)
	b.press("t")
	b.want("dark", `document.documentElement.dataset.theme`)
	b.press("?")
	b.want("true", `document.getElementById("legend").open`)
}

// pagePrintHasEveryLine: the screen has the visible lines only.
func pagePrintHasEveryLine(t *testing.T, b *browser) {
	b.size(1280, 800)
	b.open(pageOf(t, exhibit(t, "vanished-predecessor")))
	b.want("false", `document.querySelectorAll(".row").length === rows.length`)
	b.eval(`dispatchEvent(new Event("beforeprint"))`)
	b.want("true", `document.querySelectorAll(".row").length === rows.length`)
}

// pageLongRunsDrawOnlyWhatIsVisible: thousands of lines must not make a page slow.
func pageLongRunsDrawOnlyWhatIsVisible(t *testing.T, b *browser) {
	b.size(1280, 800)
	b.open(pageOf(t, longRun(t)))
	b.want("true", `run.lines.length > 5000`)
	t.Logf("%s lines are on the screen after %s ms", b.eval(`run.lines.length`),
		b.eval(`Math.round(performance.getEntriesByType("navigation")[0].loadEventEnd)`))
	for _, key := range []string{"Home", "End", "v"} {
		b.press(key)
		b.want("true", `document.querySelectorAll("*").length < 1500`)
	}
}

// pageIsReadableOnASmallScreen: the page itself does not scroll to the side.
func pageIsReadableOnASmallScreen(t *testing.T, b *browser) {
	b.size(420, 900)
	b.open(pageOf(t, exhibit(t, "dying-node-adopted")))
	b.want("true", `document.documentElement.scrollWidth <= innerWidth`)
}

// pageHostileTextStaysText: names and data of the code under test are not markup.
func pageHostileTextStaysText(t *testing.T, b *browser) {
	b.size(1280, 800)
	b.open(pageOf(t, hostileRun(t)))
	b.want("undefined", `typeof evil`)
	b.want("0", `document.querySelectorAll("img, b.evil").length`)
	b.want("true", `document.body.innerText.includes("<b class=evil>")`)
	b.press("End")
	b.press("Home")
}

// pageOfEachExhibit opens the pages of the gallery, without -full a few of them.
func pageOfEachExhibit(t *testing.T, b *browser) {
	names, err := filepath.Glob("../gallery/testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if !testrun.Full() && i%20 != 0 {
			continue
		}
		slug := strings.TrimSuffix(filepath.Base(name), ".yaml")
		b := b.of(t)
		b.open(pageOf(t, exhibit(t, slug)))
		for _, key := range []string{"v", "f", "u", "Home", "End"} {
			b.press(key)
		}
		b.want("violated", `document.body.className`)
		b.quiet()
	}
}

// pageOfNothing: a run that was given up at once has no line.
func pageOfNothing(t *testing.T, b *browser) {
	b.size(1280, 800)
	b.open(pageOf(t, &scenario.Outcome{Result: &trace.Result{Frozen: "a mutex is held"}}))
	for _, key := range []string{"j", "End", "v", "f", "u", "0", "Enter"} {
		b.press(key)
	}
}

// longRun is a run with more than 5000 lines.
func longRun(t *testing.T) *scenario.Outcome {
	return play(t, scenario.Scenario{
		Workload: builtin(t, "semaphore", "recipes.Semaphore"), Seed: 3,
		Script: scenario.Script{Clients: 4, Rounds: 12, Goroutines: 2},
		Plan:   plan(t, "expire client=a at=3s", "drop-reply client=c op=create request=2"),
	})
}
