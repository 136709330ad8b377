package property_test

import (
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zksim/zksim/fuzz/property"
	"github.com/zksim/zksim/internal/check"
	"github.com/zksim/zksim/internal/testrun"
	"pgregory.net/rapid"
)

// TestAFailureHasOneStory, without the test's own reads of the tree but with the moment at which it
// fails, and the commands and files that show it again.
func TestAFailureHasOneStory(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.shrinktime", "1ns") // so the plan is made smaller at the end
	testrun.SetFlag(t, "zksim.html", "pages")
	out := failing(t, announces(true))
	check.Equal(t, strings.Count(out, "what happened (step"), 1, "stories:\n%s", out)
	if lines := regexp.MustCompile(`observer +(.*)`).FindAllString(out, -1); len(lines) != 1 ||
		!strings.HasSuffix(lines[0], " the test fails here") {
		t.Errorf("of the test itself the story has %q:\n%s", lines, out)
	}
	text := testrun.ReadFile(t, commandOf(t, out))
	check.Equal(t, strings.Count(text, "what happened (step"), 1, "stories of the fail file")
	pages, err := filepath.Glob("pages/TestAFailureHasOneStory-property-*.html")
	check.OK(t, err)
	check.Equal(t, len(pages), 1, "pictures")
	page, err := os.ReadFile(pages[0])
	check.OK(t, err)
	for _, part := range []string{"property is violated", "-rapid.failfile=testdata",
		`"f":"own line"`, `"at":1`, `"a":"observer","x":"the test fails here"},`, `{"where":"github.com/zksim/zksim/fuzz/property/example_test.go:`,
		`,"source":"_, stat, err := a.conn.Get(a.path)"}`} {
		check.Contains(t, string(page), part)
	}
}

// commandOf is the fail file, or the flag, of the command that shows a failure again.
func commandOf(t *testing.T, out string) string {
	t.Helper()
	m := regexp.MustCompile(`\nto see it again: go test github.com/zksim/zksim/fuzz/property ` +
		`-run '\^Test\w+\$' (?:-rapid.failfile=)?(\S+)\n`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no command:\n%s", out)
	}
	return m[1]
}

// TestAFailureIsLookedAt up to a line, and beside another trace. Once the bug is mended, the run of
// its fail file is.
func TestAFailureIsLookedAt(t *testing.T) {
	quick(t)
	file := commandOf(t, failing(t, announces(true))) // from now on it is played
	testrun.SetFlag(t, "zksim.until", "6")
	out := failing(t, announces(true))
	check.Contains(t, out, "\n  sessions: S1\n")
	check.Equal(t, strings.Contains(out, "what happened"), false, "a story besides:\n%s", out)
	check.Equal(t, strings.Contains(out, "as expected"), false, "nothing was expected:\n%s", out)
	_, lines, _ := strings.Cut(out, "    1 ") // as go test prints them
	lines = "    tell.go:82:     1 " + strings.ReplaceAll(lines, "\n", "\n        ")
	check.OK(t, os.WriteFile("../trace.txt", []byte(lines), 0o666))

	testrun.SetFlag(t, "zksim.until", "0")
	testrun.SetFlag(t, "zksim.diff", "trace.txt")
	check.Contains(t, failing(t, announces(true)), "lines with - are of this run, those with + of "+
		"../trace.txt:\nthe first 6 lines are equal; then the lines with + end:")
	testrun.SetFlag(t, "zksim.diff", "none.txt")
	check.Contains(t, failing(t, announces(true)), "-zksim.diff: open none.txt")
	check.Contains(t, failing(t, announces(false)), "-zksim.diff: open none.txt")
	testrun.SetFlag(t, "zksim.diff", "trace.txt")
	check.Contains(t, failing(t, announces(false)), "zksim: the draws of "+file+" fail no more:\n"+
		"lines with - are of this run, those with + of ../trace.txt:\nthe first 6 lines are equal; ")
	testrun.SetFlag(t, "rapid.failfile", "none.fail")
	check.Contains(t, failing(t, announces(false)), "nor a fail file whose run could be shown")
	testrun.SetFlag(t, "rapid.failfile", "")
	testrun.SetFlag(t, "zksim.diff", "")
	testrun.SetFlag(t, "zksim.until", "1")
	passed, out := checked(t, 1, announces(false))
	check.Equal(t, passed, true, out)
	check.Contains(t, out, " fail no more:\n    1 ")
	testrun.SetFlag(t, "zksim.until", "0")

	testrun.SetFlag(t, "zksim.step", "true")
	out = failing(t, announces(true))
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err != nil {
		check.Contains(t, out, "-zksim.step: there is no terminal")
	} else {
		tty.Close()
	}
}

