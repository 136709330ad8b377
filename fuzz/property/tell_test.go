package property_test

import (
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

// TestAFailureHasOneStory, without the test's own reads of the tree, and the commands and files
// that show it again.
func TestAFailureHasOneStory(t *testing.T) {
	quick(t)
	testrun.SetFlag(t, "rapid.shrinktime", "1ns") // so the plan is made smaller at the end
	testrun.SetFlag(t, "zksim.html", "pages")
	out := failing(t, announces(true))
	check.Equal(t, strings.Count(out, "what happened (step"), 1, "stories:\n%s", out)
	check.Equal(t, strings.Contains(out, "observer"), false, "own reads:\n%s", out)
	again := regexp.MustCompile(`\nto see it again: go test (\S+) -run '\^TestAFailureHasOneStory\$' ` +
		`-rapid.failfile=(testdata/rapid/\S+\.fail)\n`).FindStringSubmatch(out)
	if again == nil || again[1] != "github.com/zksim/zksim/fuzz/property" {
		t.Fatalf("no command:\n%s", out)
	}
	text := testrun.ReadFile(t, again[2])
	check.Equal(t, strings.Count(text, "what happened (step"), 1, "stories of the fail file")
	pages, err := filepath.Glob("pages/TestAFailureHasOneStory-property-*.html")
	check.OK(t, err)
	check.Equal(t, len(pages), 1, "pictures")
	page, err := os.ReadFile(pages[0])
	check.OK(t, err)
	for _, part := range []string{"property is violated", "-rapid.failfile=testdata",
		`"f":"own line"`, `"at":1`, `{"where":"github.com/zksim/zksim/fuzz/property/example_test.go:`,
		`,"source":"_, stat, err := a.conn.Get(a.path)"}`} {
		check.Contains(t, string(page), part)
	}
}

// TestAFailureIsLookedAt up to a line, and beside another trace.
func TestAFailureIsLookedAt(t *testing.T) {
	quick(t)
	failing(t, announces(true)) // from now on by its fail file
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
	check.Contains(t, failing(t, announces(false)), "the property has none")
	testrun.SetFlag(t, "zksim.diff", "")

	testrun.SetFlag(t, "zksim.step", "true")
	out = failing(t, announces(true))
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err != nil {
		check.Contains(t, out, "-zksim.step: there is no terminal")
	} else {
		tty.Close()
	}
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