// TestTheCommandNamesTheFileOfTheFailure: neither an older one, nor one that was not written.
func TestTheCommandNamesTheFileOfTheFailure(t *testing.T) {
	quick(t)
	draws := 1
	body := func(rt *rapid.T, w *property.World) {
		for range draws {
			rapid.Uint64().Draw(rt, "n")
		}
		rt.Fatal("broken")
	}
	old := commandOf(t, failing(t, body))
	check.OK(t, os.Rename(old, "old.fail"))
	testrun.SetFlag(t, "rapid.failfile", "old.fail")
	check.Equal(t, commandOf(t, failing(t, body)), "old.fail")
	draws = 9
	testrun.SetFlag(t, "rapid.nofailfile", "true")
	check.Equal(t, commandOf(t, failing(t, body)), "-rapid.seed=2")
	testrun.SetFlag(t, "rapid.nofailfile", "false")
	out := failing(t, body)
	check.Contains(t, out, `-rapid.failfile="`+commandOf(t, out)+`"`) // rapid's own line
	check.Contains(t, commandOf(t, out), "testdata/rapid/"+t.Name())
}

// TestWhatTheServiceLogsIsInTheStory of its failure, and in that of the fail file.
func TestWhatTheServiceLogsIsInTheStory(t *testing.T) {
	quick(t)
	out := failing(t, func(rt *rapid.T, w *property.World) {
		w.Go("b", func() { log.Print("b begins") })()
		rt.Fatal("broken")
	})
	check.Contains(t, out, "s  log      b begins\n")
	check.Contains(t, testrun.ReadFile(t, commandOf(t, out)), "s  log      b begins\n")
}

// TestOneFaultTakesThePlaceOfTwo if it strikes another client. The output says which faults were
// drawn, and which are played.
func TestOneFaultTakesThePlaceOfTwo(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.seed", "4")
	testrun.SetFlag(t, "rapid.shrinktime", "1ns")
	begun := false // by two faults
	out := failing(t, func(rt *rapid.T, w *property.World) {
		lost := map[string]bool{}
		for _, client := range property.Clients() {
			for range 4 {
				_, _, err := w.Conn(client).Exists("/")
				lost[client] = lost[client] || err != nil
			}
		}
		two := lost["a"] && lost["b"] && !lost["c"]
		if begun = begun || two; begun && (two || lost["c"]) {
			rt.Fatal("too many have lost their connections")
		}
	})
	const fault = "drop-request client=c request=1"
	check.Equal(t, strings.Count(out, "\n  fault: "), 1, out)
	check.Contains(t, out, "\n  fault: "+fault)
	check.Contains(t, out, "in place of the drawn ones: [\""+fault+"\"]")
}

// TestAFuzzTargetTellsItsFailure, too: it draws a picture.
func TestAFuzzTargetTellsItsFailure(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "zksim.html", "pages")
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // the test of rapid is none of a runner
		property.MakeFuzz(func(rt *rapid.T, _ *property.World) { rt.Fatal("broken") })(
			new(testing.T), make([]byte, 1<<12))
	}()
	<-done
	pages, err := filepath.Glob("pages/*.html")
	check.OK(t, err)
	check.Equal(t, len(pages), 2, "pages with the index")
}
